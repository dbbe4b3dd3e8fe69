import { type TProperties, type TSchema, Type } from 'typebox';
import { mediaTypes, OrNull, Strict } from '../core/schemas.ts';
import { listMediaTypes } from './formats.ts';

const filters = Type.Record(Type.String(), Type.Unknown(), {
  description: 'The applied filters, including defaults.',
});

/** The body of a list: an object, so that fields can be added later. */
export const ListOf = (row: TSchema, meta: TProperties = {}) =>
  Strict(
    {
      data: Type.Array(row),
      page: Strict({
        limit: OrNull(Type.Integer({ description: '`null` for a whole list.' })),
        next_cursor: OrNull(Type.String()),
        has_more: Type.Boolean(),
        total: OrNull(
          Type.Integer({
            description: 'All rows that match, for a whole list or with `count=true`; otherwise `null`.',
          }),
        ),
      }),
      meta: Strict({ filters, ...meta }),
    },
    { $id: `${idOf(row)}List`, [mediaTypes]: listMediaTypes },
  );

/** The body of a summary, such as counts over a list. */
export const SummaryOf = (data: TSchema) =>
  Strict({ data, meta: Strict({ filters }) }, { $id: `${idOf(data)}Response` });

/** Named, so that generated clients have a type for it. */
const idOf = (schema: TSchema) => {
  const { $id } = schema as { $id?: string };
  if ($id === undefined) throw new Error('The rows of a list need an $id.');
  return $id;
};
