import { SaxesParser } from 'saxes';
import { maxRowLength } from './rows.ts';
import { type Entry, ZipError } from './zip.ts';

/** Callbacks for the elements of an XML file. Names have no prefix: `<x:row>` is `row`. */
export type XmlHandler = {
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  /** The text between two tags, CDATA included. */
  text?(text: string): void;
  close?(name: string): void;
};

/** Spreadsheet files have about a dozen levels. */
const maxDepth = 100;

/**
 * Parses an XML file from a ZIP archive. Yields after each piece, so that the caller can run other work. The parser is
 * strict and takes linear time; it rejects document types, and with them custom entities.
 */
export async function* parseXml(entry: Entry, maxBytes: number, handler: XmlHandler): AsyncGenerator<void> {
  const parser = new SaxesParser({ position: false });
  let depth = 0;
  let lengthSinceTag = 0;
  parser.on('doctype', () => {
    throw new ZipError('it has a document type, which is not allowed');
  });
  parser.on('opentag', ({ name, attributes }) => {
    lengthSinceTag = 0;
    depth++;
    // An element takes longer than its bytes.
    entry.spend(8);
    if (depth > maxDepth) throw new ZipError('its XML is nested too deep');
    handler.open(localName(name), attributes as Record<string, string>);
  });
  parser.on('closetag', ({ name }) => {
    lengthSinceTag = 0;
    depth--;
    handler.close?.(localName(name));
  });
  if (handler.text) {
    parser.on('text', (text) => handler.text?.(text));
    parser.on('cdata', (text) => handler.text?.(text));
  }
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const piece of entry.content(maxBytes)) {
    const text = decode(decoder, piece);
    write(parser, text);
    // The parser buffers a text, comment or tag until its end.
    lengthSinceTag += text.length;
    if (lengthSinceTag > maxRowLength) throw new ZipError('a text is longer than 1 MiB');
    yield;
  }
  write(parser, decode(decoder));
  if (depth > 0) throw new ZipError('its XML is cut off');
}

function write(parser: SaxesParser, text: string): void {
  try {
    parser.write(text);
  } catch (error) {
    if (error instanceof ZipError) throw error;
    throw new ZipError('its XML is broken', { cause: error });
  }
}

function decode(decoder: TextDecoder, bytes?: Uint8Array): string {
  try {
    return decoder.decode(bytes, { stream: bytes !== undefined });
  } catch (cause) {
    throw new ZipError('its XML is not UTF-8', { cause });
  }
}

const localName = (name: string) => name.slice(name.indexOf(':') + 1);

export const escapeXml = (text: string) =>
  /[&<>"]/.test(text)
    ? text.replace(/[&<>"]/g, (special) => `&${{ '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot' }[special]};`)
    : text;
