import { connect } from 'node:net';

/** Sends raw bytes and returns everything received until the connection closes. */
export function sendRaw(origin: string, ...parts: (string | Uint8Array)[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let response = '';
    const socket = connect(Number(new URL(origin).port), '127.0.0.1', () => {
      for (const part of parts) socket.write(part);
    });
    socket.on('data', (chunk) => {
      response += chunk.toString('latin1');
    });
    socket.on('close', () => resolve(response));
    socket.on('error', reject);
  });
}
