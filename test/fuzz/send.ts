import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { xlsxType } from '../../src/formats/xlsx.ts';

/** A request as it goes over the wire, right or wrong. */
export type Wire = { method: string; path: string; headers: Record<string, string>; body?: Buffer };

export type Answer = { status: number; headers: IncomingHttpHeaders; text: string; json: unknown };

export const openAgent = () => new Agent({ keepAlive: true, maxSockets: 32 });

/** Not `fetch`: that one mends what it is given before it sends it. */
export function send(origin: string, agent: Agent, { method, path, headers, body }: Wire): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    let isAnswered = false;
    const outgoing = request(
      {
        hostname,
        port,
        agent,
        method,
        path,
        headers: { ...headers, ...(body && { 'content-length': body.length }) },
      },
      (incoming) => {
        isAnswered = true;
        // What never ends is judged by how it begins.
        if (/^text\/event-stream/.test(incoming.headers['content-type'] ?? '')) {
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text: '', json: undefined });
          return void incoming.destroy();
        }
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () =>
          resolve(answerOf(incoming.statusCode ?? 0, incoming.headers, Buffer.concat(chunks))),
        );
      },
    );
    outgoing.setTimeout(30_000, () => outgoing.destroy(new Error('no answer within 30 seconds')));
    // A body that is refused before all of it was sent.
    outgoing.on('error', (error) => isAnswered || reject(error));
    outgoing.end(body);
  });
}

function answerOf(status: number, headers: IncomingHttpHeaders, bytes: Buffer): Answer {
  const content = bytes.length === 0 ? bytes : decoded(bytes, headers['content-encoding']);
  // A workbook is no text, and must not be taken for one.
  const text = isWorkbook(headers) ? content.toString('latin1') : utf8.decode(content);
  const isJson = /^application\/(problem\+)?json(;|$)/.test(headers['content-type'] ?? '');
  return { status, headers, text, json: isJson && text !== '' ? parsed(text) : undefined };
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const isWorkbook = (headers: IncomingHttpHeaders) => headers['content-type'] === xlsxType;

function decoded(bytes: Buffer, encoding = 'identity'): Buffer {
  const decode = {
    identity: (b: Buffer) => b,
    gzip: gunzipSync,
    deflate: inflateSync,
    br: brotliDecompressSync,
    zstd: zstdDecompressSync,
  }[encoding];
  if (!decode) throw new Error(`an answer in the encoding ${encoding}`);
  return decode(bytes);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The request for a terminal, with the service's address and the key as variables. */
export function asCurl({ method, path, headers, body }: Wire): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const shown = Object.entries(headers).map(([name, value]) =>
    name === 'authorization' && value.startsWith('Bearer mst_')
      ? '-H "authorization: Bearer $MUSTER_KEY"'
      : `-H ${quoted(`${name}: ${value}`)}`,
  );
  const text = body?.toString('utf8') ?? '';
  const data =
    body === undefined
      ? []
      : [
          `--data-binary ${quoted(text.length > 4000 ? `${text.slice(0, 4000)}… (${body.length} bytes)` : text)}`,
        ];
  return [
    'curl --path-as-is -i',
    method === 'HEAD' ? '-I' : `-X ${method}`,
    ...shown,
    ...data,
    `"$MUSTER"${quoted(path)}`,
  ].join(' ');
}
