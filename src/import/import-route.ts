import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TObject, TProperties } from 'typebox';
import { preferredType } from '../core/accept.ts';
import { keyLimited, Problem, type ProblemCode } from '../core/errors.ts';
import { limits, Strict } from '../core/schemas.ts';
import type { Scope } from '../core/scopes.ts';
import { grants, insufficientScope } from '../core/scopes.ts';
import type { App } from '../http/fastify.ts';
import { assertConnected } from '../http/request/connected.ts';
import { runIdempotent } from '../http/request/idempotency.ts';
import { parseQueryString } from '../http/request/query-string.ts';
import { whileSilent } from '../http/request/silent.ts';
import { problemBody } from '../http/response/problems.ts';
import { importErrors } from '../http/route-errors.ts';
import type { Importable, SyncTarget } from './importable.ts';
import { createLayout } from './layout/layout.ts';
import { withMapping } from './mapping.ts';
import { createdPeople, createsProjects, readRecognition } from './recognize/parameters.ts';
import type { CreatePlaceholders } from './references/people.ts';
import { type ImportJob, runImport, type Store, summaryOf } from './run.ts';
import { ImportQuery, ImportResponse, type ImportSummary } from './schema.ts';
import { fileIn, fileTypes, rejectOtherTypes, sourceOf } from './source.ts';
import { readSync } from './sync/options.ts';
import { runSync, type SyncOptions } from './sync/sync.ts';

type ImportRoute = {
  url: string;
  access: Scope;
  errors?: readonly ProblemCode[];
  operationId: string;
  summary: string;
  tag: string;
  params?: TProperties;
  query?: TObject;
  importable(request: FastifyRequest): Importable | Promise<Importable>;
  createPlaceholders: CreatePlaceholders;
  syncTargets: Partial<Record<Importable['what'], SyncTarget>>;
};

/** Adds the import route of a resource. */
export function importRoute(app: App, route: ImportRoute): void {
  const { url, access, errors = [], operationId, summary, tag, params, query } = route;
  app.post(
    url,
    {
      bodyLimit: limits.import_bytes,
      config: {
        access,
        accepts: fileTypes,
        produces: ['application/x-ndjson'],
        errors: [...importErrors, ...errors],
      },
      // Rejects an unsupported media type before the body is sent.
      preParsing: async (request, _, payload) => {
        rejectOtherTypes(request.headers['content-type']);
        return payload;
      },
      schema: {
        operationId,
        summary,
        description:
          'The body is the file, CSV, NDJSON or XLSX; at most 32 MiB and ' +
          '100,000 rows. All parameters are in the query. With ' +
          '`Accept: application/x-ndjson` the response has one result per line and the summary on the last line.',
        tags: [tag],
        ...(params && { params: Strict(params) }),
        querystring: query ?? ImportQuery,
        response: { 200: ImportResponse },
      },
    },
    async (request, reply) => receive(request, reply, route),
  );
}

async function receive(
  request: FastifyRequest,
  reply: FastifyReply,
  { importable, createPlaceholders, syncTargets }: ImportRoute,
) {
  const body = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
  const { file, format, charset: named } = fileIn(body, request.headers['content-type']);
  const resource = await importable(request);
  const given = Object.keys(parseQueryString(request.url.split('?')[1] ?? ''));
  const query = await withMapping(request.database.db, resource.what, request.query as ImportQuery, given);
  const { mode = 'create', atomic = false, dry_run = false, sheet, include, unknown_people } = query;
  const recognition = readRecognition(query, request.moment.time_zone);
  if (unknown_people === 'create' || createdPeople(recognition).size > 0) rejectWithoutPersonnel(request);
  if (createsProjects(recognition) && request.actor.project_ids !== null)
    throw keyLimited('It cannot create projects.');
  const layout = createLayout(resource, recognition);
  const job: ImportJob = {
    importable: resource,
    unknownPeople: unknown_people,
    createPlaceholders,
    syncTarget: syncTargets[resource.what],
    source: sourceOf(format, file, {
      charset: query.charset ?? named,
      sheet: sheetFor(format, given, sheet),
      layout,
    }),
    options: { mode: mode === 'create' ? 'create' : 'upsert', atomic, dry_run },
    recognition,
    include,
    seesPeople: grants(request.actor.scopes, 'personnel.read'),
    change: () => ({ ...request.change, isImport: true }),
    ...(request.headers['idempotency-key'] === undefined && {
      assertWanted: () => assertConnected(request),
    }),
    started_at: request.moment.now,
  };
  const sync = readSync(query, request.change, atomic);
  const imported = await whileSilent(request, () => importFile(request, reply, job, file, sync));
  return send(request, reply, job, imported, query);
}

/** The sheet of a mapping is for workbooks; the next file can be CSV. */
const sheetFor = (format: string, given: readonly string[], sheet: string | undefined) =>
  format === 'xlsx' || given.includes('sheet') ? sheet : undefined;

/** People are created by keys that may create people, whatever else they import. */
function rejectWithoutPersonnel({ actor }: FastifyRequest): void {
  if (actor.project_ids !== null) throw keyLimited('It cannot create people.');
  if (grants(actor.scopes, 'personnel.manage')) return;
  throw insufficientScope(
    'To create people, an import also requires the scope `personnel.manage`. Use a key that has it, or `unknown_people=leave_empty`.',
    ['personnel.manage'],
  );
}

/** Runs the import; with an `Idempotency-Key`, at most once. */
async function importFile(
  request: FastifyRequest,
  reply: FastifyReply,
  job: ImportJob,
  file: Buffer,
  sync: SyncOptions | undefined,
): Promise<ImportOutcome> {
  const { atomic, dry_run } = job.options;
  const { dryRun, write } = request.database;
  const store: Store = {
    dryRun,
    write: (work) => write(work, atomic ? 'long' : 'bulk'),
    bulkBatchMs: request.server.database.bulkBatchMs,
    explain: request.server.database.explain,
  };
  const isIdempotent = !dry_run && request.headers['idempotency-key'] !== undefined;
  if (isIdempotent && !atomic) {
    throw new Problem(
      'malformed_request',
      'An `Idempotency-Key` requires `atomic=true`, because other imports write several transactions. ' +
        (sync
          ? 'Remove the header: a sync is safe to send again.'
          : 'Add `atomic=true`, or use `mode=upsert`, which is safe to send again.'),
    );
  }
  if (sync) return runSync(store, job, sync);
  if (!isIdempotent) return runImport(store, job);

  const writeIdempotent: Store['write'] = async (work) => {
    const content = hash('sha256', file, 'hex');
    const { result, isReplay, startedAt } = await runIdempotent(request, content, work, 'long');
    if (isReplay) reply.header('idempotent-replayed', 'true');
    started_at = startedAt;
    return result;
  };
  let { started_at } = job;
  const outcome = await runImport({ ...store, write: writeIdempotent }, job);
  return { ...outcome, started_at };
}

/** `started_at` if the import may have run earlier. */
type ImportOutcome = Awaited<ReturnType<typeof runImport>> &
  Pick<ImportSummary, 'leavers' | 'kept' | 'returned'> & { started_at?: string };

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  job: ImportJob,
  { scan, results, leavers, kept, returned, started_at = job.started_at }: ImportOutcome,
  { mode = 'create', results: wanted }: ImportQuery,
) {
  const synced = leavers && { leavers, kept, returned };
  const summary = { ...summaryOf({ ...job, started_at }, scan, results), mode, ...synced };
  const { atomic, dry_run } = job.options;
  const isRolledBack = atomic && summary.failed > 0;
  const texts = isRolledBack
    ? results.textsOfNothing()
    : wanted === 'changed'
      ? results.textsOfChanged()
      : results.texts();
  if (isRolledBack && !dry_run) {
    const detail =
      `${summary.failed} of ${summary.rows} rows have errors, so nothing was changed. ` +
      'Fix the errors in `results`, or import the other rows without `atomic`.';
    const problem = problemBody(request, new Problem('import_refused', detail));
    reply.code(422).type('application/problem+json');
    return reply.send(Readable.from(asJson({ ...problem, summary }, texts)));
  }
  if (preferredType(request.headers.accept, responseTypes)?.endsWith('ndjson')) {
    return reply.type('application/x-ndjson; charset=utf-8').send(Readable.from(asLines(summary, texts)));
  }
  return reply.type('application/json; charset=utf-8').send(Readable.from(asJson({ summary }, texts)));
}

/** The import is already done, so a client that accepts none of these gets JSON instead of 406. */
const responseTypes = ['application/json', 'application/x-ndjson', 'application/ndjson'];

/** A JSON object with these members, and the results as the last member. */
export async function* asJson(members: object, texts: AsyncIterable<string[]>): AsyncGenerator<string> {
  yield `${JSON.stringify(members).slice(0, -1)},"results":[`;
  let separator = '';
  for await (const block of texts) {
    yield separator + block.join(',');
    separator = ',';
  }
  yield ']}';
}

async function* asLines(summary: ImportSummary, texts: AsyncIterable<string[]>): AsyncGenerator<string> {
  for await (const block of texts) yield `${block.join('\n')}\n`;
  yield `${JSON.stringify({ summary })}\n`;
}
