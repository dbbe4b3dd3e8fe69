import { type Static, Type } from 'typebox';
import { Id, Line, OrNull, Strict, Text, Time } from '../../core/schemas.ts';

export const HistoryEntry = Strict(
  {
    id: Id('history'),
    at: Time(),
    key_id: OrNull(Id('key', { description: 'The key that made the change; null is the service itself.' })),
    key_name: Line({ description: 'The name of the key at that time.' }),
    field: Line({
      description:
        'The field that changed. `created` and `deleted` are the whole thing; `member` of a group and `group` of a person are who joined or left what.',
    }),
    from: Type.Unknown({ description: 'The value before.' }),
    to: Type.Unknown({ description: 'The value after.' }),
    reason: OrNull(Text({ description: 'Why, where it was said.' })),
  },
  { $id: 'HistoryEntry' },
);
export type HistoryEntry = Static<typeof HistoryEntry>;
