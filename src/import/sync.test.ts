import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../test/process.ts';
import { onBothEngines, pluck, startTestService, withKey } from '../../test/service.ts';
import { peopleSync } from '../resources/handover/sync.ts';

const script = join(import.meta.dirname, '../../deploy/sync/sync-personnel.sh');

// biome-ignore lint/suspicious/noExplicitAny: response bodies are untyped in tests
type Any = any;

const csv = (...rows: string[]) => `External ID,Name,Email,Manager\n${rows.join('\n')}\n`;
const ada = '1,Ada,ada@example.com,Grace';
const grace = '2,Grace,grace@example.com,';
const alan = '3,Alan,alan@example.com,';

onBothEngines('a sync', (start) => {
  test('finds people by their ids in another service', async (t) => {
    const { service, key } = await withKey(start(t));
    const id = (i: number) => `usr_01k7mvh1fneep8opkbaknvb1l${i}`;
    const file = `user_id,name\n${[0, 1, 2].map((i) => `${id(i)},Person ${i}\n`).join('')}`;
    for (const [created, unchanged] of [
      [3, 0],
      [0, 3],
    ]) {
      const path = '/v1/personnel/import?mode=sync&source=other&max_leaving=100';
      const { body, text } = await service.upload(path, key, file);
      assert.deepEqual(
        [body.summary?.created, body.summary?.unchanged, body.summary?.leavers],
        [created, unchanged, []],
        text,
      );
      const people: Any[] = await service.list('/v1/personnel', key);
      assert.deepEqual(pluck(people, 'status'), ['active', 'active', 'active']);
    }
  });

  test('deactivates who is missing in its source, hands over, and activates who comes back', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/personnel', key, { name: 'Zoe' });
    const sync = (file: string, query = '', sender = key) =>
      service.upload(`/v1/personnel/import?mode=sync&source=hr&${query}`, sender, file);
    const statuses = async () => {
      const people: Any[] = await service.list('/v1/personnel', key);
      return Object.fromEntries(people.map(({ name, status }) => [name, status]));
    };
    const first = await sync(csv(ada, grace, alan));
    assert.deepEqual(
      [first.status, first.body.summary.created, first.body.summary.leavers],
      [200, 3, []],
      first.text,
    );
    // Another source with a part of the people deactivates none of the others.
    await service.upload('/v1/personnel/import?mode=sync&source=contractors', key, csv(alan));
    const [person]: Any[] = (await service.list('/v1/personnel', key)).filter(
      ({ name }: Any) => name === 'Ada',
    );
    await service.make('/v1/projects', key, { name: 'Apollo' });
    await service.make('/v1/projects/APOLLO/risks', key, { title: 'x', owner_user_id: person.user_id });

    const tooMany = await sync(csv(alan), 'max_leaving=50');
    assert.deepEqual([tooMany.status, tooMany.body.code], [422, 'import_refused']);
    assert.match(
      tooMany.body.detail,
      /^2 of the 3 people whom the source “hr” brought are missing in the file: Ada and Grace/,
    );
    assert.deepEqual(pluck(tooMany.body.leavers, 'name').sort(), ['Ada', 'Grace']);
    assert.deepEqual(await statuses(), { Ada: 'active', Alan: 'active', Grace: 'active', Zoe: 'active' });

    // A row that fails is not missing.
    const failed = await sync(csv('1,Ada,not an address,', grace, alan));
    assert.deepEqual([failed.body.summary.failed, failed.body.summary.leavers], [1, []]);
    // It may be about anybody if it has no valid key.
    for (const row of [',Ada,,Grace', ',Ada,ada@@example.com,', '"\u0001",Ada,,']) {
      const { status, body } = await sync(csv(row, grace, alan), 'max_leaving=100');
      assert.deepEqual([status, body.code], [422, 'import_refused'], row);
      assert.match(body.detail, /^Line 2 has a valid value for none of user_id, external_id, email/);
      assert.equal((await statuses()).Ada, 'active');
    }
    const dryRun = await sync(csv(grace, alan), 'dry_run=true');
    assert.deepEqual(pluck(dryRun.body.summary.leavers, 'name'), ['Ada']);
    assert.equal((await statuses()).Ada, 'active');

    const limited = await service.key('personnel.manage');
    const refused = await sync(csv(grace, alan), 'handover_to=manager', limited);
    assert.deepEqual([refused.status, refused.body.code], [403, 'insufficient_scope']);
    const left = await sync(csv(grace, alan), 'handover_to=manager&results=changed');
    assert.deepEqual([left.body.summary.unchanged, left.body.results], [2, []], left.text);
    assert.deepEqual(pluck(left.body.summary.leavers, 'name', 'error'), [['Ada', undefined]]);
    assert.deepEqual(await statuses(), { Ada: 'inactive', Alan: 'active', Grace: 'active', Zoe: 'active' });
    const [risk]: Any[] = await service.list('/v1/projects/APOLLO/risks', key);
    assert.equal(risk.owner_name, 'Grace');
    const history: Any[] = await service.list(`/v1/personnel/${person.user_id}/history`, key);
    assert.ok(
      history.some(
        ({ field, to, reason }) => field === 'status' && to === 'inactive' && /source hr/.test(reason),
      ),
    );

    // The source can also say that somebody is inactive.
    const former = await sync('External ID,Name,Status\n1,Ada,Terminated\n2,Grace,Active\n3,Alan,Active\n');
    assert.deepEqual([former.body.summary.returned, (await statuses()).Ada], [[], 'inactive']);
    const foreseen = await sync(csv(ada, grace, alan, '4,Bob,,'), 'dry_run=true');
    assert.deepEqual(pluck(foreseen.body.summary.returned, 'name'), ['Ada'], foreseen.text);
    assert.equal((await statuses()).Ada, 'inactive');
    const back = await sync(csv(ada, grace, alan), 'results=changed');
    assert.deepEqual(back.body.summary.returned, [{ id: person.user_id, name: 'Ada' }]);
    assert.equal((await statuses()).Ada, 'active');
    // Somebody who was deactivated by other means stays so.
    await service.post(`/v1/personnel/${person.user_id}/deactivate`, key, {});
    await sync(csv(ada, grace, alan));
    assert.equal((await statuses()).Ada, 'inactive');
    for (const [query, parameter] of [
      ['mode=sync', 'source'],
      ['mode=upsert&source=hr', 'source'],
      ['mode=sync&source=hr&atomic=true', 'atomic'],
      ['mode=sync&source=hr&handover_to=somebody', 'handover_to'],
    ]) {
      const { status, body } = await service.upload(`/v1/personnel/import?${query}`, key, csv(ada));
      assert.deepEqual([status, body.errors[0].parameter], [400, parameter]);
    }
    const projects = await service.upload('/v1/projects/import?mode=sync&source=x', key, 'name\nApollo\n');
    assert.match(projects.body.detail, /`mode=sync` is for personnel and groups/);
  });

  test('activates those who come back in parts of at most 50 rows', async (t) => {
    const { service, key } = await withKey(start(t));
    const sync = (file: string) =>
      service.upload('/v1/personnel/import?mode=sync&source=hr&max_leaving=100', key, file);
    const rows = Array.from({ length: 200 }, (_, i) => `${i},Person ${i},p${i}@example.com,`);
    await sync(csv(...rows));
    await service.database.write(async (db) => {
      await db.updateTable('synced_people').set({ deactivated: 1 }).execute();
      await db.updateTable('people').set({ status: 'inactive' }).execute();
    });
    const recorded = t.mock.method(peopleSync, 'record');
    const { body } = await sync(csv(...rows));
    assert.equal(body.summary.returned.length, 200);
    const parts = recorded.mock.calls.map(({ arguments: [, , ids] }) => ids.length);
    assert.ok(Math.max(...parts) <= 50, `${parts}`);
    const people: Any[] = await service.list('/v1/personnel', key);
    assert.deepEqual(new Set(pluck(people, 'status')), new Set(['active']));
    assert.equal((await sync(csv(...rows))).body.summary.returned.length, 0);
  });

  test('can run at the same time as another one of its source', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.upload('/v1/personnel/import', key, csv(ada, grace, alan));
    const path = '/v1/personnel/import?mode=sync&source=hr';
    const all = await Promise.all([1, 2, 3].map(() => service.upload(path, key, csv(ada, grace, alan))));
    assert.deepEqual(pluck(all, 'status'), [200, 200, 200], all.map(({ text }) => text).join('\n'));
  });

  test('removes members who are missing, and no others', async (t) => {
    const { service, key } = await withKey(start(t));
    for (const name of ['Ada', 'Grace', 'Alan']) await service.make('/v1/personnel', key, { name });
    const sync = (file: string, query = '') =>
      service.upload(`/v1/groups/import?mode=sync&source=ad&${query}`, key, file);
    const members = async () => {
      const names = new Map(
        (await service.list('/v1/personnel', key)).map((one: Any) => [one.user_id, one.name]),
      );
      const groups: Any[] = await service.list('/v1/groups?include=members', key);
      return Object.fromEntries(
        groups.map(({ name, member_user_ids }) => [
          name,
          member_user_ids.map((id: string) => names.get(id)).sort(),
        ]),
      );
    };
    const file = 'Group,Members\nOps,Ada; Grace\nDev,Ada\n';
    assert.equal((await sync(file)).body.summary.created, 2);
    const alan = (await service.list('/v1/personnel', key)).find(({ name }: Any) => name === 'Alan');
    const [dev]: Any[] = await service.list('/v1/groups', key);
    await service.call('PUT', `/v1/groups/${dev.id}/members/${alan.user_id}`, key);
    const removed = await sync('Group,Members\nOps,Ada\nDev,Ada\n');
    assert.deepEqual(pluck(removed.body.summary.leavers, 'name'), ['Grace (Ops)'], removed.text);
    assert.deepEqual(await members(), { Dev: ['Ada', 'Alan'], Ops: ['Ada'] });
    assert.equal((await sync('Group,Members\nOps,\nDev,\n')).status, 422);
    const failed = await sync('Group,Members\nOps,Nobody Here\nDev,Ada\n');
    assert.deepEqual([failed.body.summary.failed, failed.body.summary.leavers], [1, []]);
    assert.deepEqual(await members(), { Dev: ['Ada', 'Alan'], Ops: ['Ada'] });
  });

  test('removes nobody from a group whose members the file does not say', async (t) => {
    const { service, key } = await withKey(start(t));
    for (const name of ['Ada', 'Grace', 'Alan']) await service.make('/v1/personnel', key, { name });
    const sync = async (file: string, type?: string) => {
      const path = '/v1/groups/import?mode=sync&source=ad&max_leaving=100&unknown_people=leave_empty';
      const { body, text } = await service.upload(path, key, file, type);
      assert.equal(body.summary?.failed, 0, text);
      return pluck(body.summary.leavers, 'name');
    };
    await sync('Group,Members,Purpose\nOps,Ada; Grace,\nDev,Ada; Alan,\n');
    // The typo may be anybody of the group.
    assert.deepEqual(await sync('Group,Members\nOps,Ada; Garce\nDev,Alan\n'), ['Ada (Dev)']);
    assert.deepEqual(await sync('Group,Purpose\nOps,Operations\n'), []);
    const ndjson = '{"name":"Ops","description":"x"}\n{"name":"Dev","member_user_ids":[]}\n';
    assert.deepEqual(await sync(ndjson, 'application/x-ndjson'), ['Alan (Dev)']);
    const groups: Any[] = await service.list('/v1/groups?include=members', key);
    assert.deepEqual(
      groups.map(({ name, member_user_ids }) => [name, member_user_ids.length]),
      [
        ['Dev', 0],
        ['Ops', 2],
      ],
    );
  });

  test('leaves those active whom another source has, and says who', async (t) => {
    const { service, key } = await withKey(start(t));
    const sync = async (source: string, ...rows: string[]) => {
      const path = `/v1/personnel/import?mode=sync&source=${source}&max_leaving=100`;
      const { status, body, text } = await service.upload(path, key, csv(...rows));
      assert.equal(status, 200, text);
      const { leavers, kept, returned, updated, unchanged } = body.summary;
      const people: Any[] = await service.list('/v1/personnel?status=active', key);
      return {
        left: pluck(leavers, 'name'),
        kept: pluck(kept, 'name', 'source'),
        back: [pluck(returned, 'name'), updated, unchanged],
        active: pluck(people, 'name'),
      };
    };
    const person = '2,Grace,grace@example.com,';
    await sync('hr', alan, person);
    await sync('hr2', alan, person);
    assert.deepEqual(await sync('hr2', person), {
      left: [],
      kept: [['Alan', 'hr']],
      back: [[], 0, 1],
      active: ['Alan', 'Grace'],
    });
    assert.deepEqual(await sync('hr2', person), {
      left: [],
      kept: [],
      back: [[], 0, 1],
      active: ['Alan', 'Grace'],
    });
    assert.deepEqual(await sync('hr', person), {
      left: ['Alan'],
      kept: [],
      back: [[], 0, 1],
      active: ['Grace'],
    });
    // Whom one source has dropped comes back with any other.
    assert.deepEqual(await sync('hr2', person, alan), {
      left: [],
      kept: [],
      back: [['Alan'], 1, 1],
      active: ['Alan', 'Grace'],
    });
    assert.deepEqual((await sync('hr2', person)).left, ['Alan']);
  });

  test('takes over no deactivation that somebody else made', async (t) => {
    const { service, key } = await withKey(start(t));
    const path = '/v1/personnel/import?mode=sync&source=hr&max_leaving=100';
    const first = await service.upload(path, key, csv(grace, alan));
    const { id } = first.body.results[1];
    let transactions = 0;
    service.faults.onCommit = async () => {
      // The first transaction reads whom the source has brought.
      if (++transactions === 1) await service.post(`/v1/personnel/${id}/deactivate`, key, {});
    };
    const { body } = await service.upload(path, key, csv(grace));
    service.faults.onCommit = undefined;
    assert.deepEqual([body.summary.leavers, body.summary.kept], [[], []]);
    const again = await service.upload(path, key, csv(grace, alan));
    assert.deepEqual(again.body.summary.returned, []);
    assert.equal((await service.get(`/v1/personnel/${id}`, key)).body.status, 'inactive');

    // Nor one that was made after somebody had undone its own.
    await service.patch(`/v1/personnel/${id}`, key, { status: 'active' });
    await service.upload(path, key, csv(grace));
    await service.patch(`/v1/personnel/${id}`, key, { status: 'active' });
    await service.patch(`/v1/personnel/${id}`, key, { status: 'inactive' });
    await service.upload(path, key, csv(grace, alan));
    assert.equal((await service.get(`/v1/personnel/${id}`, key)).body.status, 'inactive');
  });
});

test('the script for cron reports what it did, and what went wrong', async (t) => {
  const { service, key } = await withKey(startTestService(t, 'sqlite'));
  const folder = temporaryFolder(t);
  let file = join(folder, 'people.csv');
  let source = 'hr';
  writeFileSync(join(folder, 'key'), key);
  const run = async () => {
    const env = { PATH: process.env.PATH, MUSTER_URL: service.origin, MUSTER_KEY_FILE: join(folder, 'key') };
    const { stdout, stderr, code } = await promisify(execFile)(script, [file, source], { env }).catch(
      (error) => error,
    );
    return [code ?? 0, stdout.trim(), stderr];
  };
  assert.deepEqual(await run(), [1, '', `${file} is missing or empty.\n`]);
  writeFileSync(file, csv(ada, grace, alan));
  assert.deepEqual(await run(), [0, 'hr: 3 rows, 3 created, 0 updated, 0 left, 0 failed.', '']);
  writeFileSync(file, csv(grace, alan));
  assert.deepEqual(await run(), [0, 'hr: 2 rows, 0 created, 0 updated, 1 left, 0 failed.', '']);
  writeFileSync(file, csv(grace, '3,Alan,wrong,'));
  const [code, printed, why] = await run();
  assert.deepEqual([code, printed], [1, 'hr: 2 rows, 0 created, 0 updated, 0 left, 1 failed.']);
  assert.match(String(why), /email/);
  // Whatever the names are.
  file = join(folder, 'a "b"; type=c, d.csv');
  writeFileSync(file, csv(ada));
  source = 'HR; north & süd?';
  // Another source has her, so she comes back.
  assert.deepEqual(await run(), [0, `${source}: 1 rows, 0 created, 1 updated, 0 left, 0 failed.`, '']);
  const { body } = await service.upload(
    `/v1/personnel/import?mode=sync&source=${encodeURIComponent(source)}&dry_run=true&max_leaving=100`,
    key,
    csv(grace),
  );
  assert.deepEqual(pluck(body.summary.leavers, 'name'), ['Ada']);
  const hoursAgo = new Date(Date.now() - 25 * 3_600_000);
  utimesSync(file, hoursAgo, hoursAgo);
  assert.deepEqual(await run(), [1, '', `${file} is older than a day.\n`]);
});
