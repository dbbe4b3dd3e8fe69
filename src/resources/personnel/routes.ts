import { Id, Strict } from '../../core/schemas.ts';
import type { App } from '../../http/fastify.ts';
import { resolveFilters } from '../filters.ts';
import { resourceRoutes } from '../resource-routes.ts';
import { peopleImport } from './import.ts';
import {
  createPerson,
  deletePerson,
  getPerson,
  personnelList,
  personnelSorts,
  updatePerson,
} from './queries.ts';
import { Person, PersonInput, PersonPatch, personnelFilters } from './schema.ts';

export function personnelRoutes(app: App): void {
  resourceRoutes(app, {
    noun: 'person',
    tag: 'personnel',
    access: { read: 'personnel.read', manage: 'personnel.manage' },
    collection: '/v1/personnel',
    params: Strict({ user_id: Id('person') }),
    resource: Person,
    input: PersonInput,
    patch: PersonPatch,
    summaries: { create: 'Add a person', import: 'Import people from a file', delete: 'Delete a person' },
    descriptions: {
      delete:
        'Only a person that nothing refers to can be deleted. Deactivate a person who left, so that the user ID still ' +
        'resolves. `in_use` counts and names items of projects only for keys with `projects.read`.',
    },
    id: 'user_id',
    get: (db, { user_id }, moment) => getPerson(db, user_id, moment),
    create: (db, _, input, change) => createPerson(db, input, change),
    update: updatePerson,
    delete: deletePerson,
    importable: ({ moment }) => peopleImport(moment),
    listing: {
      summary: 'List people',
      description:
        'Includes inactive people, so that old user IDs still resolve. By default, sorted by name. `sort=relevance` ' +
        'needs `q`: names that start with the text come first, then names with a word that starts with it.',
      filters: personnelFilters,
      sorts: personnelSorts,
      list: async ({ database, actor, moment }, { filters, sort }) =>
        personnelList(await resolveFilters({ database, actor }, filters), moment, sort),
    },
  });
}
