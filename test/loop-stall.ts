/**
 * Watches for how long the event loop of this thread is held. Counted is processor time, not time of day: a machine that
 * is busy with other things stalls nothing here.
 */
export function watchLoop() {
  let before = processorMs();
  let longestMs = 0;
  const tick = () => {
    const now = processorMs();
    longestMs = Math.max(longestMs, now - before);
    before = now;
  };
  const timer = setInterval(tick, 1);
  timer.unref();
  return {
    /** The longest stall since this was last called. */
    takeLongestMs(): number {
      tick();
      const longest = longestMs;
      longestMs = 0;
      return longest;
    },
    stop: () => clearInterval(timer),
  };
}

function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
