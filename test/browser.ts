import { type Browser, chromium } from 'playwright-core';
import { findProgram } from './programs.ts';

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** Launches a headless Chromium; undefined when this machine has none. */
export async function launchBrowser(): Promise<Browser | undefined> {
  const executablePath = await findChromium();
  return executablePath === undefined ? undefined : chromium.launch({ executablePath, args: flags });
}

async function findChromium(): Promise<string | undefined> {
  if (process.env.TEST_BROWSER) return process.env.TEST_BROWSER;
  // The package has a binary for this platform only. Its default flags are not used: they include --single-process,
  // which crashes when a page is closed.
  if (process.platform === 'linux' && process.arch === 'x64') {
    const { default: packaged } = await import('@sparticuz/chromium');
    return packaged.executablePath();
  }
  // The shell draws no window, which takes a third of the CPU time of a test.
  const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
  return names.map(findProgram).find((path) => path !== undefined);
}
