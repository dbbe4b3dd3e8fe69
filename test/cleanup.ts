/** Cleanup steps of a script or a scenario, run in reverse order. The type is compatible with `TestContext`. */
export type Cleanup = { after(step: () => unknown): void; run(): Promise<void> };

export function createCleanup(): Cleanup {
  const steps: (() => unknown)[] = [];
  return {
    after(step) {
      steps.push(step);
    },
    async run() {
      for (let step = steps.pop(); step; step = steps.pop()) {
        // A step that fails must not prevent the next steps from ending their processes.
        await Promise.resolve()
          .then(step)
          .catch(() => {});
      }
    },
  };
}
