import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { settableClock } from '../../../../test/clock.ts';
import { onBothEngines, type TestService, withKey } from '../../../../test/service.ts';
import type { Moment } from '../../../core/clock.ts';
import { scopeToProjects } from '../../../store/project-scope.ts';
import { summarizeIssues } from '../../issues/summaries.ts';
import { resolveProjects } from '../../projects/queries.ts';
import { summarizeRisks } from '../../risks/summaries.ts';

const projects = ['APOLLO', 'GEMINI', 'MERCURY'];

type Choice = { project?: string[]; archived?: 'any' | 'true' };

/** The summaries, counted by plain SQL in a snapshot. */
async function countPlainly(
  { database }: TestService,
  moment: Moment,
  { project, archived }: Choice,
  limit: string[] | null = null,
  top = 20,
) {
  const scoped = scopeToProjects(database, limit);
  const filters = {
    archived: archived ?? ('false' as const),
    ...(project && { project: await resolveProjects(database.db, project) }),
  };
  const { db, end } = await scoped.snapshot('slow');
  try {
    return {
      risks: await summarizeRisks({ db }, { filters: { ...filters, status: ['active'] }, moment }, top, null),
      issues: await summarizeIssues(
        { db },
        { ...filters, status: ['open', 'in_progress', 'blocked'] },
        moment,
        top,
        null,
      ),
    };
  } finally {
    await end();
  }
}

onBothEngines('kept counts of random changes', (start) => {
  test('equal plain counts after every change', { timeout: 300_000 }, async (t) => {
    const clock = settableClock('2026-11-18T09:00:00.000Z');
    const { service, key } = await withKey(start(t, { clock }));
    for (const name of projects) await service.make('/v1/projects', key, { name, key: name });
    const people: string[] = [];
    for (const name of ['Ada', 'Grace'])
      people.push((await service.make('/v1/personnel', key, { name })).user_id);
    const group: string = (await service.make('/v1/groups', key, { name: 'Ops' })).id;
    const ids = (await service.list('/v1/projects?archived=any', key)).map(({ id }: { id: string }) => id);
    const limited = { ids: ids.slice(0, 2), key: await service.limitedKey(ids.slice(0, 2)) };
    let day = 18;
    let done = 0;

    const check = async () => {
      const readers: [Choice, string, string[] | null, string][] = [
        [{}, '', null, key],
        [{ archived: 'any' }, 'archived=any', null, key],
        [{ project: ['GEMINI'], archived: 'any' }, 'project=gemini&archived=any', null, key],
        [{}, '', limited.ids, limited.key],
      ];
      for (const [choice, query, limit, secret] of readers) {
        const expected = await countPlainly(service, clock(), choice, limit);
        const read = (resource: string) => service.list(`/v1/${resource}/summary?${query}`, secret);
        assert.deepEqual(await read('risks'), expected.risks, `risks ${query} ${limit}`);
        assert.deepEqual(await read('issues'), expected.issues, `issues ${query} ${limit}`);
      }
      const expected = await countPlainly(service, clock(), {}, null, 1);
      assert.deepEqual(await service.list('/v1/risks/summary?top=1', key), expected.risks);
    };

    const pick = <T>(values: readonly T[]) => fc.constantFrom(...values);
    const owner = fc.oneof(
      { arbitrary: pick(people).map((owner_user_id) => ({ owner_user_id })), weight: 4 },
      fc.constant({ owner_group_id: group }),
      fc.constant({}),
    );
    const nearDay = pick([null, '2026-11-17', '2026-11-19', '2026-11-20']);
    const rating = pick([null, 1, 3, 5]);
    const fields = fc.record({
      title: fc.constant('x'),
      category: pick([null, 'supply', 'Straße', '\u{1f600}', '\uffee']),
      rating,
      due_on: nearDay,
      review_on: nearDay,
    });
    const first = async (path: string, index: number) => {
      const rows = await service.list(path, key);
      return rows.length === 0 ? undefined : rows[index % rows.length];
    };
    const item = fc.record({ kind: pick(['risks', 'issues'] as const), index: fc.nat(20) });
    type Change = () => Promise<{ status: number; text: string } | undefined>;
    const createRisk = fc.tuple(pick(projects), fields, owner).map(
      ([project, { rating, ...risk }, owned]): Change =>
        () =>
          service.post(`/v1/projects/${project}/risks`, key, {
            ...risk,
            ...owned,
            probability: rating,
            impact: rating,
          }),
    );
    /** One of each, in any order, after the first risks. */
    const changes = fc
      .tuple(
        createRisk,
        fc.tuple(pick(projects), pick(people), nearDay, pick(['high', 'low'])).map(
          ([project, assignee_user_id, due_on, severity]): Change =>
            () =>
              service.post(`/v1/projects/${project}/issues`, key, {
                title: 'x',
                assignee_user_id,
                due_on,
                severity,
              }),
        ),
        fc.tuple(item, owner, pick([null, 'supply', 'staff'])).map(
          ([{ kind, index }, owned, category]): Change =>
            async () => {
              const found = await first(`/v1/${kind}`, index);
              if (!found) return undefined;
              const change = {
                owner_user_id: null,
                owner_group_id: null,
                ...owned,
                ...(kind === 'risks' ? { category } : { assignee_user_id: null }),
              };
              return service.patch(`/v1/projects/${found.project_id}/${kind}/${found.id}`, key, change);
            },
        ),
        item.map(
          ({ kind, index }): Change =>
            async () => {
              const found = await first(`/v1/${kind}`, index);
              if (!found) return undefined;
              const end =
                kind === 'risks'
                  ? { status: 'closed', closure_reason: 'Gone.' }
                  : { status: 'resolved', resolution: 'fixed' };
              return service.patch(`/v1/projects/${found.project_id}/${kind}/${found.id}`, key, end);
            },
        ),
        item.map(
          ({ kind, index }): Change =>
            async () => {
              const found = await first(`/v1/${kind}`, index);
              return found && service.delete(`/v1/projects/${found.project_id}/${kind}/${found.id}`, key);
            },
        ),
        pick(people).map(
          (person): Change =>
            async () => {
              const { status } = (await service.get(`/v1/personnel/${person}`, key)).body;
              const action = status === 'active' ? 'deactivate' : 'reactivate';
              return service.post(`/v1/personnel/${person}/${action}`, key, {});
            },
        ),
        pick(projects).map(
          (project): Change =>
            () =>
              service.upload(
                `/v1/projects/${project}/risks/import`,
                key,
                'Title,Category\nOne,supply\nTwo,\n',
              ),
        ),
        fc.tuple(pick(projects), pick(['archive', 'unarchive'])).map(
          ([project, action]): Change =>
            () =>
              service.post(`/v1/projects/${project}/${action}`, key, {}),
        ),
        fc.tuple(pick(projects), pick([1, 9, 25])).map(
          ([project, appetite]): Change =>
            () =>
              service.patch(`/v1/projects/${project}`, key, { appetite }),
        ),
        fc.constant<Change>(async () => {
          day = Math.min(30, day + 1);
          clock.set(`2026-11-${day}T09:00:00.000Z`);
          return undefined;
        }),
      )
      .chain((all) => fc.shuffledSubarray(all, { minLength: all.length }));
    const firstRisks = fc.array(createRisk, { minLength: 4, maxLength: 4 });
    await check();
    await fc.assert(
      fc.asyncProperty(firstRisks, changes, async (risks, all) => {
        const sequence = [...risks, ...all];
        for (const change of sequence) {
          // Requests in the middle of a change show the state before or after it, and spoil nothing.
          const [response, ...during] = await Promise.all([
            change(),
            service.get('/v1/risks/summary?top=3', key),
            service.get('/v1/risks/summary?top=4', limited.key),
          ]);
          assert.deepEqual(
            during.map(({ status }) => status),
            [200, 200],
          );
          if (response && response.status < 300) done++;
          else assert.ok(!response || response.status < 500, String(response?.text));
          await check();
        }
      }),
      { numRuns: 2, endOnFailure: true },
    );
    assert.ok(done >= 8, `Only ${done} changes succeeded.`);
  });
});
