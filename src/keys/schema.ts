import { type Static, Type } from 'typebox';
import { Id, Line, OneOf, OrNull, Strict, stamps, Time } from '../schemas.ts';
import { scopes } from './scopes.ts';

export const Key = Strict(
  {
    id: Id('key'),
    name: Line({ examples: ['nightly export'] }),
    scopes: Type.Array(OneOf(scopes), { minItems: 1, uniqueItems: true, examples: [['personnel.read']] }),
    project_ids: OrNull(
      Type.Array(Id('project'), { description: 'The projects this key is limited to; null is all.' }),
    ),
    expires_at: OrNull(Time()),
    rate_limit: OrNull(Type.Integer({ minimum: 0, description: "A minute; null is the service's own." })),
    prefix: Type.String({ description: 'How the secret starts.', examples: ['mst_7Qd2'] }),
    last_four: Type.String({ examples: ['k3Xz'] }),
    last_used_at: OrNull(Time()),
    revoked_at: OrNull(Time()),
    ...stamps,
  },
  { $id: 'Key' },
);
export type Key = Static<typeof Key>;
