import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the package: the sources lie in one folder of it, and what is built from them in another. */
export const packageFolder = join(import.meta.dirname, '..');

/** As in package.json. */
export const version: string = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')).version;
