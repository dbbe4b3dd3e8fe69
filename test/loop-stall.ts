/**
 * Measures how long callbacks block the event loop of this thread. It counts CPU time instead of wall-clock time, so
 * that other processes on a busy machine do not count as stalls.
 */
export function watchLoop() {
  let before = readCpuMs();
  let maxMs = 0;
  const tick = () => {
    const now = readCpuMs();
    maxMs = Math.max(maxMs, now - before);
    before = now;
  };
  const timer = setInterval(tick, 1);
  timer.unref();
  return {
    /** Returns the longest stall since the last call. */
    takeMaxMs(): number {
      tick();
      const ms = maxMs;
      maxMs = 0;
      return ms;
    },
    stop: () => clearInterval(timer),
  };
}

function readCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
