import type { Subject } from './event-types.ts';

/**
 * The queries that only some events affect, by the first part of their key. All other queries depend on every event but
 * sign-ins.
 */
export const dependencies: Readonly<Record<string, readonly Subject[]>> = {
  reports: ['report'],
  // What is overdue or assignable depends on the day, which is that of the organization.
  risks: ['risk', 'risk_model', 'project', 'person', 'group', 'issue', 'task', 'organization'],
  issues: ['issue', 'project', 'person', 'group', 'organization'],
  tasks: ['task', 'project', 'person', 'group', 'organization'],
  personnel: ['person', 'group', 'organization'],
  groups: ['person', 'group'],
  members: ['person', 'group', 'organization'],
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
