import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TProperties } from 'typebox';
import { preferredType } from '../core/accept.ts';
import { invalidParameter, Problem, type ProblemCode } from '../core/errors.ts';
import { limits, Strict } from '../core/schemas.ts';
import { grants } from '../http/auth/scopes.ts';
import type { App } from '../http/fastify.ts';
import { runIdempotent } from '../http/request/idempotency.ts';
import { problemBody } from '../http/response/problems.ts';
import { importErrors } from '../http/route-errors.ts';
import type { Scope } from '../resources/keys/schema.ts';
import { asMapped } from './columns.ts';
import type { Importable } from './importable.ts';
import { runImport, type Store, summaryOf, type Task } from './run.ts';
import { ImportQuery, ImportResponse, type ImportSummary } from './schema.ts';
import { fileTypes, formatOfType, sourceOf } from './source.ts';

type ImportRoute = {
  url: string;
  access: Scope;
  errors?: readonly ProblemCode[];
  operationId: string;
  summary: string;
  tag: string;
  params?: TProperties;
  importable(request: FastifyRequest): Importable | Promise<Importable>;
};

/** The route of a noun's import. */
export function importRoute(
  app: App,
  { url, access, errors = [], operationId, summary, tag, params, importable }: ImportRoute,
): void {
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
      // Before the body is read: one that would be refused need not arrive.
      preParsing: async (request, _, payload) => {
        formatOfType(request.headers['content-type']);
        return payload;
      },
      schema: {
        operationId,
        summary,
        description:
          'The body is the file: CSV, NDJSON or XLSX (its first sheet), 32 MiB and 100,000 rows at most. With ' +
          '`Accept: application/x-ndjson` the answer is a result a line, and the summary in the last one.',
        tags: [tag],
        ...(params && { params: Strict(params) }),
        querystring: ImportQuery,
        response: { 200: ImportResponse },
      },
    },
    async (request, reply) => receive(request, reply, await importable(request)),
  );
}

async function receive(request: FastifyRequest, reply: FastifyReply, importable: Importable) {
  const { format, charset } = formatOfType(request.headers['content-type']);
  const file = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
  const { map = [], mode = 'create', atomic = false, dry_run = false } = request.query as ImportQuery;
  const task: Task = {
    importable,
    source: sourceOf(format, file, charset),
    options: { mode, atomic, dry_run },
    map: readMap(map),
    seesPeople: grants(request.actor.scopes, 'personnel.read'),
    change: () => request.change,
  };
  // Nothing is sent for as long as it takes; the connection is not idle for that.
  request.raw.socket.setTimeout(0);
  return send(request, reply, task, await imported(request, reply, task, file));
}

/** With an `Idempotency-Key` an import that is one transaction is done once, as any other POST is. */
function imported(request: FastifyRequest, reply: FastifyReply, task: Task, file: Buffer) {
  const { atomic, dry_run } = task.options;
  const { rehearse, write } = request.database;
  const store: Store = {
    rehearse,
    write: (work) => write(work, 'bulk'),
    explain: request.server.database.explain,
  };
  if (dry_run || request.headers['idempotency-key'] === undefined) return runImport(store, task);

  if (!atomic) {
    throw new Problem(
      'malformed_request',
      'An `Idempotency-Key` goes with `atomic=true`: what is written in parts cannot be done once. ' +
        'Without it, `mode=upsert` can be sent again without doubles.',
    );
  }
  const sendIdempotent: Store['write'] = async (work) => {
    const content = hash('sha256', file, 'hex');
    const { answer, isReplay } = await runIdempotent(request, content, work, 'bulk');
    if (isReplay) reply.header('idempotent-replayed', 'true');
    return answer;
  };
  return runImport({ ...store, write: sendIdempotent }, task);
}

type Imported = Awaited<ReturnType<typeof runImport>>;

function send(request: FastifyRequest, reply: FastifyReply, task: Task, { scan, results }: Imported) {
  const summary = summaryOf(task, scan, results);
  const { atomic, dry_run } = task.options;
  const isRefused = atomic && summary.failed > 0;
  const texts = isRefused ? results.textsOfNothing() : results.texts();
  if (isRefused && !dry_run) {
    const detail =
      `${summary.failed} of ${summary.rows} rows have errors, so nothing was changed. ` +
      'Mend what `results` says of them, or import the others without `atomic`.';
    const problem = problemBody(request, new Problem('import_refused', detail));
    reply.code(422).type('application/problem+json');
    return reply.send(Readable.from(asJson({ ...problem, summary }, texts)));
  }
  if (preferredType(request.headers.accept, responseTypes)?.endsWith('ndjson')) {
    return reply.type('application/x-ndjson; charset=utf-8').send(Readable.from(asLines(summary, texts)));
  }
  return reply.type('application/json; charset=utf-8').send(Readable.from(asJson({ summary }, texts)));
}

/** The import is done by now, so a client that accepts neither gets JSON instead of 406. */
const responseTypes = ['application/json', 'application/x-ndjson', 'application/ndjson'];

/** Some members, and the results as the last. */
export function* asJson(members: object, texts: Iterable<string[]>): Generator<string> {
  yield `${JSON.stringify(members).slice(0, -1)},"results":[`;
  let separator = '';
  for (const some of texts) {
    yield separator + some.join(',');
    separator = ',';
  }
  yield ']}';
}

function* asLines(summary: ImportSummary, texts: Iterable<string[]>): Generator<string> {
  for (const some of texts) yield `${some.join('\n')}\n`;
  yield `${JSON.stringify({ summary })}\n`;
}

/**
 * `Full name=name` is a pair; the last `=` counts, for the names of columns may have others. They may have commas, too,
 * at which the list was cut: what has no `=` belongs to what follows it.
 */
export function readMap(pieces: readonly string[]): Map<string, string> {
  const map = new Map<string, string>();
  let begun = '';
  for (const piece of pieces) {
    const pair = begun + piece;
    const at = piece.includes('=') ? pair.lastIndexOf('=') : -1;
    begun = at === -1 ? `${pair},` : '';
    if (at !== -1) map.set(asMapped(pair.slice(0, at).trim()), pair.slice(at + 1).trim());
  }
  if (begun === '') return map;
  const detail = `\`map\` does not say what “${begun.slice(0, -1).trim()}” is: \`column=field\`, or \`column=\` to leave it out.`;
  throw invalidParameter('map', detail);
}
