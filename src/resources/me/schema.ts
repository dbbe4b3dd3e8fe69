import { type Static, Type } from 'typebox';
import { Day, Email, Id, Line, OneOf, OrNull, optional, Strict } from '../../core/schemas.ts';
import { Key, KeyInput } from '../keys/schema.ts';
import { Organization } from '../organization/schema.ts';
import { PasskeyResponse } from '../passkeys/schema.ts';
import { Password } from '../session/schema.ts';
import { Session } from '../sessions/schema.ts';

const { scopes, project_ids, expires_at } = Key.properties;

/** Who makes the request. */
export const Me = Strict(
  {
    type: OneOf(['person', 'key'], { description: 'A person who has signed in, or a key.' }),
    user_id: OrNull(
      Id('person', {
        description: 'The person, or the person whose personal key it is; null for a key of a program.',
      }),
    ),
    key_id: OrNull(Id('key', { description: 'The key in use; null for a person who has signed in.' })),
    name: Line({ description: 'The name of the person or key.' }),
    email: OrNull(Email({ description: 'The e-mail address of the person.' })),
    scopes,
    project_ids,
    expires_at,
    session: OrNull(
      Type.Object(
        {
          id: Session.properties.id,
          way: Session.properties.way,
          created_at: Session.properties.created_at,
          expires_at: Session.properties.expires_at,
        },
        {
          additionalProperties: false,
          description: 'The session of the browser; null for a key in a header.',
        },
      ),
    ),
    time_zone: Type.String({
      description: 'The time zone of the organization, which decides what day it is.',
      examples: ['America/Los_Angeles'],
    }),
    today: Day({ description: 'The current day in that time zone.' }),
    history_from: OrNull(
      Day({
        description:
          'The first day that `as_of`, `since` and trends can have; null if all history is stored. See `MUSTER_HISTORY_RETENTION_DAYS`.',
      }),
    ),
    organization: Strict(
      {
        name: Organization.properties.name,
        first_day_of_week: Organization.properties.first_day_of_week,
        comparison_days: Organization.properties.comparison_days,
      },
      { description: 'What the console shows of the settings of the organization.' },
    ),
    limits: Strict({
      rate_limit: OrNull(Type.Integer({ description: 'Requests per minute; null means no limit.' })),
      rate_burst: OrNull(
        Type.Integer({
          description: 'Requests allowed at once. Further requests are allowed at an even rate.',
        }),
      ),
      body_bytes: Type.Integer({ description: 'Maximum size of a request body.' }),
      public_body_bytes: Type.Integer({
        description: 'Maximum size of a request body without a key or session.',
      }),
      import_bytes: Type.Integer({ description: 'Maximum size of an import file.' }),
      import_rows: Type.Integer({ description: 'Maximum rows of an import file.' }),
      json_depth: Type.Integer(),
      json_values: Type.Integer({
        description: 'Maximum values in a JSON body, including arrays and objects.',
      }),
      name_characters: Type.Integer(),
      text_characters: Type.Integer(),
      page_rows: Type.Integer({
        description: 'Maximum `limit`. Without `limit`, a list is returned in full.',
      }),
      filter_values: Type.Integer({ description: 'Maximum values in one filter.' }),
      bulk_items: Type.Integer({ description: 'Maximum items that one request can change.' }),
    }),
  },
  { $id: 'Me' },
);

export const PasswordInput = Strict(
  { password: Password, ...optional({ current_password: Password }) },
  {
    $id: 'PasswordInput',
    description: '`current_password` is needed if you have one, unless you signed in with a passkey.',
    examples: [
      { password: 'nine sparrows on a warm roof', current_password: 'seven candles in the harbour' },
    ],
  },
);

export const PasskeyInput = Strict({ passkey: PasskeyResponse }, { $id: 'PasskeyInput' });

/** A personal key: its limits are at most those of the person. */
export const PersonalKeyInput = Strict(
  {
    name: KeyInput.properties.name,
    ...optional({ scopes: KeyInput.properties.scopes }),
    project_ids: KeyInput.properties.project_ids,
    expires_at: KeyInput.properties.expires_at,
  },
  {
    $id: 'PersonalKeyInput',
    description: 'Without `scopes` and `project_ids`, those that you have now.',
    examples: [{ name: 'my scripts', scopes: ['projects.read'] }],
  },
);
export type PersonalKeyInput = Static<typeof PersonalKeyInput>;
