import { Problem } from '../core/errors.ts';

const pieceBytes = 16 * 1024;

/** Decodes a file piece by piece. An error names the line of the first invalid byte. */
export function* decoded(
  file: Uint8Array,
  charset = charsetOf(file),
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

/** UTF-16 is recognized by its byte order mark; everything else must be UTF-8. */
function charsetOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return 'utf-8';
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
  'In Excel, save it as “CSV UTF-8”, or name its charset, such as windows-1252: `--charset` of `muster import`, or ' +
  '`Content-Type: text/csv; charset=windows-1252`.';

function linesBeforeError(bytes: Uint8Array, charset: string): number {
  const lenient = new TextDecoder(charset).decode(bytes);
  return countCharacter('\n', lenient.slice(0, Math.max(0, lenient.indexOf('\ufffd'))));
}

export function countCharacter(character: string, text: string): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) count++;
  return count;
}
