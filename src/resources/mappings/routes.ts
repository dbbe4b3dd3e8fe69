import { Id, Strict } from '../../core/schemas.ts';
import type { Scope } from '../../core/scopes.ts';
import { grants, insufficientScope } from '../../core/scopes.ts';
import type { App } from '../../http/fastify.ts';
import { deleteRow } from '../../store/writes/rows.ts';
import { resourceRoutes } from '../resource-routes.ts';
import { createMapping, getMapping, mappingList, updateMapping } from './queries.ts';
import {
  type MappedList,
  Mapping,
  MappingInput,
  MappingPatch,
  mappedLists,
  mappingFilters,
  mappingScopes,
} from './schema.ts';

type Holder = { scopes: readonly Scope[] };

/** The lists that a key can read. */
const readableLists = ({ scopes }: Holder) =>
  mappedLists.filter((list) => grants(scopes, mappingScopes[list].read));

/** A key that can read a list can read its mappings; a key that can change the items of the list can change its mappings. */
function assertManages({ scopes }: Holder, list: MappedList): void {
  const { manage } = mappingScopes[list];
  if (grants(scopes, manage)) return;
  throw insufficientScope(`Mappings of ${list} require the scope ${manage}.`, [manage]);
}

export function mappingRoutes(app: App): void {
  resourceRoutes(app, {
    noun: 'mapping',
    tag: 'mappings',
    access: { read: 'any', manage: 'any' },
    requiresUnrestrictedKey: 'Mappings are shared by all projects, and may name any of them.',
    collection: '/v1/mappings',
    params: Strict({ id: Id('mapping') }),
    resource: Mapping,
    input: MappingInput,
    patch: MappingPatch,
    summaries: {
      create: 'Create a mapping',
      update: 'Update a mapping',
      delete: 'Delete a mapping',
    },
    getSummary: 'Get a mapping',
    descriptions: { create: 'Needs the `.manage` scope of what is imported.' },
    errors: ['insufficient_scope'],
    canBeInUse: false,
    hasHistory: false,
    listing: {
      summary: 'List the mappings, by name',
      description:
        'A mapping is the parameters of an import under a name, for files that come again. A key sees the mappings of the ' +
        'lists that it can read; a key limited to projects sees none.',
      filters: mappingFilters,
      list: ({ actor }, { filters: { list } }) =>
        mappingList(readableLists(actor).filter((one) => list === undefined || one === list)),
    },
    get: (db, { id }, _, { actor }) => getMapping(db, id, readableLists(actor)),
    create(db, _, input, change, { actor }) {
      assertManages(actor, input.list);
      return createMapping(db, input, change);
    },
    update(db, current, patch, change, { actor }) {
      assertManages(actor, current.list);
      return updateMapping(db, current, patch, change);
    },
    delete(db, current, _, { actor }) {
      assertManages(actor, current.list);
      return deleteRow(db, 'mappings', current);
    },
  });
}
