import { readFileSync } from 'node:fs';

/** As in package.json, which lies beside the folder of the sources and of what is built from them. */
export const version: string = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
).version;
