import { Id, Strict } from '../../core/schemas.ts';
import type { App } from '../../http/fastify.ts';
import { done, runIdempotent, sendResult } from '../../http/request/idempotency.ts';
import { assertIfMatch } from '../../http/response/etag.ts';
import { actionErrors } from '../../http/route-errors.ts';
import { resourceRoutes } from '../resource-routes.ts';
import {
  categoryList,
  createCategory,
  deleteCategory,
  getCategory,
  lockCategories,
  mergeCategory,
  updateCategory,
} from './queries.ts';
import {
  Category,
  CategoryInput,
  CategoryPatch,
  categoryFilters,
  MergeInput,
  MergeResult,
  UsedCategory,
} from './schema.ts';

const requiresUnrestrictedKey = 'All projects share the categories.';

export function categoryRoutes(app: App): void {
  const params = Strict({ id: Id('category') });

  resourceRoutes(app, {
    noun: 'category',
    tag: 'categories',
    access: { read: 'projects.read', manage: 'projects.manage' },
    requiresUnrestrictedKey,
    collection: '/v1/categories',
    params,
    resource: Category,
    input: CategoryInput,
    patch: CategoryPatch,
    summaries: {
      create: 'Add a category to the list',
      update: 'Rename, describe or move a category',
      delete: 'Remove a category from the list',
    },
    descriptions: {
      create: 'Risks whose category differs only in case or accents get this spelling.',
      update: 'A new name changes every risk of the category, each with its own version, history and event.',
      delete: 'Risks keep the category as a text. To give them another one, merge the category into it.',
    },
    canBeInUse: false,
    // All risks of a category change with its name.
    writeWorkload: 'long',
    listing: {
      summary: 'List the categories in their order, then those that risks have besides',
      row: UsedCategory,
      filters: categoryFilters,
      list: (_, { filters }) => categoryList(filters),
    },
    lock: (db) => lockCategories(db),
    get: (db, { id }) => getCategory(db, id),
    create: (db, _, input, change) => createCategory(db, input, change),
    update: updateCategory,
    delete: deleteCategory,
  });

  app.post(
    '/v1/categories/:id/merge',
    {
      config: { access: 'projects.manage', requiresUnrestrictedKey, errors: actionErrors },
      schema: {
        operationId: 'mergeCategory',
        summary: 'Merge a category into another one',
        description:
          'The risks of the category get the other one, each with its own version, history and event, and the category ' +
          'leaves the list.',
        tags: ['categories'],
        params,
        body: MergeInput,
        response: { 200: MergeResult },
      },
    },
    async (request, reply) => {
      const { body, change } = request;
      const result = await runIdempotent(
        request,
        body,
        async (db) => {
          await lockCategories(db);
          const current = await getCategory(db, request.params.id);
          assertIfMatch(request, current);
          return done(await mergeCategory(db, current, body, change));
        },
        'long',
      );
      return sendResult(reply, result);
    },
  );
}
