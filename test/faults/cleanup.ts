/** What must be undone at the end of a scenario, last things first. It has the shape of a test's context. */
export type Cleanup = { after(step: () => unknown): void; run(): Promise<void> };

export function createCleanup(): Cleanup {
  const steps: (() => unknown)[] = [];
  return {
    after(step) {
      steps.push(step);
    },
    async run() {
      for (let step = steps.pop(); step; step = steps.pop()) {
        // One step that fails must not leave the processes of the others running.
        await Promise.resolve()
          .then(step)
          .catch(() => {});
      }
    },
  };
}
