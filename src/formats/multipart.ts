import { Problem } from '../core/errors.ts';

/** A file of a form: its name, media type and content. */
export type UploadedFile = { name: string; type: string; content: Buffer };

/** Forms have one file; a few more parts are read to explain what is wrong. */
const maxParts = 20;
const maxHeaderBytes = 8 * 1024;

/** Returns the only file of a form that was sent as `multipart/form-data` (RFC 7578). */
export function readForm(body: Buffer, contentType: string): UploadedFile {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw malformed('the header `Content-Type` has no boundary');
  const files: UploadedFile[] = [];
  for (const { headers, content } of partsOf(body, boundary)) {
    const disposition = headers.get('content-disposition') ?? '';
    // Some clients send only the encoded form of a name that is not ASCII (RFC 5987). Its extension is readable.
    const name = parameterOf(disposition, 'filename') ?? parameterOf(disposition, 'filename\\*');
    if (name === undefined) {
      const field = parameterOf(disposition, 'name') ?? '';
      throw malformed(
        `the part “${field.slice(0, 100)}” is no file. Send parameters in the query of the URL`,
      );
    }
    files.push({ name, type: headers.get('content-type') ?? '', content });
  }
  const [file] = files;
  if (!file) throw malformed('it has no file. Send one file, in a field such as `file`');
  if (files.length > 1) throw malformed('it has several files. Send one file in each request');
  return file;
}

/** The parts between the delimiter lines. */
function* partsOf(
  body: Buffer,
  boundary: string,
): Generator<{ headers: Map<string, string>; content: Buffer }> {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  // The first delimiter need not follow a line break.
  const first = body.indexOf(delimiter.subarray(2));
  if (first !== 0 && body.indexOf(delimiter) !== first - 2)
    throw malformed('the boundary does not occur in it');
  let at = first + delimiter.length - 2;
  for (let parts = 0; !isLast(body, at); parts++) {
    if (parts >= maxParts) throw malformed(`it has more than ${maxParts} parts. Send one file`);
    const start = body.indexOf('\r\n', at);
    const end = start === -1 ? -1 : body.indexOf(delimiter, start);
    if (end === -1) throw malformed('its last part has no end. The upload was cut off: send it again');
    const headersLength = body.subarray(start, Math.min(end, start + maxHeaderBytes)).indexOf('\r\n\r\n');
    if (headersLength === -1) throw malformed('a part has no headers');
    const headersEnd = start + headersLength;
    yield {
      headers: headersOf(body.subarray(start, headersEnd).toString()),
      content: body.subarray(headersEnd + 4, end),
    };
    at = end + delimiter.length;
  }
}

const isLast = (body: Buffer, at: number) => body[at] === 0x2d && body[at + 1] === 0x2d;

function headersOf(text: string): Map<string, string> {
  const lines = text.split('\r\n').map((line) => /^([^:]+):\s*(.*)$/.exec(line));
  return new Map(lines.flatMap((found) => (found ? [[(found[1] ?? '').toLowerCase(), found[2] ?? '']] : [])));
}

function parameterOf(header: string, name: string): string | undefined {
  const [, quoted, plain] =
    new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;]+))`, 'i').exec(header) ?? [];
  return quoted ?? plain;
}

const malformed = (what: string) => new Problem('malformed_request', `The form cannot be read: ${what}.`);
