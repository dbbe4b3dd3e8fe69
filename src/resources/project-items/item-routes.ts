import type { FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import type { Static, TObject, TProperties, TSchema, TString } from 'typebox';
import { keyLimited } from '../../core/errors.ts';
import { Strict } from '../../core/schemas.ts';
import { capitalized, withArticle } from '../../core/text.ts';
import type { App } from '../../http/fastify.ts';
import { sendResource } from '../../http/response/resource.ts';
import { importRoute } from '../../import/import-route.ts';
import { AcrossProjectsQuery } from '../../import/schema.ts';
import type { List } from '../../lists/list.ts';
import type { Filters } from '../../lists/query.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change } from '../../store/writes/change.ts';
import type { Listing, ParsedQuery } from '../list-route.ts';
import { createPlaceholders } from '../personnel/import.ts';
import { lockProjectFirst } from '../projects/lock.ts';
import { getProject, getProjectForWriting } from '../projects/queries.ts';
import { ProjectRef } from '../projects/schema.ts';
import { type ResourceKind, resourceRoutes } from '../resource-routes.ts';
import { bulkRoute } from './bulk.ts';
import { createItem } from './create.ts';
import { deleteItem } from './delete.ts';
import { type ItemImport, importAcrossProjects } from './import.ts';
import { updateItem } from './update.ts';
import type { Item, ItemWrites } from './writes.ts';

type ItemParams = TObject<{ project_id: TString; id: TString }>;

/** The description of one kind of project item for the shared routes. */
type ItemKind<
  Resource extends TObject,
  Input extends TObject,
  Patch extends TObject,
  F extends TProperties,
> = Pick<
  ResourceKind<ItemParams, Resource, Input, Patch>,
  'resource' | 'input' | 'updateErrors' | 'single'
> & {
  patch: Patch;
  ref: TString;
  summaries: { create: string; delete: string };
  /** How to import them, by the rules in force. */
  importable(db: Kysely<Tables>): Promise<ItemImport>;
  writes: ItemWrites<Static<Resource> & Item, Static<Input>, Static<Patch>>;
  /** The list of one project's items. */
  listing: Omit<Listing<ItemParams, F>, 'row' | 'operationId' | 'list'> & {
    row?: TSchema;
    list(
      request: FastifyRequest,
      query: ParsedQuery<Filters<F> & { project: string[] }>,
    ): List | Promise<List>;
  };
};

/** Registers the routes of a project's risks, issues or tasks. */
export function projectItemRoutes<
  Resource extends TObject,
  Input extends TObject,
  Patch extends TObject,
  F extends TProperties,
>(
  app: App,
  { ref, summaries, importable, writes, listing, ...kind }: ItemKind<Resource, Input, Patch, F>,
): void {
  const noun = writes.target.kind;
  const tag = writes.target.table;
  resourceRoutes(app, {
    ...kind,
    noun,
    tag,
    access: { read: 'projects.read', manage: 'projects.manage' },
    collection: `/v1/projects/:project_id/${tag}`,
    collectionParams: { project_id: ProjectRef },
    params: Strict({ project_id: ProjectRef, id: ref }),
    summaries: { ...summaries, import: `Import ${tag} of a project from a file` },
    errors: ['project_archived'],
    listing: {
      ...listing,
      operationId: `listProject${capitalized(tag)}`,
      list: async (request, { filters, ...query }) => {
        const { params, database, moment } = request;
        const { id } = await getProject(database.db, params.project_id, moment);
        return listing.list(request, { ...query, filters: { ...filters, project: [id] } });
      },
    },
    pathOf(item) {
      const { project_id, id } = item as Item;
      return `/v1/projects/${project_id}/${tag}/${id}`;
    },
    lock: (db, { project_id }) => lockProjectFirst(db, project_id),
    get: (db, params, moment) => writes.get(db, params.project_id, params.id, moment),
    create: (db, params, input, change) =>
      createItem(db, writes, params.project_id, withRaiser(kind.input, input, change), change),
    update: (db, current, patch, change) => updateItem(db, writes, { current, patch } as never, change),
    delete: (db, current, change) => deleteItem(db, writes, current as never, change),
    async importable({ params, database, moment }) {
      const { project_id } = params as { project_id: string };
      const itemImport = await importable(database.db);
      return itemImport(await getProjectForWriting(database.db, project_id, moment), moment);
    },
  });

  const { resource, single } = kind;
  app.get(
    `/v1/${tag}/:id`,
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: `find${capitalized(noun)}`,
        summary: `Get ${withArticle(noun)} of any project by its id or key`,
        description: `Writes go to \`/v1/projects/{project_id}/${tag}/{id}\`.`,
        tags: [tag],
        params: Strict({ id: ref }),
        ...(single && { querystring: Strict(single.query) }),
        response: { 200: (single?.response ?? resource) as TSchema },
      },
    },
    async (request, reply) => {
      const { db } = request.database;
      const { id } = request.params;
      const found = await writes.get(db, undefined, id, request.moment);
      return sendResource(request, reply, single ? await single.extend(request, found) : found);
    },
  );

  importRoute(app, {
    url: `/v1/imports/${tag}`,
    access: 'projects.manage',
    operationId: `import${capitalized(tag)}AcrossProjects`,
    summary: `Import ${tag} of several projects from a file`,
    tag,
    query: AcrossProjectsQuery,
    async importable({ query, moment, actor, database }) {
      const { create_projects = false } = query as AcrossProjectsQuery;
      // Rejected before the first row is written, not at the first row of a new project.
      if (create_projects && actor.project_ids !== null) throw keyLimited('It cannot create projects.');
      return importAcrossProjects(await importable(database.db), moment, create_projects);
    },
    createPlaceholders,
    syncTargets: {},
  });

  bulkRoute(app, { ref, patch: kind.patch, writes: writes as never });
}

/** Who reports a risk or an issue has raised it, unless the request says otherwise. */
function withRaiser<Input extends TObject>(
  { properties }: Input,
  input: Static<Input>,
  { user_id }: Change,
): Static<Input> {
  if (user_id === null || !('raised_by_user_id' in properties)) return input;
  return { raised_by_user_id: user_id, ...(input as object) } as Static<Input>;
}
