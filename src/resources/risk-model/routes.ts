import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import { Type } from 'typebox';
import { fieldError, invalidBody } from '../../core/errors.ts';
import { Strict } from '../../core/schemas.ts';
import { inSnapshot } from '../../database/open.ts';
import type { App } from '../../http/fastify.ts';
import { whileSilent } from '../../http/request/silent.ts';
import { assertIfMatch, resourceEtag } from '../../http/response/etag.ts';
import { sendResource, sendWithContentEtag } from '../../http/response/resource.ts';
import { type Model, readRiskModel, readRiskModels } from '../../store/risk-model.ts';
import type { Tables } from '../../store/tables.ts';
import { listRoute } from '../list-route.ts';
import { describeModel } from '../risks/rules/model.ts';
import { applyChange, lockEverythingRated } from './apply.ts';
import type { ModelChange } from './mapping.ts';
import { presets, RiskModelPreset } from './presets.ts';
import { findIssues, findRisks, previewChange } from './preview.ts';
import { getRiskModel, versionList } from './queries.ts';
import { mappingOf, modelIn } from './rules.ts';
import { RiskModel, RiskModelChange, RiskModelInput, RiskModelVersion } from './schema.ts';

const path = '/v1/risk-model';
const tags = ['risks'];

export function riskModelRoutes(app: App): void {
  app.get(
    path,
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'getRiskModel',
        summary: 'Get the scoring rules and status transitions',
        description: 'The risk model in force: scales, levels and limits. It can be changed with `PUT`.',
        tags,
        response: { 200: RiskModel },
      },
    },
    async (request, reply) => sendResource(request, reply, await getRiskModel(request.database.db)),
  );

  app.put(
    path,
    {
      config: {
        access: 'projects.manage',
        requiresUnrestrictedKey: 'All projects have the same risk model.',
        errors: ['stale', 'storage_full'],
      },
      schema: {
        operationId: 'setRiskModel',
        summary: 'Change the risk model, or show what a change would do',
        description:
          'Maps the ratings of all risks to the new scales, and with them appetites, initial scores and the severity of ' +
          'open issues made from risks, in one transaction. Each risk that changes gets a new version, history and an ' +
          'event. Reads go on meanwhile; other writes wait, or get 503 with `Retry-After`. With `dry_run=true` nothing ' +
          'changes, and nobody waits.',
        tags,
        querystring: Strict({
          dry_run: Type.Optional(Type.Boolean({ description: 'Only shows what would change.' })),
        }),
        body: RiskModelInput,
        response: { 200: RiskModelChange },
      },
    },
    async (request, reply) =>
      whileSilent(request, () => (request.query.dry_run ? preview(request, reply) : change(request, reply))),
  );

  app.get(
    `${path}/presets`,
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'listRiskModelPresets',
        summary: 'List risk models to start from',
        tags,
        response: { 200: Strict({ data: Type.Array(RiskModelPreset) }) },
      },
    },
    async (request, reply) => sendWithContentEtag(request, reply, { data: presets }),
  );

  listRoute(app, {
    url: `${path}/versions`,
    access: 'projects.read',
    operationId: 'listRiskModelVersions',
    summary: 'List the versions of the risk model, the newest first',
    tag: 'risks',
    row: RiskModelVersion,
    filters: {},
    list: () => versionList,
  });
}

type ModelRequest = FastifyRequest<{ Body: RiskModelInput }>;

async function preview(request: ModelRequest, reply: FastifyReply) {
  return reply.send(await inSnapshot(request.database, async (db) => (await planOf(db, request)).shown));
}

async function change(request: ModelRequest, reply: FastifyReply) {
  const body = await request.database.write(async (db): Promise<RiskModelChange> => {
    await lockEverythingRated(db);
    // All that was committed before the locks is in the snapshot, and a slow read may take longer there than in a write.
    const plan = await inSnapshot(request.database, async (snapshot) => {
      const { change, appetites, shown } = await planOf(snapshot, request);
      const [risks, issues] = [await findRisks(snapshot, change), await findIssues(snapshot, change)];
      return { change, appetites, shown, risks, issues };
    });
    const model = isNew(plan.change)
      ? await applyChange(db, plan, request.body, request.change)
      : await getRiskModel(db);
    return { ...plan.shown, dry_run: false, model };
  }, 'long');
  const { model } = body;
  return reply.header('etag', resourceEtag(model, JSON.stringify(model))).send(body);
}

/** The change, and the response to a dry run of it. */
async function planOf(db: Kysely<Tables>, request: ModelRequest) {
  const current = await readRiskModel(db);
  assertIfMatch(request, current);
  const change = await changeOf(db, current, request.body);
  const { changes, appetites } = await previewChange(db, change);
  const version = current.version + Number(isNew(change));
  const model = describeModel({ ...change.to, version });
  const shown: RiskModelChange = { dry_run: true, model, ratings_map: change.ratings, changes };
  return { change, appetites, shown };
}

/** The change that a request asks for. */
async function changeOf(db: Kysely<Tables>, current: Model, input: RiskModelInput): Promise<ModelChange> {
  const given = modelIn(input);
  if (given) return mappingOf(current, given, input.ratings_map);
  const models = await readRiskModels(db);
  const at = models.findIndex(({ version }) => version === input.restore_version);
  const restored = models[at];
  if (!restored || restored.version === current.version) {
    const detail = `\`restore_version\` must be an earlier version: from 1 to ${current.version - 1}. \`GET ${path}/versions\` lists them.`;
    throw invalidBody([fieldError('restore_version', 'unknown_version', detail)]);
  }
  const { version: _, since: __, ...model } = restored;
  const changes = models.slice(at + 1).map(({ since }) => since);
  return { ...mappingOf(current, model, input.ratings_map), restore: { since: changes[0] ?? '', changes } };
}

/** Whether the model differs from the one in force, so that it gets a version. */
function isNew({ from, to, ratings, restore }: ModelChange): boolean {
  const { version: _, since: __, ...former } = from as Model;
  const isSameRating = (rating: number, i: number) => rating === i + 1;
  const isIdentity = [ratings.probability, ratings.impact].every((axis) => axis.every(isSameRating));
  return restore !== undefined || !isIdentity || JSON.stringify(former) !== JSON.stringify(to);
}
