import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The minimum that a Node server can do: it sends the same bytes to every request. */
const { status, headers, isStream, file } = JSON.parse(process.argv[2] ?? '') as {
  status: number;
  headers: string[];
  isStream: boolean;
  file: string;
};
const body = readFileSync(file);
const chunkBytes = 64 * 1024;

const server = createServer({ keepAliveTimeout: 72_000 }, (_request, response) => {
  response.writeHead(status, headers);
  if (isStream) streamFrom(response, 0);
  else response.end(status === 304 ? undefined : body);
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));

/** Respects backpressure. */
function streamFrom(response: ServerResponse, begin: number): void {
  for (let at = begin; at < body.byteLength; at += chunkBytes) {
    if (response.write(body.subarray(at, at + chunkBytes))) continue;
    response.once('drain', () => streamFrom(response, at + chunkBytes));
    return;
  }
  response.end();
}
