import { enumValues } from './client.ts';
import type { Event as ChangeEvent } from './openapi.ts';
import type { Scope } from './session.ts';

export type { ChangeEvent };
export type EventType = ChangeEvent['type'];
export type Subject = ChangeEvent['subject']['type'];

/** All event types, grouped by subject. */
export const eventTypes = enumValues<EventType>({
  'project.created': true,
  'project.updated': true,
  'project.archived': true,
  'project.unarchived': true,
  'project.deleted': true,
  'risk.created': true,
  'risk.updated': true,
  'risk.score_changed': true,
  'risk.level_raised': true,
  'risk.level_lowered': true,
  'risk.accepted': true,
  'risk.acceptance_expired': true,
  'risk.review_overdue': true,
  'risk.materialized': true,
  'risk.closed': true,
  'risk.reopened': true,
  'risk.deleted': true,
  'issue.created': true,
  'issue.updated': true,
  'issue.overdue': true,
  'issue.resolved': true,
  'issue.closed': true,
  'issue.reopened': true,
  'issue.deleted': true,
  'task.created': true,
  'task.updated': true,
  'task.overdue': true,
  'task.completed': true,
  'task.cancelled': true,
  'task.reopened': true,
  'task.deleted': true,
  'comment.created': true,
  'comment.updated': true,
  'comment.deleted': true,
  'person.created': true,
  'person.updated': true,
  'person.deactivated': true,
  'person.reactivated': true,
  'person.ended': true,
  'person.deleted': true,
  'group.created': true,
  'group.updated': true,
  'group.member_added': true,
  'group.member_removed': true,
  'group.deleted': true,
  'key.created': true,
  'key.updated': true,
  'key.rotated': true,
  'key.revoked': true,
  'key.expiring': true,
  'webhook.created': true,
  'webhook.updated': true,
  'webhook.enabled': true,
  'webhook.disabled': true,
  'webhook.rotated': true,
  'webhook.replayed': true,
  'webhook.deleted': true,
});

/** `risk.level_raised` → `risk`. */
export const subjectOf = (type: string) => type.slice(0, type.indexOf('.')) as Subject;

/** The scope that a key needs to read the events about a subject. */
export const subjectScopes: Readonly<Record<Subject, Scope>> = {
  project: 'projects.read',
  risk: 'projects.read',
  issue: 'projects.read',
  task: 'projects.read',
  comment: 'projects.read',
  person: 'personnel.read',
  group: 'personnel.read',
  key: 'keys.read',
  webhook: 'events.read',
};
