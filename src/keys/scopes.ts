export const scopes = [
  'personnel.read',
  'personnel.manage',
  'projects.read',
  'projects.manage',
  'events.read',
  'events.manage',
  'keys.read',
  'keys.manage',
] as const;

export type Scope = (typeof scopes)[number];

/** `X.manage` grants `X.read`; nothing else is implied. */
export const grants = (held: readonly Scope[], needed: Scope) =>
  held.includes(needed) || held.includes(needed.replace('.read', '.manage') as Scope);
