import { type Static, Type } from 'typebox';
import { Id, Line, OneOf, OrNull, Strict, Text, Time } from '../../core/schemas.ts';

/** Who made a change or wrote a comment. */
export const Actor = Strict(
  {
    type: OneOf(['person', 'key', 'service'], {
      description: '`service` is Muster itself, or its command line.',
    }),
    user_id: OrNull(
      Id('person', { description: 'The person who signed in, or whose personal key was used; else null.' }),
    ),
    key_id: OrNull(Id('key', { description: 'The key that was used; null for a person who signed in.' })),
    name: Line({ description: 'The name of the person or key at that time.' }),
  },
  { $id: 'Actor' },
);
export type Actor = Static<typeof Actor>;

export const HistoryEntry = Strict(
  {
    id: Id('history'),
    at: Time(),
    actor: Actor,
    key_id: OrNull(Id('key', { description: 'The same as `actor.key_id`.' })),
    key_name: Line({ description: 'The same as `actor.name`.' }),
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
