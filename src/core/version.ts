import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname } from 'node:path';

const packageFile = findPackageJSON(import.meta.url) ?? '';

/** The folder of package.json, both from the sources and from the bundle. */
export const packageFolder = dirname(packageFile);

export const version: string = JSON.parse(readFileSync(packageFile, 'utf8')).version;
