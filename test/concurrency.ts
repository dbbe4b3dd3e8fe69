/** Runs `work` for every item with a limited number of workers. */
export async function runConcurrently<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<unknown>,
  workers = 16,
) {
  const queue = [...items].values();
  await Promise.all(
    Array.from({ length: workers }, async () => {
      for (const item of queue) await work(item);
    }),
  );
}
