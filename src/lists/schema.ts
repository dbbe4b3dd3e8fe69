import { type TProperties, type TSchema, Type } from 'typebox';
import { mediaTypes, OrNull, Strict } from '../core/schemas.ts';
import { listMediaTypes } from './formats.ts';

/** The body of a list: never a bare array. */
export const ListOf = (row: TSchema, meta: TProperties = {}) =>
  Strict(
    {
      data: Type.Array(row),
      page: Strict({
        limit: OrNull(Type.Integer({ description: 'null when the whole list was asked for.' })),
        next_cursor: OrNull(Type.String()),
        has_more: Type.Boolean(),
        total: OrNull(Type.Integer({ description: 'Of a whole list, or with `count=true`.' })),
      }),
      meta: Strict({
        filters: Type.Record(Type.String(), Type.Unknown(), {
          description: 'What was applied, defaults included.',
        }),
        ...meta,
      }),
    },
    { [mediaTypes]: listMediaTypes },
  );

/** The body of what is counted rather than listed. */
export const SummaryOf = (data: TSchema) =>
  Strict({
    data,
    meta: Strict({
      filters: Type.Record(Type.String(), Type.Unknown(), {
        description: 'What was applied, defaults included.',
      }),
    }),
  });
