import { isUtf8 } from 'node:buffer';
import { Problem } from '../core/errors.ts';

const pieceBytes = 16 * 1024;

/** Decodes a file piece by piece. An error names the line of the first invalid byte. */
export function* decoded(
  file: Uint8Array,
  charset = detectCharset(file),
): Generator<{ text: string; isLast: boolean }> {
  const decoder = decoderOf(charset);
  let line = 1;
  for (let from = 0; from === 0 || from < file.length; from += pieceBytes) {
    const bytes = file.subarray(from, from + pieceBytes);
    const isLast = from + pieceBytes >= file.length;
    let text: string;
    try {
      text = decoder.decode(bytes, { stream: !isLast });
    } catch (cause) {
      throw new Problem('malformed_request', invalidBytes(charset, line + linesBeforeError(bytes, charset)), {
        cause,
      });
    }
    yield { text, isLast };
    line += countCharacter('\n', text);
  }
}

/** A charset is decided by this many bytes at most, because comparing takes time. */
const maxSampleBytes = 1024 * 1024;

/**
 * UTF-16 is recognized by its byte order mark, or by the zero in an ASCII character at the start. A file that is not UTF-8
 * is Windows-1252, which Excel writes in Western Europe and America; unless it has texts in UTF-8, so that a damaged file is
 * not read as another encoding.
 */
export function detectCharset(file: Uint8Array): string {
  const [first, second] = file;
  if ((first === 0xff && second === 0xfe) || (first && second === 0)) return 'utf-16le';
  if ((first === 0xfe && second === 0xff) || (first === 0 && second)) return 'utf-16be';
  if (isUtf8(file)) return 'utf-8';
  const sample = new TextDecoder().decode(file.subarray(0, maxSampleBytes));
  const invalid = countCharacter('\ufffd', sample);
  const valid = (sample.match(/[^\0-\x7f\ufffd]/g) ?? []).length;
  return valid > 0 && valid >= invalid ? 'utf-8' : 'windows-1252';
}

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset, { fatal: true });
  } catch (cause) {
    const detail = `The charset “${charset.slice(0, 40)}” is not supported. Send UTF-8, or name another charset such as windows-1252.`;
    throw new Problem('unsupported_media_type', detail, { cause });
  }
}

const invalidBytes = (charset: string, line: number) =>
  `The file is not ${charset.toUpperCase()}: line ${line} has invalid bytes. ` +
  'In Excel, save it as “CSV UTF-8”, or name its encoding with `charset`, such as `windows-1252` or `iso-8859-2`.';

function linesBeforeError(bytes: Uint8Array, charset: string): number {
  const lenient = new TextDecoder(charset).decode(bytes);
  return countCharacter('\n', lenient.slice(0, Math.max(0, lenient.indexOf('\ufffd'))));
}

export function countCharacter(character: string, text: string): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) count++;
  return count;
}
