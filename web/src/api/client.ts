import createClient from 'openapi-fetch';
import type { paths } from './openapi.ts';

/** The path of the service, without a slash at the end: `<base>` in the page says it. */
export const basePath = new URL(document.baseURI).pathname.replace(/\/$/, '');

/** The public API, and nothing else. The session cookie goes along by itself. */
export const api = createClient<paths>({
  baseUrl: basePath,
  querySerializer: { array: { style: 'form', explode: false } },
});

type Fault = { pointer?: string; parameter?: string; code: string; detail: string };

/** What the API refused, in its own words. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly faults: Fault[];
  /** Seconds after which another try makes sense. */
  readonly retryAfter: number | undefined;

  constructor(
    status: number,
    body: { detail?: string; code?: string; errors?: Fault[] },
    retryAfter?: number,
  ) {
    super(body.detail ?? `The service answered ${status}.`);
    this.status = status;
    this.code = body.code ?? 'unknown';
    this.faults = body.errors ?? [];
    this.retryAfter = retryAfter;
  }
}

/** What was answered, or an `ApiProblem`. */
export async function answerOf<T>(
  request: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<NonNullable<T>> {
  const { data, error, response } = await request.catch(() => {
    throw new ApiProblem(0, { detail: 'The service cannot be reached. Check the connection and try again.' });
  });
  if (!response.ok) throw problemIn(response, error);
  return data as NonNullable<T>;
}

function problemIn(response: Response, body: unknown): ApiProblem {
  const retryAfter = Number(response.headers.get('retry-after')) || undefined;
  return new ApiProblem(response.status, typeof body === 'object' && body !== null ? body : {}, retryAfter);
}

/** For what has no body of its own type: files, and what is read in another format. */
export async function fetchFrom(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(basePath + path, init).catch(() => {
    throw new ApiProblem(0, { detail: 'The service cannot be reached. Check the connection and try again.' });
  });
  if (!response.ok) throw problemIn(response, await response.json().catch(() => undefined));
  return response;
}

/** Refuses to overwrite what someone else has changed since it was read. */
export const ifMatch = ({ version }: { version: number }) => ({ headers: { 'if-match': `"${version}"` } });
