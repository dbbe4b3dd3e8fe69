import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settableClock } from '../../test/clock.ts';
import { onBothEngines, pluck, withKey } from '../../test/service.ts';

onBothEngines('a clock that is set back', (start) => {
  test('writes succeed and timestamps never decrease', async (t) => {
    const clock = settableClock('2026-11-15T00:30:00Z');
    const { service, key } = await withKey(start(t, { clock, environment: { MUSTER_RATE_LIMIT: '600' } }));
    const send = async (method: string, path: string, body?: unknown, headers = {}) => {
      const response = await service.call(method, path, key, body, headers);
      assert.ok(response.status < 300, `${method} ${path}: ${response.status} ${response.text}`);
      return response.body;
    };
    const post = (path: string, body: unknown = {}) => send('POST', path, body);
    const person = await post('/v1/personnel', { name: 'Ada', start_on: '2026-11-14' });
    const successor = await post('/v1/personnel', { name: 'Grace', start_on: '2026-11-14' });
    const group = await post('/v1/groups', { name: 'Works' });
    const project = await post('/v1/projects', { name: 'Apollo' });
    const at = `/v1/projects/${project.id}`;
    const risk = await post(`${at}/risks`, { title: 'Risk', external_id: 'R-1', due_on: '2026-11-15' });
    const accepted = await post(`${at}/risks`, { title: 'Accepted' });
    const until = { status: 'accepted', acceptance_reason: 'Insured.', accepted_until: '2027-11-15' };
    await send('PATCH', `${at}/risks/${accepted.id}`, until);
    const issue = await post(`${at}/issues`, { title: 'Issue', due_on: '2026-11-15' });
    const task = await post(`${at}/tasks`, { title: 'Task' });
    const otherKey = await post('/v1/keys', { name: 'Other', scopes: ['projects.read'] });
    const idempotent = { 'idempotency-key': 'once' };
    const first = await send('POST', `${at}/tasks`, { title: 'Once' }, idempotent);
    const patched = [
      [`/v1/personnel/${person.user_id}`, { name: 'Ada L.' }],
      [`/v1/groups/${group.id}`, { name: 'Work' }],
      [at, { name: 'Apollo 2' }],
      [`${at}/risks/${risk.id}`, { title: 'Risk 2' }],
      [`${at}/risks/${accepted.id}`, { title: 'Accepted 2' }],
      [`${at}/issues/${issue.id}`, { title: 'Issue 2' }],
      [`${at}/tasks/${task.id}`, { title: 'Task 2', assignee_user_id: person.user_id }],
      [`/v1/keys/${otherKey.id}`, { name: 'Another' }],
    ] as const;
    const before = new Map<string, { updated_at: string }>();
    for (const [path] of patched) before.set(path, await send('GET', path));

    clock.set('2026-11-14T23:30:00Z');
    for (const [path, body] of patched) {
      const changed = await send('PATCH', path, body);
      assert.ok(changed.updated_at >= (before.get(path)?.updated_at ?? ''), path);
      assert.deepEqual(await send('GET', path), changed);
      const history = await send('GET', `${path}/history`);
      const times = pluck(history.data, 'at');
      assert.deepEqual(times, times.toSorted(), path);
    }
    assert.deepEqual(await send('POST', `${at}/tasks`, { title: 'Once' }, idempotent), first);
    const row = { external_id: 'R-1', title: 'Risk 3', raised_on: '2026-11-15' };
    const ndjson = { 'content-type': 'application/x-ndjson' };
    const file = `${at}/risks/import?mode=upsert`;
    const { summary } = await send('POST', file, JSON.stringify(row), ndjson);
    assert.deepEqual([summary.updated, summary.failed], [1, 0]);
    const members = `/v1/groups/${group.id}/members`;
    await post(members, { user_ids: [person.user_id] });
    await send('PUT', `${members}/${successor.user_id}`);
    await send('DELETE', `${members}/${successor.user_id}`);
    await post(`/v1/personnel/${person.user_id}/deactivate`, { handover_to_user_id: successor.user_id });
    await post(`/v1/personnel/${person.user_id}/reactivate`);
    await post(`${at}/risks/${accepted.id}/materialize`);
    await post(`${at}/archive`);
    await post(`${at}/unarchive`);
    await post(`/v1/keys/${otherKey.id}/rotate`);
    await send('DELETE', `/v1/keys/${otherKey.id}`);
    await send('DELETE', `${at}/tasks/${task.id}`);
    await send('DELETE', `${at}/issues/${issue.id}`);
    await send('DELETE', `${at}/risks/${risk.id}`);
    await send('DELETE', `/v1/groups/${group.id}`);
    await send('DELETE', `/v1/personnel/${person.user_id}`);
  });
});
