import type { ImportSummary } from '../api/openapi.ts';

/** What the user has decided about a file. */
export type Settings = {
  mode: ImportSummary['mode'];
  atomic: boolean;
  /** Overrides what the service makes of a column: the name of a field, or '' to skip the column. */
  map: Readonly<Record<string, string>>;
  /** Overrides the value that the service reads a text as: by field, then by text. */
  map_values: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Who the names are that match nobody, by name. */
  people: Readonly<Record<string, PersonChoice>>;
  /** What happens to the other names that match nobody. */
  unknown_people: PeoplePolicy;
  /**
   * What becomes of the rows of projects that do not exist, by the text in the file: the key of a project, `*` to create it,
   * '' to leave them out.
   */
  projects: Readonly<Record<string, string>>;
  /** Values for rows that have none, by field. */
  set: Readonly<Record<string, string>>;
  /** The scales of ratings, by column, if the file leaves them open. */
  scales: Readonly<Record<string, string>>;
  /** The order of day and month, if the file leaves it open. */
  date_order?: NonNullable<ImportSummary['date_order']>;
  sheet?: string;
  header_row?: number;
  charset?: string;
  /** The name of a saved mapping. */
  mapping?: string;
  /** Whether the other projects that do not exist are created. */
  create_projects: boolean;
};

export type PeoplePolicy = 'error' | 'leave_empty' | 'create';

/** A name of the file, where it is, and what becomes of it. */
export type PersonChoice = Pick<UnknownPerson, 'columns' | 'cells' | 'line'> & {
  /** The id of a person or group; `*` to create a placeholder, '' to leave the cells empty; nothing while it is open. */
  value?: string;
  /** The name of the person or group. */
  name?: string;
};

type UnknownPerson = ImportSummary['unknown_people'][number];

export const createdItem = '*';

export const defaults: Settings = {
  mode: 'create',
  atomic: false,
  map: {},
  map_values: {},
  people: {},
  unknown_people: 'error',
  projects: {},
  set: {},
  scales: {},
  create_projects: false,
};

/** The settings for another table: another file, sheet, header or encoding. */
export const withoutColumns = ({ date_order: _, ...settings }: Settings): Settings => ({
  ...settings,
  map: {},
  map_values: {},
  people: {},
  projects: {},
  scales: {},
});

/** The parameters about the columns and values of a file, which a mapping can hold. */
export function columnParameters(settings: Settings): Record<string, string> {
  const { map, map_values, people, projects, unknown_people } = settings;
  const { set, scales, date_order, sheet, header_row } = settings;
  const lists = {
    map: Object.entries(map).map(([column, field]) => `${column}=${field}`),
    map_values: [
      ...Object.entries(map_values).flatMap(([field, texts]) =>
        Object.entries(texts).map(([text, value]) => `${field}:${text}=${value}`),
      ),
      ...Object.entries(people).flatMap(([text, { columns, value }]) =>
        value === undefined ? [] : columns.map((column) => `${column}:${text}=${value}`),
      ),
      ...Object.entries(projects).map(([text, choice]) => `project:${text}=${choice}`),
    ],
    scales: Object.entries(scales).map(([column, scale]) => `${column}=${scale}`),
    set: Object.entries(set)
      .filter(([, value]) => value !== '')
      .map(([field, value]) => `${field}:${value}`),
  };
  return {
    ...Object.fromEntries(
      Object.entries(lists).flatMap(([name, pairs]) => (pairs.length > 0 ? [[name, pairs.join(',')]] : [])),
    ),
    ...(unknown_people !== 'error' && { unknown_people }),
    ...(date_order && { date_order }),
    ...(sheet !== undefined && { sheet }),
    ...(header_row !== undefined && { header_row: String(header_row) }),
  };
}

/** Whether the user has decided anything that closing the dialog would lose. */
export const hasChoices = (settings: Settings) => Object.keys(columnParameters(settings)).length > 0;
