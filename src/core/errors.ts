/**
 * Every error the API answers with. `help` is the page at `/problems/{code}`; a code's status never changes.
 */
export const problems = {
  malformed_request: {
    status: 400,
    title: 'The request could not be read',
    help: 'The bytes sent are not what HTTP or JSON allow: broken JSON, text that is not UTF-8, nesting deeper than 20, or a URL with broken percent-encoding. Check what your client sends; the same request will fail again.',
  },
  unknown_parameter: {
    status: 400,
    title: 'Unknown query parameter',
    help: 'A query parameter is not one this endpoint takes. Nothing is ever ignored silently, because a filter that is ignored changes the wrong rows. The answer names the allowed parameters and the nearest one.',
  },
  invalid_parameter: {
    status: 400,
    title: 'Invalid query parameter',
    help: 'A query parameter has a value that cannot work: of the wrong type, out of range, given twice, empty, or contradicting another. Each error is listed in `errors`.',
  },
  cursor_mismatch: {
    status: 400,
    title: 'The cursor belongs to another query',
    help: 'A cursor continues exactly the list it came from. Keep filters and sort as they were, or start again without a cursor. `limit` may change.',
  },
  unauthenticated: {
    status: 401,
    title: 'A valid API key is needed',
    help: 'Send `Authorization: Bearer <API_KEY>`. Keys start with `mst_`. A key that is unknown, expired or revoked is refused the same way; ask whoever runs this service for a new one, or make one with `muster keys create`.',
  },
  insufficient_scope: {
    status: 403,
    title: 'The key lacks the needed scope',
    help: 'The key is valid but does not carry the scope this operation needs. `GET /v1/me` shows what a key may do. A `.manage` scope also grants the `.read` scope of the same area, and nothing else.',
  },
  key_limited: {
    status: 403,
    title: 'The key is limited to some projects',
    help: 'The key sees only some projects, and what you asked for reaches beyond them: adding a project, changing what is unique among all projects, or deleting or handing over what any project may need. `GET /v1/me` shows the limit as `project_ids`. Use a key without one.',
  },
  cross_origin: {
    status: 403,
    title: 'The request comes from another site',
    help: 'A browser that has signed in sends its cookie with every request, also with one that a page of another site makes it send. Such a request changes nothing. Programs send `Authorization: Bearer <API_KEY>` instead of a cookie.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    help: 'There is nothing at this address that your key may see. Check the path and the id in it.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    help: 'The path exists but not with this method. The `Allow` header lists the methods it takes. `/v1/risks` and `/v1/issues` are views: write risks and issues under `/v1/projects/{id}`.',
  },
  not_acceptable: {
    status: 406,
    title: 'No acceptable format',
    help: 'The `Accept` header allows none of the formats this endpoint can answer with, or `Accept-Encoding` none of the codings. Lists answer as JSON, NDJSON, CSV and XLSX; all else answers `application/json`. Codings are `zstd`, `br`, `gzip`, or none.',
  },
  request_timeout: {
    status: 408,
    title: 'The request took too long',
    help: 'A request must arrive within 30 seconds. Check the connection, or send less at once.',
  },
  duplicate: {
    status: 409,
    title: 'Already taken',
    help: 'Another resource already has this unique value. The answer names the field and who has it.',
  },
  in_use: {
    status: 409,
    title: 'Still in use',
    help: 'Other things need what you want to delete. The answer counts them by kind and names a few: move or delete them first. The last key that can manage keys is needed, too: make another one first.',
  },
  invalid_transition: {
    status: 409,
    title: 'This move is not allowed',
    help: 'A risk, an issue or a key cannot go from its state to the one you asked for. The answer says `from`, `to` and which are `allowed`.',
  },
  project_archived: {
    status: 409,
    title: 'The project is archived',
    help: 'Nothing can be written into an archived project. Unarchive it first.',
  },
  stale: {
    status: 412,
    title: 'Changed in the meantime',
    help: 'Someone has changed the resource since you read it: its `ETag` is no longer the one in your `If-Match`. Read it again, look at what is new, and send your change with the new tag.',
  },
  too_large: {
    status: 413,
    title: 'The request is too large',
    help: 'A request body may be 1 MiB and 10,000 values at most, one that needs no key 1 KiB, a file to import 32 MiB, 100,000 rows and 5,000,000 cells; a workbook may not unpack to far more than that. Split it.',
  },
  uri_too_long: {
    status: 414,
    title: 'The address is too long',
    help: 'One part of the path is longer than any id can be. Check how the address was put together.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    help: 'Send bodies as JSON with `Content-Type: application/json`, uncompressed; a PATCH may also be `application/merge-patch+json`. An import takes the file itself, as `text/csv`, `application/x-ndjson` or XLSX.',
  },
  invalid_body: {
    status: 422,
    title: 'The body has errors',
    help: 'The JSON was understood but breaks a rule. All errors are listed in `errors`, each with a JSON Pointer to the field.',
  },
  idempotency_mismatch: {
    status: 422,
    title: 'The idempotency key was used for another request',
    help: 'An `Idempotency-Key` names one request. The same key came within 24 hours with another body, or when the scopes or projects of the API key were others; nothing was done this time. Use a new key.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    help: 'A key may send so many requests a minute, and so many at once; `RateLimit-Policy` says how many, `RateLimit` what is left, and `GET /v1/me` shows both. Too many attempts with keys that are refused, and too many large bodies sent at once, are answered like this, too. Wait as long as `Retry-After` says. Asking with `If-None-Match` costs nothing when nothing has changed.',
  },
  import_refused: {
    status: 422,
    title: 'The file has errors, and nothing of it was taken in',
    help: 'With `atomic=true` an import takes in all rows or none. `results` names each row that has errors, with its line and what to do; the other rows are `skipped`. Mend the file and send it again, or import without `atomic` what has no errors.',
  },
  headers_too_large: {
    status: 431,
    title: 'The request headers are too large',
    help: 'The headers of a request may be 16 KiB at most in all.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    help: 'Something went wrong in the service; it has been logged under the `request_id` of the answer. Retrying may help.',
  },
  unavailable: {
    status: 503,
    title: 'Temporarily unavailable',
    help: 'The service is starting, stopping, overloaded, or its database is away. Retry after the time in `Retry-After`. Nothing was changed, unless the detail says that it may have been: then the connection to the database was lost during the commit. Read before you retry, or send the same `Idempotency-Key` again.',
  },
  storage_full: {
    status: 507,
    title: 'The storage is full',
    help: 'The disk or database of the service has no room for this write. Nothing of it was kept, except of an import that was interrupted: its `imported_lines` are written. Whoever runs the service must make room. A dry run on SQLite needs room for a copy of the database.',
  },
} as const;

export type ProblemCode = keyof typeof problems;

/** One error of the input: `pointer` into the body, the `column` of a file, or the name of a query `parameter`. */
export type FieldError = {
  pointer?: string;
  column?: string;
  parameter?: string;
  code: string;
  detail: string;
};

/** How many errors a response lists: more is more than anyone reads, and would make a small request a large response. */
export const maxErrors = 100;

type ProblemOptions = {
  errors?: FieldError[];
  headers?: Record<string, string>;
  /** Members of the answer that only this code has, such as `allowed`. */
  extra?: Record<string, unknown>;
  /** For the log, never for the caller. */
  cause?: unknown;
};

/** The one error class: `message` is for the caller, `cause` for the log. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly errors: FieldError[] | undefined;
  readonly headers: Record<string, string>;
  readonly extra: Record<string, unknown>;

  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    super(detail, { cause: options.cause });
    this.code = code;
    this.errors = options.errors;
    this.headers = options.headers ?? {};
    this.extra = options.extra ?? {};
  }
}

export const keyLimited = (why: string) =>
  new Problem('key_limited', `This needs a key that sees all projects. Yours is limited to some. ${why}`);

export const notFound = (what: string, id: string) =>
  new Problem('not_found', `There is no ${what} ${id}. Check the id; it may have been deleted.`);

/** 409 for what cannot be deleted: how many of each kind point at it, and a few of them. */
export function inUse(
  what: string,
  users: Record<string, { count: number; samples: string[] }>,
  advice = 'Move or delete those first.',
): Problem {
  const used = Object.entries(users).filter(([, { count }]) => count > 0);
  const joinWords = used.map(
    ([kind, { count, samples }]) => `${count} ${kind} (such as ${samples.join(', ')})`,
  );
  return new Problem('in_use', `${what} is used by ${joinWords.join(' and ')}. ${advice}`, {
    extra: { used_by: Object.fromEntries(used) },
  });
}

/** A rule that only the database or several fields together can check. */
export const invalidBody = (errors: FieldError[]) =>
  new Problem('invalid_body', errors.map((error) => error.detail).join(' '), { errors });

export const notAnObject = () =>
  new Problem('invalid_body', 'The body must be a JSON object, sent as `application/json`.', {
    errors: [{ pointer: '#', code: 'type', detail: 'This must be an object.' }],
  });

/** The errors of many inputs, found in two ways. */
export const joined = (some: readonly FieldError[][], others: readonly FieldError[][]): FieldError[][] =>
  some.map((errors, i) => [...errors, ...(others[i] ?? [])]);

/** An error of one field of the body. */
export const fieldError = (field: string, code: string, detail: string): FieldError => ({
  pointer: `#/${field}`,
  code,
  detail,
});

export const invalidParameter = (parameter: string, detail: string) =>
  new Problem('invalid_parameter', detail, { errors: [{ parameter, code: 'invalid_parameter', detail }] });

/** An error of the command line or the settings: printed as one line, without a stack. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
