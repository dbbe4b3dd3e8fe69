import { get } from 'node:http';

export type Headers = Record<string, string>;

export type Answer = {
  status: number;
  /** Names and values by turns, less those that every `node:http` adds by itself. */
  headers: string[];
  etag: string;
  body: Buffer;
  isStream: boolean;
  /** Of all of it as it is on the wire; a stream's is that of its body. */
  bytes: number;
};

/** Milliseconds; whole lists included. */
export const maxResponseMs = 60_000;

const addedByNode = /^(date|connection|keep-alive|transfer-encoding)$/i;

/** One answer, to the byte. */
export function ask(url: string, headers: Headers): Promise<Answer> {
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
