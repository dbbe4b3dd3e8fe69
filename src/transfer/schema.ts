import { type Static, Type } from 'typebox';
import { Line, OneOf, optional, Strict } from '../core/schemas.ts';

const modes = ['create', 'upsert'] as const;

export const ImportQuery = Strict(
  optional({
    mode: OneOf(modes, {
      default: 'create',
      description:
        '`upsert` updates existing resources, found by id, `external_id`, e-mail or key, and creates the rest.',
    }),
    atomic: Type.Boolean({
      default: false,
      description: 'Import all rows or none: a single failed row rolls back the import.',
    }),
    dry_run: Type.Boolean({
      default: false,
      description: 'Report what would happen without changing anything.',
    }),
    map: Type.Array(Type.String({ maxLength: 1000 }), {
      maxItems: 200,
      description:
        'Assigns columns to fields if the column names are not recognized: ' +
        '`Full name=name,Badge=attributes.badge,Notes=`. An empty field ignores the column.',
    }),
  }),
);
export type ImportQuery = Static<typeof ImportQuery>;

const Count = Type.Integer({ minimum: 0 });

export const ImportSummary = Strict(
  {
    rows: Count,
    created: Count,
    updated: Count,
    unchanged: Count,
    failed: Count,
    skipped: Type.Integer({ description: 'Rows without an error that an atomic import did not write.' }),
    mode: OneOf(modes),
    atomic: Type.Boolean(),
    dry_run: Type.Boolean({ description: 'Whether nothing was changed.' }),
    columns: Type.Record(Type.String(), Type.String(), {
      description: 'The field that each column was imported into.',
    }),
    ignored_columns: Type.Array(Type.String(), {
      description: 'Columns that the service sets itself or that `map` ignores.',
    }),
  },
  { $id: 'ImportSummary' },
);
export type ImportSummary = Static<typeof ImportSummary>;

export const ImportResult = Strict(
  {
    line: Type.Integer({ minimum: 1, description: 'The line of the file on which the row starts.' }),
    status: OneOf(['created', 'updated', 'unchanged', 'failed', 'skipped']),
    id: Type.Optional(Type.String({ description: 'The ID of the resource.' })),
    key: Type.Optional(Type.String({ examples: ['APOLLO-R7'] })),
    changed: Type.Optional(Type.Array(Line(), { description: 'The fields that changed in an updated row.' })),
    errors: Type.Optional(
      Type.Array(
        Strict({
          pointer: Type.Optional(Type.String({ description: 'The field.', examples: ['#/email'] })),
          column: Type.Optional(
            Type.String({ description: 'Its column in the file.', examples: ['E-mail'] }),
          ),
          code: Type.String(),
          detail: Type.String({ description: 'What is wrong and what to do.' }),
        }),
      ),
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
