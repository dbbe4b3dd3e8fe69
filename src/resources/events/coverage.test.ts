import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { onBothEngines, pluck } from '../../../test/service.ts';
import { defaultModel } from '../risk-model/schema.ts';
import type { Event } from './schema.ts';

type Operations = Record<string, { operationId: string }>;

/** The operations that may change data, from the API document: `POST /v1/personnel` by operation id. */
const operations = new Map(
  Object.entries(
    JSON.parse(readFileSync('openapi.json', 'utf8')).paths as Record<string, Operations>,
  ).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => ['post', 'put', 'patch', 'delete'].includes(method))
      .map(([method, { operationId }]) => [operationId, { method: method.toUpperCase(), path }] as const),
  ),
);

/** Operations that change no resource. */
const withoutEvents = [
  'evaluateRisk',
  'createSession',
  'deleteSession',
  'testWebhook',
  'redeliverWebhookDelivery',
  'createView',
  'updateView',
  'deleteView',
  'createMapping',
  'updateMapping',
  'deleteMapping',
];

/** Operations of people who sign in, which need a session: their own tests look at their events. */
const ofPeople = [
  'acceptInvitation',
  'checkInvitation',
  'createInvitationChallenge',
  'createMyKey',
  'createMyPasskey',
  'createMyPasskeyChallenge',
  'createPasskeyChallenge',
  'deleteMyPasskey',
  'deleteMyPassword',
  'deleteMySessions',
  'deleteSessionById',
  'endOidcSessions',
  'revokeMyKey',
  'setMyPassword',
];

const today = new Date().toISOString().slice(0, 10);

/** Requests in order: operation, body, the types of its events. `{…}` in a path is the id of the latest such resource. */
const requests: [operation: string, body: unknown, types: string[]][] = [
  ['createPerson', { name: 'Grace', email: 'grace@example.com' }, ['person.created']],
  ['setAccess', { scopes: ['projects.read'] }, ['access.created']],
  ['setAccess', { scopes: ['projects.manage'] }, ['access.updated']],
  ['invitePerson', undefined, ['access.invited']],
  ['deleteAccess', undefined, ['access.deleted']],
  ['updatePerson', { title: 'Admiral' }, ['person.updated']],
  ['createGroup', { name: 'Navy' }, ['group.created']],
  ['updateGroup', { description: 'ships' }, ['group.updated']],
  ['addMember', undefined, ['group.member_added']],
  ['removeMember', undefined, ['group.member_removed']],
  ['addMembers', { user_ids: ['{user_id}'] }, ['group.member_added']],
  ['deleteGroup', undefined, ['group.member_removed', 'group.deleted']],
  ['importGroups', 'name\nArmy\n', ['group.created']],
  ['createPerson', { name: 'Hopper' }, ['person.created']],
  ['createGroup', { name: 'Wing', lead_user_id: '{user_id}' }, ['group.created']],
  [
    'deactivatePerson',
    { handover_to_user_id: '{previous_user_id}' },
    ['group.updated', 'person.deactivated'],
  ],
  ['undoHandover', {}, ['group.updated', 'person.reactivated']],
  ['updateGroup', { lead_user_id: null }, ['group.updated']],
  ['deactivatePerson', {}, ['person.deactivated']],
  ['reactivatePerson', {}, ['person.reactivated']],
  ['deletePerson', undefined, ['person.deleted']],
  ['importPersonnel', 'name\nA\nB\n', ['person.created', 'person.created']],
  ['createProject', { name: 'Apollo' }, ['project.created']],
  ['updateProject', { appetite: 9 }, ['project.updated']],
  ['createProjectComment', { body: 'First' }, ['comment.created']],
  ['updateProjectComment', { body: 'Second' }, ['comment.updated']],
  ['deleteProjectComment', undefined, ['comment.deleted']],
  ['archiveProject', {}, ['project.archived']],
  ['unarchiveProject', {}, ['project.unarchived']],
  ['createRisk', { title: 'Leak', probability: 2, impact: 2 }, ['risk.created']],
  ['updateRisk', { impact: 5 }, ['risk.level_raised']],
  ['updateRisks', { items: [{ id: '{id}' }], changes: { impact: 2 } }, ['risk.level_lowered']],
  ['createRiskComment', { body: 'First' }, ['comment.created']],
  ['updateRiskComment', { body: 'Second' }, ['comment.updated']],
  ['deleteRiskComment', undefined, ['comment.deleted']],
  ['deleteRisk', undefined, ['risk.deleted']],
  ['createRisk', { title: 'Fire' }, ['risk.created']],
  ['materializeRisk', {}, ['issue.created', 'risk.materialized']],
  ['importRisks', 'title,status,closure_reason\nX,open,\nY,closed,done\n', ['risk.created', 'risk.created']],
  ['importRisksAcrossProjects', 'project,title\nAPOLLO,X\n', ['risk.created']],
  ['createIssue', { title: 'Broken' }, ['issue.created']],
  ['updateIssue', { status: 'resolved', resolution: 'fixed' }, ['issue.resolved']],
  ['updateIssues', { items: [{ id: '{id}' }], changes: { status: 'closed' } }, ['issue.closed']],
  ['createIssueComment', { body: 'First' }, ['comment.created']],
  ['updateIssueComment', { body: 'Second' }, ['comment.updated']],
  ['deleteIssueComment', undefined, ['comment.deleted']],
  ['deleteIssue', undefined, ['issue.deleted']],
  ['importIssues', 'title\nX\n', ['issue.created']],
  ['importIssuesAcrossProjects', 'project,title\nAPOLLO,X\n', ['issue.created']],
  ['createTask', { title: 'Repair' }, ['task.created']],
  ['updateTask', { status: 'done' }, ['task.completed']],
  ['updateTasks', { items: [{ id: '{id}' }], changes: { status: 'todo' } }, ['task.reopened']],
  ['createTaskComment', { body: 'First' }, ['comment.created']],
  ['updateTaskComment', { body: 'Second' }, ['comment.updated']],
  ['deleteTaskComment', undefined, ['comment.deleted']],
  ['deleteTask', undefined, ['task.deleted']],
  ['importTasks', 'title\nX\n', ['task.created']],
  ['importTasksAcrossProjects', 'project,title\nAPOLLO,X\n', ['task.created']],
  ['createProject', { name: 'Gemini' }, ['project.created']],
  ['deleteProject', undefined, ['project.deleted']],
  ['importProjects', 'name\nMercury\n', ['project.created']],
  ['createReport', { title: 'November', since: today }, ['report.created']],
  ['deleteReport', undefined, ['report.deleted']],
  ['createCategory', { name: 'Supply' }, ['category.created']],
  ['updateCategory', { name: 'Supplies' }, ['category.updated']],
  ['createCategory', { name: 'Other' }, ['category.created']],
  ['mergeCategory', { into: '{previous_id}' }, ['category.merged']],
  ['createCategory', { name: 'Third' }, ['category.created']],
  ['deleteCategory', undefined, ['category.deleted']],
  ['updateOrganization', { name: 'Meridian' }, ['organization.changed']],
  ['createKey', { name: 'second', scopes: ['events.read'] }, ['key.created']],
  ['updateKey', { name: 'third' }, ['key.updated']],
  ['rotateKey', {}, ['key.rotated']],
  ['revokeKey', undefined, ['key.revoked']],
  ['createWebhook', { url: 'https://example.com/', types: ['risk.*'] }, ['webhook.created']],
  ['updateWebhook', { types: ['*'] }, ['webhook.updated']],
  ['updateWebhook', { status: 'disabled' }, ['webhook.disabled']],
  ['updateWebhook', { status: 'enabled' }, ['webhook.enabled']],
  ['rotateWebhook', undefined, ['webhook.rotated']],
  ['replayWebhook', { after: 0 }, ['webhook.replayed']],
  ['deleteWebhook', undefined, ['webhook.deleted']],
  ['setRiskModel', { ...defaultModel, longest_acceptance_days: null }, ['risk_model.changed']],
];

/** The names of ids in paths, by the end of the path of their collection. */
const idNames = [
  ['/v1/projects', 'project_id'],
  ['/comments', 'comment_id'],
] as const;

test('every operation that may change data is tested for its events', () => {
  const tested = new Set([...withoutEvents, ...ofPeople, ...requests.map(([operation]) => operation)]);
  assert.deepEqual([...operations.keys()].toSorted(), [...tested].toSorted());
});

onBothEngines('the event of every operation', (start) => {
  test('is appended, with the resource as its GET returns it', async (t) => {
    const { call, get, key } = await start(t);
    const secret = await key();
    const ids: Record<string, string> = {};
    const withIds = (text: string) => text.replace(/\{(\w+)\}/g, (_, name) => ids[name] ?? name);
    let after = (await get('/v1/events', secret)).body.meta.next_after;
    for (const [operation, body, types] of requests) {
      const { method = '', path = '' } = operations.get(operation) ?? {};
      const file = typeof body === 'string';
      const sent = file ? body : body && JSON.parse(withIds(JSON.stringify(body)));
      const headers = file ? { 'content-type': 'text/csv' } : {};
      const response = await call(method, withIds(path), secret, sent, headers);
      assert.ok(response.status < 300, `${operation}: ${response.text}`);
      const { body: page } = await get(`/v1/events?after=${after}`, secret);
      assert.deepEqual(pluck(page.data, 'type'), types, operation);
      after = page.meta.next_after;
      const { id, user_id, project_id } = response.body ?? {};
      if (response.status === 201 && id) ids.previous_id = ids.id ?? '';
      if (response.status === 201 && id)
        ids[idNames.find(([collection]) => path.endsWith(collection))?.[1] ?? 'id'] = id;
      if (response.status === 201 && user_id) ids.previous_user_id = ids.user_id ?? '';
      if (response.status === 201 && user_id) ids.user_id = user_id;
      if (response.body?.handover_id) ids.handover_id = response.body.handover_id;
      const last: Event = page.data.at(-1);
      if (response.status < 204 && !file && last.subject.id === (user_id ?? id ?? project_id)) {
        const { secret: _, ...resource } = response.body;
        assert.deepEqual(last.data, resource, operation);
      }
      assert.doesNotMatch(JSON.stringify(page.data), /mst_\w{10}|whsec_|hash/, operation);
    }
  });
});
