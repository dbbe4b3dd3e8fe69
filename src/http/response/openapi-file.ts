import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder } from '../../core/version.ts';

let document: Buffer | undefined;

/**
 * The OpenAPI document as the package contains it. Creating it from the routes takes 200 ms in one turn of the event loop;
 * a test compares the two.
 */
export function readOpenapiFile(): string {
  // As a text, it would take two bytes for each character.
  document ??= readFileSync(join(packageFolder, 'openapi.json'));
  return document.toString();
}
