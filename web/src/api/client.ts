import createClient from 'openapi-fetch';
import { repeatSafely, watchReplay } from './lost-responses.ts';
import type { paths } from './openapi.ts';

/** The path the service is mounted at, without a trailing slash. The service writes it into `<base>`. */
export const basePath = new URL(document.baseURI).pathname.replace(/\/$/, '');

/** The session that the page shows, which each write names. All pages of a browser share one cookie. */
let pageSession: string | undefined;
/** Reads again who has signed in. Whether it is still who the page shows. */
let readSession = async (): Promise<boolean> => false;

export const namePageSession = (id: string | undefined) => {
  pageSession = id;
};

export const onOtherSession = (read: typeof readSession) => {
  readSession = read;
};

/** Sends a request, a write in the name of the page's session. */
async function fetchForPage(request: Request): Promise<Response> {
  if (request.method === 'GET') return fetch(request);
  const send = (write: Request) => {
    if (pageSession) write.headers.set('muster-session', pageSession);
    return fetch(write);
  };
  const again = request.clone();
  const response = await send(request);
  watchReplay(response.headers);
  const problem =
    response.status === 409
      ? await response
          .clone()
          .json()
          .catch(() => undefined)
      : undefined;
  // The same person may have signed in again.
  return problem?.code === 'session_changed' && (await readSession()) ? send(again) : response;
}

/** A connection that was lost without a word can keep a request waiting for good. */
const maxSilenceMs = 60_000;

/** Gives up a read of which nothing has arrived for so long. A long list that still arrives takes as long as it needs. */
async function fetchForClient(request: Request): Promise<Response> {
  if (request.method !== 'GET') return fetchForPage(request);
  const silence = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const waitForMore = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), maxSilenceMs);
  };
  waitForMore();
  const response = await fetch(request, { signal: AbortSignal.any([request.signal, silence.signal]) });
  const arriving = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      waitForMore();
      controller.enqueue(chunk);
    },
    flush: () => clearTimeout(timer),
  });
  return new Response(response.body?.pipeThrough(arriving), response);
}

/** The public API. The browser adds the session cookie. */
export const api = createClient<paths>({
  baseUrl: basePath,
  fetch: fetchForClient,
  querySerializer: { array: { style: 'form', explode: false } },
});
api.use(repeatSafely);

type FieldError = { pointer?: string; parameter?: string; column?: string; code: string; detail: string };
type ProblemDetails = { detail?: string; code?: string; errors?: FieldError[]; [member: string]: unknown };
type ErrorHeaders = { get(name: string): string | null };

/** An error response of the API (RFC 9457). `message` is its `detail`. */
export class ApiError extends Error {
  /** 0 when there was no response. */
  readonly status: number;
  readonly code: string;
  readonly fieldErrors: FieldError[];
  /** The whole body, for the members that only some errors have. */
  readonly body: ProblemDetails;
  readonly retryAfterSeconds: number | undefined;
  /** Whether a key was sent and rejected (RFC 6750). A request without a key is also a 401. */
  readonly isKeyRejected: boolean;

  constructor(status: number, body: ProblemDetails, headers: ErrorHeaders = new Headers()) {
    const isKeyRejected = /\berror="invalid_token"/.test(headers.get('www-authenticate') ?? '');
    super(
      status === 401 && !isKeyRejected
        ? 'Your session has ended. Sign in and try again.'
        : (body.detail ?? `The service returned status ${status}. Try again.`),
    );
    this.status = status;
    this.code = body.code ?? 'unknown';
    this.fieldErrors = body.errors ?? [];
    this.body = body;
    this.retryAfterSeconds = Number(headers.get('retry-after')) || undefined;
    this.isKeyRejected = isKeyRejected;
  }
}

/** The body of a successful response; throws an `ApiError` for any other. */
export async function dataOrThrow<T>(
  request: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<NonNullable<T>> {
  const { data, error, response } = await request.catch(() => {
    throw unreachable();
  });
  if (!response.ok) throw new ApiError(response.status, (error ?? {}) as ProblemDetails, response.headers);
  return data as NonNullable<T>;
}

const unreachable = () =>
  new ApiError(0, { detail: "Can't reach the service. Check your connection and try again." });

/** For responses that the typed client does not cover: files and other formats. */
export async function fetchFrom(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetchForPage(new Request(basePath + path, init)).catch(() => {
    throw unreachable();
  });
  if (response.ok) return response;
  throw new ApiError(response.status, await response.json().catch(() => ({})), response.headers);
}

type Upload = {
  type: string;
  signal: AbortSignal;
  onProgress: (fraction: number) => void;
  idempotencyKey?: string | undefined;
};

/** Uploads a file. `fetch` does not report upload progress, `XMLHttpRequest` does. */
export function upload<T>(path: string, file: Blob, upload: Upload): Promise<T> {
  const { type, signal, onProgress, idempotencyKey } = upload;
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    signal.addEventListener('abort', () => request.abort());
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 1);
    request.upload.onload = () => onProgress(1);
    request.onerror = () => reject(unreachable());
    request.onabort = () => reject(signal.reason);
    request.onload = () => {
      const { status, response } = request;
      watchReplay({ get: (name) => request.getResponseHeader(name) });
      if (status >= 200 && status < 300) return resolve(response);
      if (response?.code === 'session_changed') void readSession();
      reject(new ApiError(status, response ?? {}, { get: (name) => request.getResponseHeader(name) }));
    };
    request.open('POST', basePath + path);
    request.responseType = 'json';
    request.setRequestHeader('content-type', type);
    if (pageSession) request.setRequestHeader('muster-session', pageSession);
    if (idempotencyKey) request.setRequestHeader('idempotency-key', idempotencyKey);
    request.send(file);
  });
}

/** Makes the service reject a write when the resource has changed since it was read. */
export const ifMatch = ({ version }: { version: number }) => ({ headers: { 'if-match': `"${version}"` } });
