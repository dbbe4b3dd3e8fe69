import createClient from 'openapi-fetch';
import type { paths } from './openapi.ts';

/** The path of the service, without a slash at the end: `<base>` in the page says it. */
export const basePath = new URL(document.baseURI).pathname.replace(/\/$/, '');

/** The public API, and nothing else. The session cookie goes along by itself. */
export const api = createClient<paths>({
  baseUrl: basePath,
  querySerializer: { array: { style: 'form', explode: false } },
});

type Fault = { pointer?: string; parameter?: string; column?: string; code: string; detail: string };
type ProblemBody = { detail?: string; code?: string; errors?: Fault[]; [member: string]: unknown };

/** What the API refused, in its own words. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly faults: Fault[];
  /** All that was answered, for the members that only some problems have. */
  readonly body: ProblemBody;
  /** Seconds after which another try makes sense. */
  readonly retryAfter: number | undefined;

  constructor(status: number, body: ProblemBody, retryAfter?: number) {
    super(body.detail ?? `The service answered ${status}.`);
    this.status = status;
    this.code = body.code ?? 'unknown';
    this.faults = body.errors ?? [];
    this.body = body;
    this.retryAfter = retryAfter;
  }
}

/** What was answered, or an `ApiProblem`. */
export async function answerOf<T>(
  request: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<NonNullable<T>> {
  const { data, error, response } = await request.catch(() => {
    throw unreachable();
  });
  if (!response.ok) throw problemIn(response, error);
  return data as NonNullable<T>;
}

const unreachable = () =>
  new ApiProblem(0, { detail: 'The service cannot be reached. Check the connection and try again.' });

function problemIn(response: Response, body: unknown): ApiProblem {
  const retryAfter = Number(response.headers.get('retry-after')) || undefined;
  return new ApiProblem(response.status, (body ?? {}) as ProblemBody, retryAfter);
}

/** For what has no body of its own type: files, and what is read in another format. */
export async function fetchFrom(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(basePath + path, init).catch(() => {
    throw unreachable();
  });
  if (!response.ok) throw problemIn(response, await response.json().catch(() => undefined));
  return response;
}

type Upload = { type: string; signal: AbortSignal; onSent: (share: number) => void };

/** Sends a file, and tells how much of it has gone out, which `fetch` does not. */
export function upload<T>(path: string, file: Blob, { type, signal, onSent }: Upload): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    signal.addEventListener('abort', () => request.abort());
    request.upload.onprogress = ({ loaded, total }) => onSent(total > 0 ? loaded / total : 1);
    request.upload.onload = () => onSent(1);
    request.onerror = () => reject(unreachable());
    request.onload = () => {
      const isGood = request.status >= 200 && request.status < 300;
      if (isGood) return resolve(request.response);
      const retryAfter = Number(request.getResponseHeader('retry-after')) || undefined;
      reject(new ApiProblem(request.status, request.response ?? {}, retryAfter));
    };
    request.open('POST', basePath + path);
    request.responseType = 'json';
    request.setRequestHeader('content-type', type);
    request.send(file);
  });
}

/** Refuses to overwrite what someone else has changed since it was read. */
export const ifMatch = ({ version }: { version: number }) => ({ headers: { 'if-match': `"${version}"` } });
