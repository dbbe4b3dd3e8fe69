// Loaded before a service: its clock is ahead of that of the machine.
const now = Date.now;
const ahead = Number(process.env.TEST_CLOCK_AHEAD_MS);
Date.now = () => now() + ahead;
