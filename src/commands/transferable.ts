import type { Kysely } from 'kysely';
import type { TProperties } from 'typebox';
import type { Moment } from '../core/clock.ts';
import { UsageError } from '../core/errors.ts';
import { joinWords, nearest } from '../core/text.ts';
import type { Importable } from '../import/importable.ts';
import type { List } from '../lists/list.ts';
import { groupImport } from '../resources/groups/import.ts';
import { groupList } from '../resources/groups/queries.ts';
import { groupFilters } from '../resources/groups/schema.ts';
import { issueImport } from '../resources/issues/import.ts';
import { issueList } from '../resources/issues/queries.ts';
import { allIssueFilters, projectIssueFilters } from '../resources/issues/schema.ts';
import { peopleImport } from '../resources/personnel/import.ts';
import { personnelList } from '../resources/personnel/queries.ts';
import { personnelFilters } from '../resources/personnel/schema.ts';
import type { ItemImport } from '../resources/project-items/import.ts';
import { projectImport } from '../resources/projects/import.ts';
import { projectList } from '../resources/projects/queries.ts';
import { projectFilters } from '../resources/projects/schema.ts';
import { riskImport } from '../resources/risks/import.ts';
import { riskList } from '../resources/risks/register.ts';
import { projectRiskFilters, riskFilters } from '../resources/risks/schema.ts';
import { taskImport } from '../resources/tasks/import.ts';
import { taskList } from '../resources/tasks/queries.ts';
import { projectTaskFilters, taskFilters } from '../resources/tasks/schema.ts';
import type { Tables } from '../store/tables.ts';

/** What the command line can import and export. */
export type Transferable = {
  filters: TProperties;
  list(filters: never, moment: Moment): List;
} & (
  | { import(moment: Moment): Importable; ofProject?: undefined }
  /** For resources that belong to a project. */
  | { ofProject: { import(db: Kysely<Tables>): Promise<ItemImport>; filters: TProperties } }
);

const transferable: Record<string, Transferable> = {
  personnel: { import: peopleImport, filters: personnelFilters, list: personnelList },
  groups: {
    import: () => groupImport(),
    filters: groupFilters,
    list: (filters: object) => groupList({ ...filters, include: 'members' }),
  },
  projects: { import: projectImport, filters: projectFilters, list: projectList },
  risks: {
    ofProject: { import: riskImport, filters: projectRiskFilters },
    filters: riskFilters,
    list: (filters, moment) => riskList({ filters, moment }, 'rank'),
  },
  issues: {
    ofProject: { import: async () => issueImport, filters: projectIssueFilters },
    filters: allIssueFilters,
    list: issueList,
  },
  tasks: {
    ofProject: { import: async () => taskImport, filters: projectTaskFilters },
    filters: taskFilters,
    list: taskList,
  },
};

const people = ['person', 'people'];

/** Finds what a user means by `risks`, `risk` or `people`. */
export function findTransferable(text: string, done: 'imported' | 'exported'): [string, Transferable] {
  const name = people.includes(text) ? 'personnel' : text;
  const found = Object.entries(transferable).find(([plural]) => name === plural || `${name}s` === plural);
  if (found) return found;
  const names = Object.keys(transferable);
  const meant = nearest(text, names);
  const choices = meant ? `Did you mean ${meant}?` : `Choose from ${joinWords(names)}.`;
  throw new UsageError(`“${text}” cannot be ${done}. ${choices}`);
}

/** Throws if a project is named for what does not belong to one. */
export function rejectProject(what: string): never {
  throw new UsageError(`--project cannot be used with ${what}, which do not belong to a project.`);
}
