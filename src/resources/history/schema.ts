import { type Static, Type } from 'typebox';
import { Id, Line, OrNull, Strict, Text, Time } from '../../core/schemas.ts';

export const HistoryEntry = Strict(
  {
    id: Id('history'),
    at: Time(),
    key_id: OrNull(
      Id('key', { description: 'The key that was used for the change; null for the service itself.' }),
    ),
    key_name: Line({ description: 'Name of the key at the time of the change.' }),
    field: Line({
      description:
        'The changed field. `created` and `deleted` stand for the whole resource. `member` (of a group) and `group` (of a person) record a person joining or leaving a group. `handover_to_user_id` and `handover_to_group_id` record who took over from a deactivated person.',
    }),
    from: Type.Unknown({ description: 'Value before the change.' }),
    to: Type.Unknown({ description: 'Value after the change.' }),
    reason: OrNull(Text({ description: 'Reason for the change, if one was given.' })),
  },
  { $id: 'HistoryEntry' },
);
export type HistoryEntry = Static<typeof HistoryEntry>;
