import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder } from '../../core/version.ts';

let text: string | undefined;

/**
 * The OpenAPI document as the package contains it. Creating it from the routes takes 200 ms in one turn of the event loop;
 * a test compares the two.
 */
export function readOpenapiFile(): string {
  text ??= readFileSync(join(packageFolder, 'openapi.json'), 'utf8');
  return text;
}
