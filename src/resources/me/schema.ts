import { Type } from 'typebox';
import { OrNull, Strict } from '../../core/schemas.ts';
import { Key } from '../keys/schema.ts';

const { id, name, scopes, project_ids, expires_at } = Key.properties;

/** What a key may know of itself. */
export const Me = Strict(
  {
    key_id: id,
    name,
    scopes,
    project_ids,
    expires_at,
    limits: Strict({
      rate_limit: OrNull(Type.Integer({ description: 'Requests a minute; null is no limit.' })),
      rate_burst: OrNull(
        Type.Integer({ description: 'How many of them may come at once; more are let in evenly.' }),
      ),
      body_bytes: Type.Integer(),
      public_body_bytes: Type.Integer({ description: 'Of a request that needs no key.' }),
      import_bytes: Type.Integer({ description: 'Of a file to import.' }),
      import_rows: Type.Integer({ description: 'In a file to import.' }),
      json_depth: Type.Integer(),
      json_values: Type.Integer({ description: 'Values in a body, lists and objects included.' }),
      name_characters: Type.Integer(),
      text_characters: Type.Integer(),
      page_rows: Type.Integer({ description: 'The highest `limit`. A list without `limit` is whole.' }),
      filter_values: Type.Integer({ description: 'Values in one filter.' }),
    }),
  },
  { $id: 'Me' },
);
