/**
 * Every error the API returns. `help` is the page at `/problems/{code}`. The status of a code never changes.
 */
export const problems = {
  malformed_request: {
    status: 400,
    title: 'Malformed request',
    help: 'The request is not valid HTTP or JSON: broken JSON, an object with a member twice, text that is not UTF-8, nesting deeper than 20 levels, a URL with broken percent-encoding, or a malformed `If-Match`. Fix the request before you send it again; retrying it unchanged fails again.',
  },
  unknown_parameter: {
    status: 400,
    title: 'Unknown query parameter',
    help: 'This endpoint does not support one of the query parameters. Unknown parameters are never ignored, because an ignored filter could affect the wrong rows. The response lists the allowed parameters and suggests the closest match.',
  },
  invalid_parameter: {
    status: 400,
    title: 'Invalid query parameter',
    help: 'A query parameter has an invalid value: wrong type, out of range, repeated, empty, or in conflict with another parameter. `errors` lists every error.',
  },
  cursor_mismatch: {
    status: 400,
    title: 'Cursor does not match the query',
    help: 'A cursor works only with the query that returned it. Keep the same filters and sort order, or start again without a cursor. You can change `limit`.',
  },
  unauthenticated: {
    status: 401,
    title: 'Valid API key or session required',
    help: 'Send `Authorization: Bearer <API_KEY>`. Keys start with `mst_`. Unknown, expired and revoked keys all get this response; so do sessions that have ended, and every failed sign-in, whatever was wrong. Ask your administrator for a new key or a new link, or create a key with `muster keys create`.',
  },
  insufficient_scope: {
    status: 403,
    title: 'The key lacks the needed scope',
    help: 'The key is valid but does not have the scope this operation requires. `GET /v1/me` shows the scopes of a key. A `.manage` scope includes the `.read` scope of the same area, and nothing else.',
  },
  key_limited: {
    status: 403,
    title: 'The key is limited to some projects',
    help: 'The key can access only some projects, and this operation affects more than those: it adds a project, changes a value that must be unique across projects, or deletes or hands over a resource that any project may use. `GET /v1/me` shows the limit as `project_ids`. Use a key without a project limit.',
  },
  cross_origin: {
    status: 403,
    title: 'Cross-site request rejected',
    help: 'A browser sends the session cookie with every request, even one that a page on another site triggers. The service rejects such requests, and nothing was changed. Scripts and programs must send `Authorization: Bearer <API_KEY>` instead of a cookie.',
  },
  person_required: {
    status: 403,
    title: 'Only a person can do this',
    help: 'This concerns the person who has signed in, such as their password, passkeys and personal keys. A key cannot do it, whatever its scopes. Sign in to the console.',
  },
  sign_in_again: {
    status: 403,
    title: 'Sign in again',
    help: 'Changing how you sign in, and ending other sessions, needs a session that began within the last 15 minutes, so that nobody else can do it in a browser that you left open. Sign in again, then repeat the request.',
  },
  session_changed: {
    status: 409,
    title: 'Another session is in use',
    help: 'The request names a session in `Muster-Session` but came with another one, or with a key: somebody has signed in in this browser since the page was loaded. Nothing was changed. `GET /v1/me` shows who is signed in now. Send the request again only if that person means the change.',
  },
  access_required: {
    status: 409,
    title: 'The person has no access',
    help: 'Only a person who has access can be invited. Give the person access first: `PUT /v1/personnel/{user_id}/access`.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    help: 'Nothing exists at this address, or your key cannot access it. Check the path and the id in it.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    help: 'The path exists but does not support this method. The `Allow` header lists the supported methods. `/v1/risks` and `/v1/issues` are read-only views: create and change risks and issues under `/v1/projects/{id}`.',
  },
  not_acceptable: {
    status: 406,
    title: 'No acceptable format',
    help: 'The service cannot return any format in `Accept`, or any encoding in `Accept-Encoding`. Lists are available as JSON, NDJSON, CSV and XLSX; everything else is `application/json`. Encodings are `zstd`, `br`, `gzip` and `identity`.',
  },
  request_timeout: {
    status: 408,
    title: 'Request timeout',
    help: 'A request must arrive within 30 seconds. Check the connection, or send less data per request.',
  },
  duplicate: {
    status: 409,
    title: 'Already taken',
    help: 'Another resource already has this unique value. The response contains the field and the resource that has the value.',
  },
  in_use: {
    status: 409,
    title: 'Still in use',
    help: 'Other resources reference the one you want to delete. The response counts them by type and lists some of them, as far as the key may read them: move or delete those first. The last key or person that can manage keys cannot be removed either: create another one first.',
  },
  invalid_transition: {
    status: 409,
    title: 'Status change not allowed',
    help: 'A risk, issue or key cannot change from its current status to the requested one. The response contains `from`, `to` and the `allowed` statuses.',
  },
  project_archived: {
    status: 409,
    title: 'The project is archived',
    help: 'An archived project is read-only. Unarchive it first.',
  },
  events_expired: {
    status: 410,
    title: 'The events are no longer stored',
    help: 'Events are stored for a limited time, and some of those after your sequence number have been deleted, or the database has lost events up to it. Read the current state of the resources you follow, then continue with the `next_after` in the response. To follow without gaps, read more often than the retention period, which is 90 days by default.',
  },
  stale: {
    status: 412,
    title: 'The resource has changed',
    help: 'The resource has changed since you read it: its `ETag` no longer matches your `If-Match`. Read it again, review the changes, and send your update with the new `ETag`.',
  },
  too_large: {
    status: 413,
    title: 'Request too large',
    help: 'The request exceeds a size limit. A request body: 1 MiB and 10,000 values. A body sent without a key or session: 16 KiB. A file to import: 32 MiB, 100,000 rows and 5,000,000 cells; a workbook must not unpack to much more than that. Split the request.',
  },
  uri_too_long: {
    status: 414,
    title: 'URL too long',
    help: 'A segment of the path is longer than any id. Check how your client builds the URL.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    help: 'Send the body as uncompressed JSON in UTF-8 with `Content-Type: application/json`. A PATCH can also use `application/merge-patch+json`. For an import, send the file itself as `text/csv`, `application/x-ndjson` or XLSX.',
  },
  invalid_body: {
    status: 422,
    title: 'Invalid request body',
    help: 'The JSON is valid but breaks a rule. `errors` lists every error with a JSON Pointer to the field.',
  },
  idempotency_mismatch: {
    status: 422,
    title: 'Idempotency key already used',
    help: 'An `Idempotency-Key` identifies one request. This key was used within the last 24 hours with a different body, or with different scopes or projects of the API key. Nothing was changed this time. Use a new key.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    help: 'The key has sent too many requests per minute or too many at once. `RateLimit-Policy` contains the limits, `RateLimit` the remaining requests, and `GET /v1/me` both. Too many failed authentication attempts and too many large bodies at once also get this response. Wait for the time in `Retry-After`. A request with `If-None-Match` is free if nothing has changed.',
  },
  import_refused: {
    status: 422,
    title: 'Import rejected: the file has errors',
    help: 'With `atomic=true`, an import creates all rows or none. `results` lists each row that has errors, with its line and how to fix it; the other rows are `skipped`. Fix the file and send it again, or import without `atomic` to skip only the rows that have errors.',
  },
  bulk_refused: {
    status: 422,
    title: 'Bulk change rejected: some items have errors',
    help: 'A bulk change affects all items or none. At least one item cannot be changed, so nothing was changed. `results` lists the items with errors, each with the code and the detail that a PATCH of that item would return. Fix them or leave these items out, and send the request again.',
  },
  headers_too_large: {
    status: 431,
    title: 'Request headers too large',
    help: 'The headers of a request must not exceed 16 KiB in total. Send fewer or shorter headers.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    help: 'An unexpected error occurred and was logged with the `request_id` in the response. Try again; if the error persists, contact your administrator.',
  },
  unavailable: {
    status: 503,
    title: 'Temporarily unavailable',
    help: 'The service is starting, stopping or overloaded, or cannot reach its database. Retry after the time in `Retry-After`. Nothing was changed, unless `may_be_saved` is true: the database did not confirm the commit. In that case read the data before you retry, or send the same `Idempotency-Key` again.',
  },
  storage_full: {
    status: 507,
    title: 'Storage full',
    help: 'The disk or database has no space left for this write. Nothing was saved, except for an interrupted import: the rows in `imported_lines` were saved. Ask your administrator to free up space. A dry run may need space for a copy of the database.',
  },
} as const;

export type ProblemCode = keyof typeof problems;

/** One error in the input. Its place is a JSON `pointer` into the body, a `column` of a file, or a query `parameter`. */
export type FieldError = {
  pointer?: string;
  column?: string;
  parameter?: string;
  code: string;
  detail: string;
};

/** The most errors a response lists, so that a small request cannot cause a large response. */
export const maxErrors = 100;

type ProblemOptions = {
  errors?: FieldError[];
  headers?: Record<string, string>;
  /** Members of the response that only this code has, such as `allowed`. */
  extra?: Record<string, unknown>;
  /** Logged, never sent to the client. */
  cause?: unknown;
};

/** The only error class of the API. `message` is sent to the client; `cause` is logged. */
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

/** A temporary failure, with the time after which to try again. */
export const unavailable = (detail: string, retryAfterSeconds: number, cause?: unknown) =>
  new Problem('unavailable', detail, { cause, headers: { 'retry-after': String(retryAfterSeconds) } });

export const keyLimited = (why: string) =>
  new Problem('key_limited', `This requires access to all projects. Yours is limited to some. ${why}`);

export const notFound = (what: string, id: string) =>
  new Problem('not_found', `There is no ${what} ${id}. Check the id; it may have been deleted.`);

/**
 * 409 for a resource that is still referenced: counts the references by type and lists a sample of each. `hidden` describes
 * references that the key may not see.
 */
export function inUse(
  what: string,
  references: Record<string, { count: number; samples: string[] }>,
  advice = 'Move or delete those first.',
  hidden?: string,
): Problem {
  const used = Object.entries(references).filter(([, { count }]) => count > 0);
  const counts = used.map(([kind, { count, samples }]) => `${count} ${kind} (such as ${samples.join(', ')})`);
  if (hidden !== undefined) counts.push(hidden);
  return new Problem('in_use', `${what} is used by ${counts.join(' and ')}. ${advice}`, {
    extra: { used_by: Object.fromEntries(used) },
  });
}

/** For rules that involve the database or several fields, which a schema cannot express. */
export const invalidBody = (errors: FieldError[]) =>
  new Problem('invalid_body', errors.map((error) => error.detail).join(' '), { errors });

export const notAnObject = () =>
  new Problem('invalid_body', 'The body must be a JSON object, sent as `application/json`.', {
    errors: [{ pointer: '#', code: 'type', detail: 'This must be an object.' }],
  });

/** Merges two lists of errors, input by input. */
export const joined = (first: readonly FieldError[][], second: readonly FieldError[][]): FieldError[][] =>
  first.map((errors, i) => [...errors, ...(second[i] ?? [])]);

/** An error in one field of the body. */
export const fieldError = (field: string, code: string, detail: string): FieldError => ({
  pointer: `#/${field}`,
  code,
  detail,
});

export const invalidParameter = (parameter: string, detail: string) =>
  new Problem('invalid_parameter', detail, { errors: [{ parameter, code: 'invalid_parameter', detail }] });

/** An error in the command line or the settings, printed as one line without a stack. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
