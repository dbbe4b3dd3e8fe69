import { type Static, Type } from 'typebox';
import { Line, OneOf, optional, Strict } from '../core/schemas.ts';

const modes = ['create', 'upsert'] as const;

/** How a file is to be imported. */
export const ImportQuery = Strict(
  optional({
    mode: OneOf(modes, {
      default: 'create',
      description:
        '`upsert` changes what is there already, found by its id, `external_id`, e-mail or key, and makes the rest.',
    }),
    atomic: Type.Boolean({
      default: false,
      description: 'All rows or none: one error, and nothing is changed.',
    }),
    dry_run: Type.Boolean({ default: false, description: 'Say what would happen, and change nothing.' }),
    map: Type.Array(Type.String({ maxLength: 1000 }), {
      maxItems: 200,
      description:
        'Which column is which field, where its name does not tell: `Full name=name,Badge=attributes.badge,Notes=`. ' +
        'A column that is nothing is left out.',
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
    skipped: Type.Integer({ description: 'Rows without an error that an atomic import did not take in.' }),
    mode: OneOf(modes),
    atomic: Type.Boolean(),
    dry_run: Type.Boolean({ description: 'Whether all this is only what would happen.' }),
    columns: Type.Record(Type.String(), Type.String(), {
      description: 'Each column and the field it was taken for.',
    }),
    ignored_columns: Type.Array(Type.String(), { description: 'Set by the service, or left out by `map`.' }),
  },
  { $id: 'ImportSummary' },
);
export type ImportSummary = Static<typeof ImportSummary>;

export const ImportResult = Strict(
  {
    line: Type.Integer({ minimum: 1, description: 'Where the row begins in the file.' }),
    status: OneOf(['created', 'updated', 'unchanged', 'failed', 'skipped']),
    id: Type.Optional(Type.String({ description: 'Of the resource.' })),
    key: Type.Optional(Type.String({ examples: ['APOLLO-R7'] })),
    changed: Type.Optional(
      Type.Array(Line(), { description: 'The fields of an updated row that were changed.' }),
    ),
    errors: Type.Optional(
      Type.Array(
        Strict({
          pointer: Type.Optional(Type.String({ description: 'The field.', examples: ['#/email'] })),
          column: Type.Optional(
            Type.String({ description: 'Its column in the file.', examples: ['E-mail'] }),
          ),
          code: Type.String(),
          detail: Type.String({ description: 'What is wrong, and what to do.' }),
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
    results: Type.Array(ImportResult, { description: 'One for each row of the file.' }),
  },
  { $id: 'ImportResponse' },
);
