/** Repeats each step until `stop`, which waits for the steps that are running. */
export function startLoops(...steps: (() => Promise<unknown>)[]) {
  let isStopped = false;
  const loops = steps.map(async (step) => {
    while (!isStopped) await step();
  });
  return {
    async stop(): Promise<void> {
      isStopped = true;
      await Promise.all(loops);
    },
  };
}
