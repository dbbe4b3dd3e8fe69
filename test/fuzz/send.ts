import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { xlsxType } from '../../src/formats/xlsx-write.ts';

/** A request as sent, valid or not. */
export type Wire = { method: string; path: string; headers: Record<string, string>; body?: Buffer };

export type ServiceResponse = { status: number; headers: IncomingHttpHeaders; text: string; json: unknown };

export const openAgent = () => new Agent({ keepAlive: true, maxSockets: 32 });

/** Uses `node:http` because `fetch` corrects invalid requests before it sends them. */
export function send(
  origin: string,
  agent: Agent,
  { method, path, headers, body }: Wire,
): Promise<ServiceResponse> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    let hasResponse = false;
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
        hasResponse = true;
        // An event stream never ends, so only its head is checked.
        if (/^text\/event-stream/.test(incoming.headers['content-type'] ?? '')) {
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text: '', json: undefined });
          return void incoming.destroy();
        }
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () =>
          resolve(parseResponse(incoming.statusCode ?? 0, incoming.headers, Buffer.concat(chunks))),
        );
      },
    );
    outgoing.setTimeout(30_000, () => outgoing.destroy(new Error('no response within 30 seconds')));
    // The service may reject a body and close the connection before all of it was sent.
    outgoing.on('error', (error) => hasResponse || reject(error));
    outgoing.end(body);
  });
}

function parseResponse(status: number, headers: IncomingHttpHeaders, bytes: Buffer): ServiceResponse {
  const content = bytes.length === 0 ? bytes : decoded(bytes, headers['content-encoding']);
  // A workbook is binary.
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
  if (!decode) throw new Error(`unknown Content-Encoding ${encoding}`);
  return decode(bytes);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The request as a curl command, with the origin and the key as variables. */
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
