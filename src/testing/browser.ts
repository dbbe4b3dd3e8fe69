import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** A Chromium without a window, or nothing when this machine has none. */
export async function launchBrowser(): Promise<Browser | undefined> {
  const found = await findChromium();
  return (
    found && chromium.launch({ executablePath: found.path, args: [...new Set([...found.flags, ...flags])] })
  );
}

async function findChromium(): Promise<{ path: string; flags: string[] } | undefined> {
  const named = process.env.TEST_BROWSER;
  if (named) return { path: named, flags: [] };
  // The package carries a binary for this platform only.
  if (process.platform === 'linux' && process.arch === 'x64') {
    const { default: packaged } = await import('@sparticuz/chromium');
    return { path: await packaged.executablePath(), flags: packaged.args };
  }
  const path = onPath(['chromium', 'chromium-browser', 'google-chrome']);
  return path === undefined ? undefined : { path, flags: [] };
}

const onPath = (names: string[]) =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find(isExecutable);

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
