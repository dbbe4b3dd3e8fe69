import type { Subject } from './event-types.ts';

/**
 * The queries that only some events affect, by the first part of their key. All other queries depend on every event but
 * sign-ins.
 */
export const dependencies: Readonly<Record<string, readonly Subject[]>> = {
  reports: ['report'],
  risks: ['risk', 'risk_model', 'project', 'person', 'group'],
  issues: ['issue', 'project', 'person', 'group'],
  tasks: ['task', 'project', 'person', 'group'],
  personnel: ['person', 'group'],
  groups: ['person', 'group'],
  members: ['person', 'group'],
  keys: ['key'],
  access: ['access', 'session', 'person', 'project'],
  sessions: ['access', 'session'],
  audit: ['access', 'session', 'key'],
  'risk-model': ['risk_model'],
  organization: ['organization'],
  categories: ['category', 'risk', 'project'],
  'sign-in-ways': [],
  account: ['access', 'key', 'session'],
};

export const isAffected = (query: unknown, subjects: readonly Subject[]) =>
  dependencies[String(query)]?.some((subject) => subjects.includes(subject)) ??
  subjects.some((subject) => subject !== 'session');
