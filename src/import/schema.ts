import { type Static, Type } from 'typebox';
import { Line, OneOf, OrNull, optional, Strict, Time } from '../core/schemas.ts';
import { dateOrders } from './languages/dates.ts';
import { presetNames } from './recognize/presets.ts';
import { unknownPeople } from './references/people.ts';

const modes = ['create', 'upsert', 'sync'] as const;
const unknownColumns = ['skip', 'attributes', 'reject'] as const;

export const ImportQuery = Strict(
  optional({
    mode: OneOf(modes, {
      default: 'create',
      description:
        '`upsert` updates existing resources, found by id, `external_id`, email or key, and creates the rest. `sync`, for ' +
        'personnel and groups, also deactivates people, or removes members, whom an earlier sync with the same `source` ' +
        'brought and who are missing now.',
    }),
    atomic: Type.Boolean({
      default: false,
      description: 'Import all rows or none: a single failed row rolls back the import.',
    }),
    dry_run: Type.Boolean({
      default: false,
      description: 'Report what would happen without changing anything.',
    }),
    source: Line({
      maxLength: 100,
      description: 'With `mode=sync`: the name of the system that the file comes from, such as `hr`.',
    }),
    max_leaving: Type.Integer({
      minimum: 0,
      maximum: 100,
      default: 5,
      description:
        'With `mode=sync`: the percentage of those whom the source brought that may be missing. If more are, nobody is ' +
        'deactivated or removed, and the error lists them. One is always allowed, unless it is 0.',
    }),
    handover_to: Line({
      description:
        'With `mode=sync` of personnel: who takes over from those who are deactivated: `manager`, or the ID of a person or ' +
        'group. Needs `projects.manage` too. By default nothing is handed over.',
    }),
    results: OneOf(['all', 'changed'], {
      default: 'all',
      description: '`changed` leaves out the results of rows that are unchanged and have no warning.',
    }),
    map: Type.Array(Type.String({ maxLength: 1000 }), {
      maxItems: 200,
      description:
        'Assigns columns to fields if the column names are not recognized: ' +
        '`Full name=name,Badge=attributes.badge,Notes=`. An empty field ignores the column.',
    }),
    map_values: Type.Array(Type.String({ maxLength: 1000 }), {
      maxItems: 200,
      description:
        'Assigns texts of a column to values of its field: `Status:Parked=monitoring,Status:Dead=closed`, or to people: ' +
        '`Owner:jdoe=jane@example.com`. An empty value clears the field; `Owner:kjohnson=*` creates the person as a ' +
        'placeholder, which also requires the scope `personnel.manage`. Of projects, `project:Roof=APOLLO` assigns one, ' +
        '`project:Roof=*` creates it, and `project:Roof=` leaves its rows out.',
    }),
    scales: Type.Array(Type.String({ maxLength: 1000 }), {
      maxItems: 200,
      description:
        'The scales of ratings that the file itself does not show: `Impact=1-10,Likelihood=percent`. The lowest number is 0 ' +
        'or 1, the highest at most 100; `5-1` says that 1 is the highest rating.',
    }),
    set: Type.Array(Type.String({ maxLength: 1000 }), {
      maxItems: 200,
      description:
        'Values for fields that a row has no value for: `raised_on:2026-01-01,category:Technical`. They are read like cells.',
    }),
    mapping: Line({
      description:
        'The name of a mapping, such as `jira-apollo`: its parameters are added to those of the request.',
    }),
    unknown_columns: OneOf(unknownColumns, {
      description:
        'What to do with unknown columns: `skip` them (default for tables), keep them as `attributes`, or `reject` the ' +
        'file (default for NDJSON: the row).',
    }),
    unknown_people: OneOf(unknownPeople, {
      default: 'error',
      description:
        'What to do with texts that match nobody in a column for people: an `error` of the row; `leave_empty`, with a ' +
        'warning, which changes nothing of an existing row; or `create` the people as placeholders, which also requires the ' +
        'scope `personnel.manage`. `summary.unknown_people` lists them. `map_values` decides about single names.',
    }),
    preset: OneOf([...presetNames, 'none'], {
      description: 'The tool that wrote the file. By default it is detected from the columns.',
    }),
    date_order: OneOf(dateOrders, {
      description: 'The order of dates such as 03/04/2026, if the file itself does not show it.',
    }),
    include: OneOf(['failed_data', 'data'], {
      description:
        '`failed_data` adds the cells of each failed row to its result as `data`, to fix and import them again; `data` ' +
        'adds the cells of every row.',
    }),
    sheet: Line({
      description:
        'The sheet of a workbook to import. Default: the one named after the resource, such as `Risks`, or else the first ' +
        'one with its columns.',
    }),
    charset: Type.String({
      format: 'charset',
      maxLength: 40,
      description:
        'The encoding of a CSV file, such as `windows-1252`. By default the one in `Content-Type`, or else UTF-8 or UTF-16 ' +
        'with a byte order mark; a file that is not UTF-8 is read as Windows-1252.',
      examples: ['windows-1252'],
    }),
    header_row: Type.Integer({
      minimum: 1,
      maximum: 1000,
      description:
        'The line of a table with the names of its columns. By default it is found. Lines above it are skipped; a second ' +
        'line of names is combined with the first.',
    }),
  }),
);
export type ImportQuery = Static<typeof ImportQuery>;

/** The parameters of an import whose rows name their projects. */
export const AcrossProjectsQuery = Strict({
  ...ImportQuery.properties,
  ...optional({
    create_projects: Type.Boolean({
      default: false,
      description: 'Create the projects that rows name and that do not exist.',
    }),
  }),
});
export type AcrossProjectsQuery = Static<typeof AcrossProjectsQuery>;

const Count = Type.Integer({ minimum: 0 });

export const ImportSummary = Strict(
  {
    rows: Count,
    created: Count,
    updated: Count,
    unchanged: Count,
    failed: Count,
    skipped: Type.Integer({
      description:
        'Rows without an error that an atomic import did not write, and those of projects that `map_values` leaves out.',
    }),
    mode: OneOf(modes),
    atomic: Type.Boolean(),
    dry_run: Type.Boolean({ description: 'Whether nothing was changed.' }),
    started_at: Time({
      description: 'Lists with `updated_since` at this time contain what the import wrote.',
    }),
    leavers: Type.Optional(
      Type.Array(
        Strict({
          id: Type.String({ description: 'The person; of groups, the group and the person.' }),
          name: Type.String(),
          error: Type.Optional(Type.String({ description: 'Why nothing was changed.' })),
        }),
        {
          description:
            'With `mode=sync`: who was deactivated, or removed from a group, because the file does not contain them.',
        },
      ),
    ),
    kept: Type.Optional(
      Type.Array(
        Strict({
          id: Type.String(),
          name: Type.String(),
          source: Type.String({ description: 'The other source that has the person.' }),
        }),
        {
          description:
            'With `mode=sync`: who is missing in the file and stays active, because a sync of another source has brought ' +
            'them and not dropped them since.',
        },
      ),
    ),
    returned: Type.Optional(
      Type.Array(Strict({ id: Type.String(), name: Type.String() }), {
        description:
          'With `mode=sync`: who was activated again, because a sync had deactivated them, nobody has changed that since, ' +
          'and the file contains them.',
      }),
    ),
    columns: Type.Record(Type.String(), Type.String(), {
      description: 'The field that each column was imported into.',
    }),
    ignored_columns: Type.Array(Type.String(), {
      description: 'Columns that the service sets itself or that `map` ignores.',
    }),
    skipped_cells: Type.Array(
      Strict({
        column: OrNull(
          Type.String({
            description:
              'The name of the column. Null for a column without a name, and for a line above the header.',
          }),
        ),
        position: Type.Optional(
          Type.Integer({ description: 'The position of the column in a table, from 1.' }),
        ),
        line: Type.Integer({ description: 'The first line with such a cell.' }),
        cells: Type.Integer({ description: 'The number of cells that are not empty.' }),
        reason: Type.String({ description: 'Why they were not stored.' }),
      }),
      { description: 'The cells that no result mentions and that were not stored, by column.' },
    ),
    unknown_columns: Type.Record(Type.String(), Type.String(), {
      description:
        'Columns that were skipped because they are unknown or repeat another one, with a suggestion.',
    }),
    values: Type.Record(Type.String(), Type.Record(Type.String(), Type.String()), {
      description:
        'By column: the value that each text was read as, if it differs, up to 50 short texts; `readings` has all. Change it ' +
        'with `map_values`.',
    }),
    readings: Type.Array(
      Strict({
        column: Type.String(),
        text: Type.String({
          description:
            'The text in the file; of dates, the first in each notation. Empty for a value that the file does not state, such as ' +
            'the severity of issues.',
        }),
        value: Type.String({ description: 'What it was read as.' }),
        cells: Count,
      }),
      {
        description:
          'Each text that was read as another value, up to 1,000 of a column, with its number of cells.',
      },
    ),
    unknown_values: Type.Record(Type.String(), Type.Array(Type.String()), {
      description: 'By column: texts that no value was found for. Assign one with `map_values`.',
    }),
    unknown_people: Type.Array(
      Strict({
        text: Type.String({ description: 'The name, address or ID in the file.' }),
        columns: Type.Array(Type.String(), { description: 'The columns that contain it.' }),
        cells: Count,
        line: Type.Integer({ description: 'The first line with it.' }),
        result: OneOf(['failed', 'left_empty', 'created']),
        user_id: Type.Optional(Type.String({ description: 'The placeholder that was created.' })),
      }),
      {
        description:
          'Each text that matched nobody in a column for people, up to 1,000, and what `unknown_people` did with it. ' +
          'Assign it to a person with `map_values`.',
      },
    ),
    choices: Type.Record(Type.String(), Type.Array(Type.String()), {
      description: 'By column in `values` or `unknown_values`: the values that its field accepts.',
    }),
    preset: OrNull(OneOf(presetNames, { description: 'The tool that wrote the file.' })),
    date_order: OrNull(OneOf(dateOrders)),
    sheet: OrNull(Type.String({ description: 'The imported sheet of a workbook.' })),
    sheets: Type.Array(Type.String(), {
      description: 'The sheets of a workbook that are not hidden. Choose one with `sheet`.',
    }),
    header_row: OrNull(
      Type.Integer({ description: 'The line of a table that the names of its columns were read from.' }),
    ),
    first_lines: Type.Array(
      Strict({ line: Type.Integer(), text: Type.String({ description: 'Its cells, shortened.' }) }),
      { description: 'The first lines of a table. Choose the one with the names with `header_row`.' },
    ),
    charset: OrNull(
      Type.String({ description: 'The encoding that a CSV file was read in. Change it with `charset`.' }),
    ),
    explanation: Type.String({ description: 'What was understood of the file, in a few sentences.' }),
  },
  { $id: 'ImportSummary' },
);
export type ImportSummary = Static<typeof ImportSummary>;

const RowError = Strict({
  pointer: Type.Optional(Type.String({ description: 'The field.', examples: ['#/email'] })),
  column: Type.Optional(Type.String({ description: 'Its column in the file.', examples: ['E-mail'] })),
  code: Type.String(),
  detail: Type.String({ description: 'What is wrong and what to do.' }),
});

export const ImportResult = Strict(
  {
    line: Type.Integer({ minimum: 1, description: 'The line of the file on which the row starts.' }),
    status: OneOf(['created', 'updated', 'unchanged', 'failed', 'skipped']),
    id: Type.Optional(Type.String({ description: 'The ID of the resource.' })),
    key: Type.Optional(Type.String({ examples: ['APOLLO-R7'] })),
    changed: Type.Optional(Type.Array(Line(), { description: 'The fields that changed in an updated row.' })),
    data: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description:
          'The cells of the row by column, with `include`. Left out beyond 32 Mi characters of failed rows, and as many of ' +
          'other rows.',
      }),
    ),
    errors: Type.Optional(Type.Array(RowError)),
    warnings: Type.Optional(
      Type.Array(RowError, { description: 'What is odd about a row that was imported.' }),
    ),
  },
  { $id: 'ImportResult' },
);
export type ImportResult = Static<typeof ImportResult>;

export const ImportResponse = Strict(
  {
    summary: ImportSummary,
    results: Type.Array(ImportResult, { description: 'One result for each row of the file.' }),
  },
  { $id: 'ImportResponse' },
);
