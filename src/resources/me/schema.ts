import { Type } from 'typebox';
import { Day, OrNull, Strict } from '../../core/schemas.ts';
import { Key } from '../keys/schema.ts';

const { id, name, scopes, project_ids, expires_at } = Key.properties;

/** The key in use. Any key can read it, whatever its scopes. */
export const Me = Strict(
  {
    key_id: id,
    name,
    scopes,
    project_ids,
    expires_at,
    time_zone: Type.String({
      description: 'The time zone of the organization, which decides what day it is.',
      examples: ['America/Los_Angeles'],
    }),
    today: Day({ description: 'The current day in that time zone.' }),
    limits: Strict({
      rate_limit: OrNull(Type.Integer({ description: 'Requests per minute; null means no limit.' })),
      rate_burst: OrNull(
        Type.Integer({
          description: 'Requests allowed at once. Further requests are allowed at an even rate.',
        }),
      ),
      body_bytes: Type.Integer({ description: 'Maximum size of a request body.' }),
      public_body_bytes: Type.Integer({ description: 'Maximum size of a request body without a key.' }),
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
