import type { ClientRequest, IncomingMessage } from 'node:http';
import { refusedCode, type Targets } from '../../core/network/targets.ts';
import { version } from '../../core/version.ts';

export type Message = { url: string; headers: Record<string, string>; body: string };

/** The result of one attempt. Without a response, `error` explains why. */
export type Attempt = {
  response_status: number | null;
  response_excerpt: string | null;
  /** The `Retry-After` header. */
  retry_after: string | null;
  error: string | null;
  /** The code of the error, if there was no response. */
  error_code: string | null;
  latency_ms: number;
};

export type Sender = ReturnType<typeof createSender>;

const maxResponseBytes = 65_536;
const maxExcerptBytes = 1_024;

/** Sends messages by HTTP: one attempt, limited in time and in the bytes it reads, without following redirects. */
export function createSender(targets: Targets, timeoutMs = 15_000) {
  let transport: ReturnType<typeof openTransport> | undefined;

  async function send({ url, headers, body }: Message, signal?: AbortSignal): Promise<Attempt> {
    const started = performance.now();
    const target = new URL(url);
    const rejection = targets.rejection(target);
    if (rejection !== undefined) return noAttempt(rejection, refusedCode);
    const { isStaleConnection: _, ...result } = await attempt(target, headers, body, signal);
    return { ...result, latency_ms: Math.round(performance.now() - started) };
  }

  async function attempt(target: URL, headers: Message['headers'], body: string, signal?: AbortSignal) {
    transport ??= openTransport();
    const { request, agent } = (await transport)[target.protocol === 'https:' ? 'https' : 'http'];
    const options = {
      method: 'POST',
      agent,
      lookup: targets.lookup,
      ...(signal && { signal }),
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': `Muster/${version}`,
        ...headers,
      },
    };
    const start = () => exchange(request(target, options), body, timeoutMs);
    const first = await start();
    // A receiver may close an idle connection just when it is used again. Nothing was processed then.
    return first.isStaleConnection ? start() : first;
  }

  return {
    rejection: targets.rejection,
    send,
    close: () =>
      void transport?.then(
        ({ http, https }) => {
          http.agent.destroy();
          https.agent.destroy();
        },
        () => {},
      ),
  };
}

/** The result if nothing could be sent. */
export const noAttempt = (error: string, error_code: string | null = null): Attempt => ({
  ...noResponse,
  error,
  error_code,
  latency_ms: 0,
});

type Exchange = Omit<Attempt, 'latency_ms'> & { isStaleConnection?: boolean };

const noResponse = { response_status: null, response_excerpt: null, retry_after: null };

/** Resolves with the response, or with the error. Once there is a status, it counts, even if the body never ends. */
function exchange(request: ClientRequest, body: string, timeoutMs: number): Promise<Exchange> {
  return new Promise((resolve) => {
    let response: IncomingMessage | undefined;
    const excerpt: Buffer[] = [];
    let bytes = 0;
    let isTimedOut = false;
    const timer = setTimeout(() => {
      isTimedOut = true;
      settle();
      request.destroy();
    }, timeoutMs);

    function settle(error?: NodeJS.ErrnoException) {
      clearTimeout(timer);
      resolve(
        response
          ? describeResponse(response, Buffer.concat(excerpt))
          : {
              ...noResponse,
              error: isTimedOut ? `No response within ${timeoutMs / 1000} seconds.` : describeError(error),
              error_code: isTimedOut ? 'timeout' : (codeOf(error) ?? '_OTHER'),
              isStaleConnection: request.reusedSocket && error?.code === 'ECONNRESET',
            },
      );
    }

    request.on('error', settle);
    request.on('response', (received) => {
      response = received;
      received.on('data', (chunk: Buffer) => {
        if (bytes < maxExcerptBytes) excerpt.push(chunk.subarray(0, maxExcerptBytes - bytes));
        bytes += chunk.length;
        if (bytes > maxResponseBytes) request.destroy();
      });
      received.on('close', () => settle());
      received.on('error', () => settle());
    });
    request.end(body);
  });
}

function describeResponse({ statusCode = 0, headers }: IncomingMessage, excerpt: Buffer): Exchange {
  const isRedirect = statusCode >= 300 && statusCode < 400;
  return {
    response_status: statusCode,
    response_excerpt: printable(excerpt),
    retry_after: headers['retry-after'] ?? null,
    error: isRedirect ? 'Redirects are not followed. Set `url` to the final address.' : null,
    error_code: null,
  };
}

/** The databases cannot store all control characters, and a log should contain none. */
const printable = (excerpt: Buffer) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to replace
  excerpt.toString('utf8').replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd') || null;

type ConnectionError = NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] };

const codeOf = (error: ConnectionError | undefined) => error?.code ?? error?.errors?.[0]?.code;

/** Never contains an address, which would tell a user about the network of the service. */
function describeError(error: ConnectionError | undefined) {
  const code = codeOf(error);
  if (code === refusedCode) return error?.message ?? code;
  return (code !== undefined && explanations[code]) || `The connection failed (${code ?? 'unknown error'}).`;
}

const explanations: Record<string, string> = {
  ENOTFOUND: 'The host name could not be resolved.',
  EAI_AGAIN: 'The host name could not be resolved.',
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was closed before a response arrived.',
  HPE_HEADER_OVERFLOW: 'The response headers are too large.',
};

/** Loaded on first use: importing these modules takes longer than anything else at the start. */
async function openTransport() {
  const [http, https] = await Promise.all([import('node:http'), import('node:https')]);
  const options = { keepAlive: true, timeout: 60_000 };
  return {
    http: { request: http.request, agent: new http.Agent(options) },
    https: { request: https.request, agent: new https.Agent(options) },
  };
}
