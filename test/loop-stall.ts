/**
 * Watches for how long the event loop of this thread is held. Counted is processor time, not time of day: a machine that
 * is busy with other things stalls nothing here.
 */
export function watchLoop() {
  let before = processorMs();
  let maxMs = 0;
  const tick = () => {
    const now = processorMs();
    maxMs = Math.max(maxMs, now - before);
    before = now;
  };
  const timer = setInterval(tick, 1);
  timer.unref();
  return {
    /** The longest stall since this was last called. */
    takeMaxMs(): number {
      tick();
      const ms = maxMs;
      maxMs = 0;
      return ms;
    },
    stop: () => clearInterval(timer),
  };
}

function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
