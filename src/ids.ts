import { v7 as uuidv7 } from 'uuid';

export const prefixes = {
  person: 'usr',
  group: 'grp',
  project: 'prj',
  risk: 'rsk',
  issue: 'iss',
  task: 'tsk',
  key: 'key',
  history: 'hst',
} as const;

export type IdKind = keyof typeof prefixes;

/** A UUIDv7 in base 32: opaque, ordered by time, safe in a URL and in a file name. */
export function newId(kind: IdKind): string {
  const digits = BigInt(`0x${uuidv7().replaceAll('-', '')}`)
    .toString(32)
    .padStart(26, '0');
  return `${prefixes[kind]}_${digits}`;
}

export const idPattern = (kind: IdKind) => `^${prefixes[kind]}_[0-9a-v]{26}$`;
