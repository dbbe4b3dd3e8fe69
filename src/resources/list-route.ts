import type { FastifyRequest } from 'fastify';
import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { ProblemCode } from '../core/errors.ts';
import type { Access } from '../http/auth/auth.ts';
import type { App } from '../http/fastify.ts';
import type { List } from '../lists/list.ts';
import { type Filters, ListQuery, type Paging, SortableListQuery, splitQuery } from '../lists/query.ts';
import { ListOf } from '../lists/schema.ts';
import { sendList } from '../lists/send-list.ts';

/** The query of a list. */
export type ParsedQuery<F> = { filters: F; sort?: string | undefined; paging: Paging };

/** What a list needs besides its path. */
export type Listing<Params extends TObject, F extends TProperties> = {
  operationId: string;
  summary: string;
  description?: string;
  /** The schema of a row, and of fields of `meta`. */
  row: TSchema;
  meta?: TProperties;
  filters: F;
  /** The sort orders, the default first. Left out if there is one. */
  sorts?: readonly string[];
  list(
    request: FastifyRequest & { params: Static<Params> },
    query: ParsedQuery<Filters<F>>,
  ): List | Promise<List>;
};

type ListRoute<Params extends TObject, F extends TProperties> = Listing<Params, F> & {
  url: string;
  access: Access;
  /** The reason to reject a key that is limited to projects, instead of leaving out rows. */
  requiresUnrestrictedKey?: string;
  /** Besides the usual ones. */
  errors?: ProblemCode[];
  tag: string;
  params?: Params;
};

/** Registers a route that lists resources. */
export function listRoute<F extends TProperties, Params extends TObject = TObject<Record<never, TSchema>>>(
  app: App,
  { url, access, requiresUnrestrictedKey, errors, tag, params, ...listing }: ListRoute<Params, F>,
): void {
  const { operationId, summary, description, row, meta, filters, sorts, list } = listing;
  app.get(
    url,
    {
      config: {
        access,
        ...(errors && { errors }),
        ...(requiresUnrestrictedKey !== undefined && { requiresUnrestrictedKey }),
      },
      schema: {
        operationId,
        summary,
        ...(description && { description }),
        tags: [tag],
        ...(params && { params }),
        querystring: sorts ? SortableListQuery(filters, sorts) : ListQuery(filters),
        response: { 200: ListOf(row, meta) },
      },
    },
    async (request, reply) =>
      sendList(request, reply, await list(request as never, splitQuery(request.query as Paging) as never)),
  );
}
