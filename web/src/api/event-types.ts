import type { Event as ChangeEvent } from './openapi.ts';
import type { Scope } from './session.ts';

export type { ChangeEvent };
export type EventType = ChangeEvent['type'];
export type Subject = ChangeEvent['subject']['type'];

/** `risk.level_raised` → `risk`. */
export const subjectOf = (type: string) => type.slice(0, type.indexOf('.')) as Subject;

/** The subjects in the order in which forms show them, and the scope that a key needs to read the events about each. */
export const subjectScopes: Readonly<Record<Subject, Scope>> = {
  project: 'projects.read',
  risk: 'projects.read',
  risk_model: 'projects.read',
  issue: 'projects.read',
  task: 'projects.read',
  comment: 'projects.read',
  report: 'projects.read',
  category: 'projects.read',
  organization: 'projects.read',
  person: 'personnel.read',
  group: 'personnel.read',
  access: 'keys.read',
  key: 'keys.read',
  session: 'keys.read',
  webhook: 'events.read',
};
