import type { FastifyRequest } from 'fastify';
import type { Kysely, Transaction } from 'kysely';
import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { Moment } from '../core/clock.ts';
import type { ProblemCode } from '../core/errors.ts';
import { NoContent, Strict } from '../core/schemas.ts';
import type { Tables } from '../database/tables.ts';
import type { Change } from '../database/writes/change.ts';
import type { App } from '../http/fastify.ts';
import { created, sendIdempotent } from '../http/request/idempotency.ts';
import { assertIfMatch } from '../http/response/etag.ts';
import { sendResource } from '../http/response/resource.ts';
import { createErrors, deleteErrors, updateErrors } from '../http/route-errors.ts';
import { ListQuery } from '../lists/query.ts';
import { ListOf } from '../lists/schema.ts';
import { sendList } from '../lists/send-list.ts';
import { importRoute } from '../transfer/import-route.ts';
import type { Importable } from '../transfer/importable.ts';
import { historyList } from './history/queries.ts';
import { HistoryEntry } from './history/schema.ts';
import type { Scope } from './keys/schema.ts';

/** The description of a kind of resource for the routes that every kind has. */
export type ResourceKind<
  Params extends TObject,
  Resource extends TObject,
  Input extends TObject,
  Patch extends TObject,
> = {
  noun: string;
  tag: string;
  access: { read: Scope; manage: Scope };
  /** The path of the collection and the path parameters in it. */
  collection: string;
  collectionParams?: TProperties;
  /** All path parameters of one resource; the last one identifies it in the collection. */
  params: Params;
  resource: Resource;
  input: Input;
  patch: Patch;
  summaries: { create: string; import: string; delete: string };
  deleteDescription?: string;
  /** The errors of all writes and of updates, besides the usual ones. */
  errors?: readonly ProblemCode[];
  updateErrors?: readonly ProblemCode[];
  /** The id of a resource, and its path if that is not the collection with the id. */
  idOf(resource: Static<Resource>): string;
  pathOf?(resource: Static<Resource>): string;
  get(db: Kysely<Tables>, params: Static<Params>, moment: Moment): Promise<Versioned<Resource>>;
  create(
    db: Transaction<Tables>,
    params: Static<Params>,
    input: Static<Input>,
    change: Change,
  ): Promise<Versioned<Resource>>;
  update(
    db: Transaction<Tables>,
    current: Versioned<Resource>,
    patch: Static<Patch>,
    change: Change,
  ): Promise<Versioned<Resource>>;
  delete(db: Transaction<Tables>, current: Versioned<Resource>, change: Change): Promise<void>;
  importable(request: FastifyRequest): Importable | Promise<Importable>;
  /** Extra query parameters of `GET …/{id}`, and the fields they add to the response. */
  single?: {
    query: TProperties;
    response: TObject;
    extend(request: FastifyRequest, resource: Versioned<Resource>): Promise<Versioned<Resource>>;
  };
};

type Versioned<Resource extends TObject> = Static<Resource> & { version: number };

/** Registers the routes that create, import, get, update and delete resources, and list their history. */
export function resourceRoutes<
  Params extends TObject,
  Resource extends TObject,
  Input extends TObject,
  Patch extends TObject,
>(app: App, kind: ResourceKind<Params, Resource, Input, Patch>): void {
  const { noun, access, collection, collectionParams, summaries, errors = [], single } = kind;
  const Noun = `${noun[0]?.toUpperCase()}${noun.slice(1)}`;
  const nounWithArticle = `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
  const tags = [kind.tag];
  const url = `${collection}/:${Object.keys(kind.params.properties).at(-1)}`;
  // Fastify cannot infer types from generic schemas, so the handlers cast.
  const schemas: Record<'params' | 'input' | 'patch' | 'resource', TSchema> = kind;
  const paramsOf = ({ params }: { params: unknown }) => params as Static<Params>;

  app.post(
    collection,
    {
      config: { access: access.manage, errors: [...createErrors, ...errors] },
      schema: {
        operationId: `create${Noun}`,
        summary: summaries.create,
        tags,
        ...(collectionParams && { params: Strict(collectionParams) }),
        body: schemas.input,
        response: { 201: schemas.resource },
      },
    },
    async (request, reply) =>
      sendIdempotent(request, reply, async (db) => {
        const input = request.body as Static<Input>;
        const resource = await kind.create(db, paramsOf(request), input, request.change);
        return created(kind.pathOf?.(resource) ?? `${collection}/${kind.idOf(resource)}`, resource);
      }),
  );

  importRoute(app, {
    url: `${collection}/import`,
    access: access.manage,
    errors,
    operationId: `import${kind.tag[0]?.toUpperCase()}${kind.tag.slice(1)}`,
    summary: summaries.import,
    tag: kind.tag,
    ...(collectionParams && { params: collectionParams }),
    importable: kind.importable,
  });

  app.get(
    url,
    {
      config: { access: access.read },
      schema: {
        operationId: `get${Noun}`,
        summary: `Get ${nounWithArticle}`,
        tags,
        params: schemas.params,
        ...(single && { querystring: Strict(single.query) }),
        response: { 200: single?.response ?? schemas.resource },
      },
    },
    async (request, reply) => {
      const found = await kind.get(request.database.db, paramsOf(request), request.moment);
      return sendResource(request, reply, single ? await single.extend(request, found) : found);
    },
  );

  app.patch(
    url,
    {
      config: {
        access: access.manage,
        errors: [...updateErrors, ...(kind.updateErrors ?? []), ...errors],
      },
      schema: {
        operationId: `update${Noun}`,
        summary: `Update ${nounWithArticle}`,
        tags,
        params: schemas.params,
        body: schemas.patch,
        response: { 200: schemas.resource },
      },
    },
    async (request, reply) => {
      const changed = await request.database.write(async (db) => {
        const current = await kind.get(db, paramsOf(request), request.moment);
        assertIfMatch(request, current);
        return kind.update(db, current, request.body as Static<Patch>, request.change);
      });
      return sendResource(request, reply, changed);
    },
  );

  app.delete(
    url,
    {
      config: { access: access.manage, errors: [...deleteErrors, ...errors] },
      schema: {
        operationId: `delete${Noun}`,
        summary: summaries.delete,
        ...(kind.deleteDescription && { description: kind.deleteDescription }),
        tags,
        params: schemas.params,
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      await request.database.write(async (db) => {
        const current = await kind.get(db, paramsOf(request), request.moment);
        assertIfMatch(request, current);
        await kind.delete(db, current, request.change);
      });
      return reply.code(204).send();
    },
  );

  app.get(
    `${url}/history`,
    {
      config: { access: access.read },
      schema: {
        operationId: `list${Noun}History`,
        summary: `List the changes of ${nounWithArticle}, oldest first`,
        tags,
        params: schemas.params,
        querystring: ListQuery({}),
        response: { 200: ListOf(HistoryEntry) },
      },
    },
    async (request, reply) => {
      const found = await kind.get(request.database.db, paramsOf(request), request.moment);
      return sendList(request, reply, historyList(kind.idOf(found)));
    },
  );
}
