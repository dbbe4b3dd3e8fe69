import type { Importable, SyncTarget } from '../import/importable.ts';
import { memberSync } from './groups/sync.ts';
import { peopleSync } from './handover/sync.ts';

/** What `mode=sync` removes when it is missing in a file. */
export const syncTargets: Partial<Record<Importable['what'], SyncTarget>> = {
  person: peopleSync,
  group: memberSync,
};
