import { isMainThread } from 'node:worker_threads';

/** More than any file needs on a busy machine. */
const maxMinutes = Number(process.env.TEST_FILE_MINUTES ?? 20);

/**
 * Ends the process of a test file that would never end. A test that takes too long fails, but a loop in it that waits for
 * something goes on. The runner itself loads this module too, and has no limit.
 */
if (process.env.NODE_TEST_CONTEXT && isMainThread) {
  setTimeout(() => {
    console.error(`Not finished after ${maxMinutes} minutes.`);
    process.exit(1);
  }, maxMinutes * 60_000).unref();
}
