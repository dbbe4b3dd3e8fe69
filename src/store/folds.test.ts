import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { temporaryFolder } from '../../test/process.ts';
import { loadReleased } from '../../test/released/load.ts';
import { freshDatabase, onBothEngines, pluck, startTestService, withKey } from '../../test/service.ts';
import { backupCommand, restoreCommand } from '../commands/backup.ts';
import { checkCommand } from '../commands/check.ts';
import { fold, foldAll } from '../core/text.ts';
import type { Database } from '../database/open.ts';
import { folded } from '../database/sql/functions.ts';
import { createJobs } from '../jobs/schedule.ts';
import { openDatabase } from './open.ts';

const run = ({ write }: Pick<Database, 'write'>, text: string) => write((db) => sql.raw(text).execute(db));

onBothEngines('folded texts', (start, engine) => {
  test('keep the vowels of all scripts, so that different names stay different', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/groups', key, { name: 'กิน' });
    await service.make('/v1/groups', key, { name: 'กัน' });
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const risks = '/v1/projects/APOLLO/risks';
    const { key: risk } = await service.make(risks, key, { title: 'One', category: 'काल' });
    await service.make('/v1/categories', key, { name: 'कल' });
    assert.equal((await service.get(`${risks}/${risk}`, key)).body.category, 'काल');
    const { user_id } = await service.make('/v1/personnel', key, { name: 'रमी' });
    const file = 'Title,Owner\nTwo,राम\nThree,रमी\n';
    const { body } = await service.upload(`${risks}/import`, key, file);
    assert.deepEqual(pluck(body.results, 'status'), ['failed', 'created']);
    const owned = await service.list(`/v1/risks?owner_user_id=${user_id}`, key);
    assert.deepEqual(pluck(owned, 'title'), ['Three']);
  });

  test('match a sigma at the end of a word', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/personnel', key, { name: 'ΝΙΚΟΣ', title: 'ΠΩΛΗΤΗΣ' });
    for (const q of ['νικοσ', 'νικος', 'Νίκος', 'πωλητης'])
      assert.equal((await service.list(`/v1/personnel?q=${encodeURIComponent(q)}`, key)).length, 1, q);
    await service.make('/v1/groups', key, { name: 'ΔΣ' });
    assert.equal((await service.post('/v1/groups', key, { name: 'δσ' })).status, 409);
  });

  test('are the same in the database', async (t) => {
    const { database } = await start(t);
    const texts = [
      ...[
        'ΟΔΟΣ Σ',
        'Weiß Æsir',
        'ガラス',
        'ｶﾞﾗｽ',
        'กิน',
        'राम',
        'க்ஷ',
        '한강',
        'İı',
        '´',
        '\u0301',
        ' a \u2028\t b\u00a0',
        '❤\ufe0f',
      ],
      ...[
        'מִלָּה',
        'مُحَمَّد',
        'Ёлка й',
        'a\u0e48\u034f\u0e38',
        'ﬃ ﷺ',
        '\u{1f1e9}\u20e3',
        'ǅ ᾳ',
        '\ua674\u1dc0\ufe20\u0483',
      ],
      // Servers may have an older Unicode, without these capitals.
      ...Array.from({ length: 0x4f0 }, (_, i) => String.fromCodePoint(0xa0 + i * 33).toWellFormed()).filter(
        (text) => !/[\u1c80-\u1cbf\ua640-\uffff]/.test(text),
      ),
    ].map((text) => text.normalize('NFC'));
    const { rows } = await sql<Record<string, string>>`select ${sql.join(
      texts.map((text, i) => sql`${folded(sql`cast(${text} as text)`)} as ${sql.ref(`t${i}`)}`),
    )}`.execute(database.db);
    for (const [i, text] of texts.entries()) assert.equal(rows[0]?.[`t${i}`], fold(text), text);
  });

  test('of accents only cannot be a name', async (t) => {
    const { service, key } = await withKey(start(t));
    for (const path of ['groups', 'categories', 'personnel', 'projects']) {
      const { status, body } = await service.post(`/v1/${path}`, key, { name: '\u0301' });
      assert.deepEqual([status, body.code], [422, 'invalid_body'], JSON.stringify(body));
      for (const name of ['´', '¨']) await service.make(`/v1/${path}`, key, { name });
    }
    assert.equal((await service.list('/v1/groups', key)).length, 2);
  });

  test('of 0.4.0 are computed again by the upgrade, and names that were different stay apart', async (t) => {
    const target = await loadReleased(engine, '0.4.0');
    const database = openDatabase(target.url);
    // As 0.4.0 folds them.
    const person = `name = 'राम', name_folded = 'रम', skills = '["கல்"]', skills_folded = '\nகல\n',
      department = 'ΔΣ', department_folded = 'δς', search_folded = 'रम'`;
    const item = `title = 'กิน', search_folded = key || '\nกน'`;
    await run(database, `update people set ${person}`);
    for (const table of ['risks', 'past_risks', 'issues', 'tasks'])
      await run(database, `update ${table} set ${item}`);
    for (const [id, name, old] of [
      ['1', 'ΟΔΟΣ', 'οδος'],
      ['2', 'οδοσ', 'οδοσ'],
      ['3', 'กิน', 'กน'],
    ])
      await run(
        database,
        `insert into groups (id, name, name_folded, version, created_at, updated_at)
        values ('grp_${`${id}`.repeat(26)}', '${name}', '${old}', 1, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')`,
      );
    await database.migrate();
    await database.close();

    const service = await startTestService(t, engine, { target });
    const { db } = service.database;
    const key = await service.key();
    const find = async (path: string, filter: string, text: string) =>
      (await service.list(`/v1/${path}?${filter}=${encodeURIComponent(text)}`, key)).length;
    assert.ok((await find('personnel', 'q', 'राम')) > 0);
    assert.equal(await find('personnel', 'q', 'रम'), 0);
    assert.ok((await find('personnel', 'skill', 'கல்')) > 0);
    assert.ok((await find('personnel', 'department', 'δσ')) > 0);
    for (const path of ['risks', 'issues', 'tasks']) {
      assert.ok((await find(path, 'q', 'กิน')) > 0, path);
      assert.equal(await find(path, 'q', 'กน'), 0, path);
    }
    const past = await db
      .selectFrom('past_risks')
      .select(['key', 'title', 'description', 'search_folded'])
      .execute();
    for (const { search_folded, ...texts } of past)
      assert.equal(search_folded, foldAll([texts.key, texts.title, texts.description]));
    const groups = await service.list('/v1/groups', key);
    assert.equal(groups.length, 6);
    // Two names that are one now: the first is reported until somebody renames it, and can be changed.
    const names = async () =>
      (await checkCommand(service.database, () => {})).violations.filter(({ area }) => area === 'names');
    assert.deepEqual(pluck(await names(), 'rule', 'rows'), [
      ['the folded texts of groups follow from the others', 1],
    ]);
    const path = `/v1/groups/grp_${'1'.repeat(26)}`;
    const { user_id } = await service.make('/v1/personnel', key, { name: 'Ada' });
    assert.equal((await service.call('PATCH', path, key, { lead_user_id: user_id })).status, 200);
    assert.equal((await service.call('PATCH', path, key, { name: 'ΟΔΟΣ Α' })).status, 200);
    assert.deepEqual(await names(), []);

    // An instance of 0.4.0 that runs beside writes another one.
    const writeAs040 = async () => {
      await service.call('PATCH', `/v1/personnel/${user_id}`, key, { title: crypto.randomUUID() });
      await run(service.database, `update people set ${person} where user_id = '${user_id}'`);
    };
    const versionOfPeople = async () => (await service.database.versions()).people;
    const { runDue } = createJobs(service.app);
    const [before, version] = [await find('personnel', 'q', 'राम'), await versionOfPeople()];
    await runDue();
    assert.equal(await versionOfPeople(), version);
    await writeAs040();
    assert.equal(await find('personnel', 'q', 'राम'), before);
    assert.notDeepEqual(await names(), []);
    const backup = join(temporaryFolder(t), 'stale.backup');
    await backupCommand(service.database, backup, () => {});
    await runDue();
    assert.equal(await find('personnel', 'q', 'राम'), before + 1);
    assert.deepEqual(await names(), []);
    // Another one, when the last instance of this version has started.
    await writeAs040();
    await runDue();
    assert.deepEqual(await names(), []);
    const copy = await freshDatabase(engine);
    t.after(copy.drop);
    const restored = openDatabase(copy.url);
    await restoreCommand(restored, backup, { onProgress() {} });
    const { violations } = await checkCommand(restored, () => {});
    // This test has changed rows without events.
    assert.deepEqual(
      violations.filter(({ area }) => area !== 'events'),
      [],
    );
    await restored.close();
  });
});
