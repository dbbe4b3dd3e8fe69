import { get } from 'node:http';

export type Headers = Record<string, string>;

export type HttpResponse = {
  status: number;
  /** Alternating names and values, without the headers that `node:http` adds itself. */
  headers: string[];
  etag: string;
  body: Buffer;
  isStream: boolean;
  /** Size on the wire; for a chunked response, the size of the body. */
  bytes: number;
};

/** Long enough for a complete list of personnel. */
export const maxResponseMs = 60_000;

const addedByNode = /^(date|connection|keep-alive|transfer-encoding)$/i;

/** Fetches a response with its exact bytes. */
export function fetchResponse(url: string, headers: Headers): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    get(url, { headers, agent: false, signal: AbortSignal.timeout(maxResponseMs) }, async (response) => {
      try {
        const body = Buffer.concat(await response.toArray());
        const { statusCode: status = 0, statusMessage, rawHeaders } = response;
        const isStream = response.headers['transfer-encoding'] === 'chunked';
        const head = `HTTP/1.1 ${status} ${statusMessage}\r\n${pairs(rawHeaders)
          .map(([name, value]) => `${name}: ${value}\r\n`)
          .join('')}\r\n`;
        resolve({
          status,
          headers: pairs(rawHeaders)
            .filter(([name]) => !addedByNode.test(name))
            .flat(),
          etag: response.headers.etag ?? '',
          body,
          isStream,
          bytes: (isStream ? 0 : head.length) + body.byteLength,
        });
      } catch (error) {
        reject(error);
      }
    }).on('error', reject);
  });
}

const pairs = (list: string[]): [string, string][] =>
  list.flatMap((name, i): [string, string][] => (i % 2 === 0 ? [[name, list[i + 1] ?? '']] : []));
