import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Removes from package-lock.json which Node each package needs: all of them run on the Node of this checkout, and npm
 * would print five lines for each one that the Node of the user is too old for.
 */
const file = join(import.meta.dirname, '../package-lock.json');
const lock = JSON.parse(readFileSync(file, 'utf8'));
for (const entry of Object.values<{ engines?: unknown }>(lock.packages)) delete entry.engines;
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
