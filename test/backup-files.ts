import { hash } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';

/** Changes the text of a backup and corrects its trailer. */
export const rewriteBackup = (text: string, change: (text: string) => string): Buffer =>
  compressBackup(change(text).split('\n').slice(0, -2));

/** Writes lines as a backup, with the trailer that they need. */
export function compressBackup(lines: string[]): Buffer {
  const rows: Record<string, number> = {};
  let table = '';
  for (const line of lines.slice(1)) {
    if (line.startsWith('{"table"')) table = JSON.parse(line).table;
    rows[table] = (rows[table] ?? -1) + 1;
  }
  const text = `${lines.join('\n')}\n`;
  return zstdCompressSync(`${text}${JSON.stringify({ rows, sha256: hash('sha256', text, 'hex') })}\n`);
}
