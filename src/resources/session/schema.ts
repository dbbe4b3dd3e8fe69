import { Type } from 'typebox';
import { Strict } from '../../core/schemas.ts';

export const SessionInput = Strict(
  { key: Type.String({ description: 'An API key.', maxLength: 200, examples: ['mst_…'] }) },
  { $id: 'SessionInput' },
);
