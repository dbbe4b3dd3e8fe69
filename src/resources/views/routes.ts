import { Id, Strict } from '../../core/schemas.ts';
import type { Scope } from '../../core/scopes.ts';
import { grants, insufficientScope } from '../../core/scopes.ts';
import type { App } from '../../http/fastify.ts';
import { deleteRow } from '../../store/writes/rows.ts';
import { resourceRoutes } from '../resource-routes.ts';
import { createView, getView, updateView, viewList } from './queries.ts';
import {
  View,
  type ViewedList,
  ViewInput,
  ViewPatch,
  viewedLists,
  viewFilters,
  viewScopes,
} from './schema.ts';

type Holder = { scopes: readonly Scope[] };

/** The lists that a key can read. */
const readableLists = ({ scopes }: Holder) =>
  viewedLists.filter((list) => grants(scopes, viewScopes[list].read));

/** A key that can read a list can read its views; a key that can change the items of the list can change its views. */
function assertManages({ scopes }: Holder, list: ViewedList): void {
  const { manage } = viewScopes[list];
  if (grants(scopes, manage)) return;
  throw insufficientScope(`Views of ${list} require the scope ${manage}.`, [manage]);
}

export function viewRoutes(app: App): void {
  resourceRoutes(app, {
    noun: 'view',
    tag: 'views',
    access: { read: 'any', manage: 'any' },
    requiresUnrestrictedKey: 'Views are shared by all projects, and may name any of them.',
    collection: '/v1/views',
    params: Strict({ id: Id('view') }),
    resource: View,
    input: ViewInput,
    patch: ViewPatch,
    summaries: {
      create: 'Create a shared view',
      update: 'Update a shared view',
      delete: 'Delete a shared view',
    },
    getSummary: 'Get a shared view',
    descriptions: { create: 'Needs the `.manage` scope of what the list contains.' },
    errors: ['insufficient_scope'],
    canBeInUse: false,
    hasHistory: false,
    listing: {
      summary: 'List the shared views of lists, oldest first',
      description:
        'A view is the filters, the sort order and the columns of a list in the console, under a name. A key sees the ' +
        'views of the lists that it can read; a key limited to projects sees none.',
      filters: viewFilters,
      list: ({ actor }, { filters: { list } }) =>
        viewList(readableLists(actor).filter((one) => list === undefined || one === list)),
    },
    get: (db, { id }, _, { actor }) => getView(db, id, readableLists(actor)),
    create(db, _, input, change, { actor }) {
      assertManages(actor, input.list);
      return createView(db, input, change);
    },
    update(db, current, patch, change, { actor }) {
      assertManages(actor, current.list);
      return updateView(db, current, patch, change);
    },
    delete(db, current, _, { actor }) {
      assertManages(actor, current.list);
      return deleteRow(db, 'views', current);
    },
  });
}
