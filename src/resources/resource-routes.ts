import type { FastifyRequest } from 'fastify';
import type { Kysely, Transaction } from 'kysely';
import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { Moment } from '../core/clock.ts';
import { Problem, type ProblemCode } from '../core/errors.ts';
import { NoContent, Strict } from '../core/schemas.ts';
import type { Scope } from '../core/scopes.ts';
import { capitalized, withArticle } from '../core/text.ts';
import type { WriteWorkload } from '../database/open.ts';
import type { Access } from '../http/auth/auth.ts';
import type { App } from '../http/fastify.ts';
import { created, sendIdempotent } from '../http/request/idempotency.ts';
import { assertIfMatch } from '../http/response/etag.ts';
import { sendResource } from '../http/response/resource.ts';
import { showSecret, withoutSecret } from '../http/response/secrets.ts';
import { createErrors, deleteErrors, updateErrors } from '../http/route-errors.ts';
import { importRoute } from '../import/import-route.ts';
import type { Importable } from '../import/importable.ts';
import type { Tables } from '../store/tables.ts';
import type { Change } from '../store/writes/change.ts';
import { historyList } from './history/queries.ts';
import { HistoryEntry } from './history/schema.ts';
import { type Listing, listRoute } from './list-route.ts';
import { createPlaceholders } from './personnel/import.ts';
import { syncTargets } from './sync-targets.ts';

/** The description of a kind of resource for its routes. */
export type ResourceKind<
  Params extends TObject,
  Resource extends TObject,
  Input extends TObject,
  Patch extends TObject,
  F extends TProperties = TProperties,
> = {
  noun: string;
  tag: string;
  access: { read: Access; manage: Access };
  /** The path of the collection. */
  collection: string;
  /** All path parameters of one resource; the last one identifies it in the collection. */
  params: Params;
  resource: Resource;
  getSummary?: string;
  /** False if changes are not recorded. */
  hasHistory?: boolean;
  descriptions?: { create?: string; update?: string; delete?: string; history?: string };
  /** The field that identifies a resource in its collection. */
  id?: 'id' | 'user_id';
  get(
    db: Kysely<Tables>,
    params: Static<Params>,
    moment: Moment,
    request: FastifyRequest,
  ): Promise<Versioned<Resource>>;
  /** Extra query parameters of `GET …/{id}`, and the fields they add to the response. */
  single?: {
    query: TProperties;
    response: TObject;
    extend(request: FastifyRequest, resource: Versioned<Resource>): Promise<Versioned<Resource>>;
  };
  /** The reason to reject writes of a key that is limited to projects. */
  requiresUnrestrictedKey?: string;
  /** The path parameters of the collection. */
  collectionParams?: TProperties;
  input: Input;
  /** Absent, like `update`, if the resource never changes. */
  patch?: Patch;
  summaries: { create: string; import?: string; update?: string; delete: string };
  /** The resource with the secret that only the response to its creation shows. */
  withSecret?: TObject;
  /** The operation of `DELETE`, if it deletes nothing. */
  deleteOperation?: string;
  /** For a resource with many rows of its own. */
  deleteWorkload?: WriteWorkload;
  /** For a resource whose name many rows contain: how it is created and changed. */
  writeWorkload?: WriteWorkload;
  /** False if no field must be unique, and if nothing refers to the resource. */
  hasUniqueFields?: boolean;
  canBeInUse?: boolean;
  /** The errors of all writes and of updates, besides the usual ones. */
  errors?: readonly ProblemCode[];
  updateErrors?: readonly ProblemCode[];
  /** Takes locks before the resource is read in order to be changed. Without them, concurrent changes are repeated. */
  lock?(db: Transaction<Tables>, params: Static<Params>): Promise<void>;
  /** The path of a resource, if that is not the collection with the id. */
  pathOf?(resource: Static<Resource>): string;
  /** Reads what a creation needs before its transaction, which other writes wait for. */
  prepare?(request: FastifyRequest): Promise<unknown>;
  create(
    db: Transaction<Tables>,
    params: Static<Params>,
    input: Static<Input>,
    change: Change,
    request: FastifyRequest,
    prepared: unknown,
  ): Promise<Versioned<Resource>>;
  update?(
    db: Transaction<Tables>,
    current: Versioned<Resource>,
    patch: Static<Patch>,
    change: Change,
    request: FastifyRequest,
  ): Promise<Versioned<Resource>>;
  delete(
    db: Transaction<Tables>,
    current: Versioned<Resource>,
    change: Change,
    request: FastifyRequest,
  ): Promise<unknown>;
  /** Absent if the resource cannot be imported. */
  importable?(request: FastifyRequest): Importable | Promise<Importable>;
  /** By default, its rows are the resources. */
  listing?: Omit<Listing<Params, F>, Default> & Partial<Pick<Listing<Params, F>, Default>>;
};

type Default = 'row' | 'operationId';

type Versioned<Resource extends TObject> = Static<Resource> & { version: number };

/** Registers the routes that list, create, import, get, update and delete resources, and list their history. */
export function resourceRoutes<
  Params extends TObject,
  Resource extends TObject,
  Input extends TObject,
  Patch extends TObject,
  F extends TProperties,
>(app: App, kind: ResourceKind<Params, Resource, Input, Patch, F>): void {
  const { noun, access, collection, collectionParams, summaries, descriptions = {} } = kind;
  const { withSecret, single } = kind;
  const tags = [kind.tag];
  const except = [
    ...(kind.hasUniqueFields === false ? ['duplicate'] : []),
    ...(kind.canBeInUse === false ? ['in_use'] : []),
  ];
  const configOf = (usual: readonly ProblemCode[], own: readonly ProblemCode[] = []) => ({
    access: access.manage,
    ...(kind.requiresUnrestrictedKey && { requiresUnrestrictedKey: kind.requiresUnrestrictedKey }),
    errors: [...usual.filter((code) => !except.includes(code)), ...own, ...(kind.errors ?? [])],
  });
  const url = `${collection}/:${Object.keys(kind.params.properties).at(-1)}`;
  // Fastify cannot infer types from generic schemas, so the handlers cast.
  const schemas: Record<'params' | 'input' | 'resource', TSchema> = kind;
  const paramsOf = ({ params }: { params: unknown }) => params as Static<Params>;

  if (kind.listing) {
    listRoute(app, {
      url: collection,
      access: access.read,
      tag: kind.tag,
      operationId: `list${capitalized(kind.tag)}`,
      row: schemas.resource,
      ...(collectionParams && { params: Strict(collectionParams) as never }),
      ...kind.listing,
    });
  }

  app.post(
    collection,
    {
      config: configOf(createErrors),
      ...(withSecret && { preSerialization: showSecret }),
      schema: {
        operationId: `create${capitalized(noun)}`,
        summary: summaries.create,
        ...(descriptions.create && { description: descriptions.create }),
        tags,
        ...(collectionParams && { params: Strict(collectionParams) }),
        body: schemas.input,
        response: { 201: (withSecret ?? schemas.resource) as TSchema },
      },
    },
    async (request, reply) => {
      // Thrown in the transaction, because a repeated request gets its stored response whatever has changed.
      const prepared = await kind.prepare?.(request).catch((error: unknown) => {
        if (error instanceof Problem) return error;
        throw error;
      });
      return sendIdempotent(
        request,
        reply,
        async (db) => {
          if (prepared instanceof Problem) throw prepared;
          const input = request.body as Static<Input>;
          const resource = await kind.create(db, paramsOf(request), input, request.change, request, prepared);
          const path = kind.pathOf?.(resource) ?? `${collection}/${idOf(kind, resource)}`;
          return created(path, withSecret ? withoutSecret(resource as never) : resource);
        },
        kind.writeWorkload,
      );
    },
  );

  if (kind.importable) {
    importRoute(app, {
      url: `${collection}/import`,
      access: access.manage as Scope,
      errors: kind.errors ?? [],
      operationId: `import${capitalized(kind.tag)}`,
      summary: summaries.import ?? '',
      tag: kind.tag,
      ...(collectionParams && { params: collectionParams }),
      importable: kind.importable,
      createPlaceholders,
      syncTargets,
    });
  }

  const find = (request: FastifyRequest) =>
    kind.get(request.database.db, paramsOf(request), request.moment, request);

  app.get(
    url,
    {
      config: { access: access.read },
      schema: {
        operationId: `get${capitalized(noun)}`,
        summary: kind.getSummary ?? `Get ${withArticle(noun)}`,
        tags,
        params: schemas.params,
        ...(single && { querystring: Strict(single.query) }),
        response: { 200: single?.response ?? schemas.resource },
      },
    },
    async (request, reply) => {
      const found = await find(request);
      return sendResource(request, reply, single ? await single.extend(request, found) : found);
    },
  );

  if (kind.hasHistory !== false) {
    listRoute(app, {
      url: `${url}/history`,
      access: access.read,
      operationId: `list${capitalized(noun)}History`,
      summary: `List the changes of ${withArticle(noun)}, oldest first`,
      ...(descriptions.history && { description: descriptions.history }),
      tag: kind.tag,
      params: kind.params,
      row: HistoryEntry,
      filters: {},
      list: async (request) => historyList(idOf(kind, await find(request))),
    });
  }

  const { patch, update } = kind;
  if (patch && update) {
    app.patch(
      url,
      {
        config: configOf(updateErrors, kind.updateErrors),
        schema: {
          operationId: `update${capitalized(noun)}`,
          summary: kind.summaries.update ?? `Update ${withArticle(noun)}`,
          ...(descriptions.update && { description: descriptions.update }),
          tags,
          params: schemas.params,
          body: patch as TSchema,
          response: { 200: schemas.resource },
        },
      },
      async (request, reply) => {
        const changed = await request.database.write(async (db) => {
          await kind.lock?.(db, paramsOf(request));
          const current = await kind.get(db, paramsOf(request), request.moment, request);
          assertIfMatch(request, current);
          return update(db, current, request.body as Static<Patch>, request.change, request);
        }, kind.writeWorkload);
        return sendResource(request, reply, changed);
      },
    );
  }

  app.delete(
    url,
    {
      config: configOf(deleteErrors),
      schema: {
        operationId: kind.deleteOperation ?? `delete${capitalized(noun)}`,
        summary: summaries.delete,
        ...(descriptions.delete && { description: descriptions.delete }),
        tags,
        params: schemas.params,
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      await request.database.write(async (db) => {
        await kind.lock?.(db, paramsOf(request));
        const current = await kind.get(db, paramsOf(request), request.moment, request);
        assertIfMatch(request, current);
        await kind.delete(db, current, request.change, request);
      }, kind.deleteWorkload);
      return reply.code(204).send();
    },
  );
}

const idOf = ({ id = 'id' }: { id?: 'id' | 'user_id' }, resource: object) =>
  (resource as Record<string, string>)[id] as string;
