import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { Static, TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { daysLater, momentOf } from '../src/core/clock.ts';
import { idPattern } from '../src/core/ids.ts';
import type { Database } from '../src/database/open.ts';
import { listPage } from '../src/lists/list.ts';
import { getGroup } from '../src/resources/groups/queries.ts';
import { Group } from '../src/resources/groups/schema.ts';
import { HistoryEntry } from '../src/resources/history/schema.ts';
import { getIssue } from '../src/resources/issues/queries.ts';
import { Issue, openStatuses } from '../src/resources/issues/schema.ts';
import { issueTransitions } from '../src/resources/issues/transitions.ts';
import { getPerson } from '../src/resources/personnel/queries.ts';
import { Person } from '../src/resources/personnel/schema.ts';
import { getProject } from '../src/resources/projects/queries.ts';
import { Project } from '../src/resources/projects/schema.ts';
import { getRisk } from '../src/resources/risks/queries.ts';
import { riskList } from '../src/resources/risks/register.ts';
import { scoreOf } from '../src/resources/risks/rules/scoring.ts';
import { riskTransitions } from '../src/resources/risks/rules/transitions.ts';
import { activeStatuses, Risk } from '../src/resources/risks/schema.ts';
import { getTask } from '../src/resources/tasks/queries.ts';
import { Task } from '../src/resources/tasks/schema.ts';
import { openDatabase } from '../src/store/open.ts';
import { firstModel, levelOf } from '../src/store/risk-model.ts';
import { differencesBetween } from '../src/store/writes/history.ts';
import { fillDemo } from './fill.ts';
import { createOrganization } from './organization.ts';

const moment = momentOf(new Date('2026-11-15T09:30:00.000Z'));
const organization = createOrganization(moment);
const { people, groups, memberships, projects, risks, past_risks, issues, tasks, history } = organization;

type Version = (typeof risks)[number];
type Entry = (typeof history)[number];

const pastById = Map.groupBy(past_risks, ({ id }) => id);
const historyBySubject = Map.groupBy(history, ({ subject_id }) => subject_id);

/** All versions of a risk in ascending order, without the columns that only past versions have. */
const versionsOf = (risk: Version): Version[] => [
  ...(pastById.get(risk.id) ?? []).map(({ valid_until, ...version }) => version),
  risk,
];

const entriesOf = ({ id }: { id: string }): Entry[] => historyBySubject.get(id) ?? [];

describe('the demo organization', () => {
  test('is identical for the same moment', () => {
    assert.equal(JSON.stringify(createOrganization(moment)), JSON.stringify(organization));
  });

  test('can be created on any day and just after midnight', () => {
    for (const now of ['2024-02-29T00:00:00.000Z', '2026-12-31T23:59:59.999Z', '2027-03-01T05:00:00.000Z']) {
      const { past_risks: past, history: entries, ...other } = createOrganization(momentOf(new Date(now)));
      const { past_risks: _, history: __, ...expected } = organization;
      assert.deepEqual(sizesOf(other), sizesOf(expected));
      for (const row of [...Object.values(other).flat(), ...past]) {
        if ('updated_at' in row) assert.ok(row.created_at <= row.updated_at && row.updated_at <= now);
      }
      for (const { at } of entries) assert.ok(at <= now);
    }
  });

  test('has the documented number of rows', () => {
    const { memberships: memberCount, past_risks: past, history: entries, ...sizes } = sizesOf(organization);
    assert.deepEqual(sizes, { people: 250, groups: 20, projects: 30, risks: 700, issues: 1000, tasks: 2000 });
    assert.ok(memberCount > 200);
    assert.ok(past > 900);
    assert.ok(entries > 10_000);
  });

  test('has people, projects, risks, issues and tasks in every status', () => {
    assertAllUsed(Person, people, ['kind', 'status']);
    assertAllUsed(Project, projects, ['status']);
    assertAllUsed(Risk, risks, ['kind', 'status', 'strategy']);
    assertAllUsed(Issue, issues, ['severity', 'priority', 'status', 'resolution']);
    assertAllUsed(Task, tasks, ['kind', 'status']);
    assert.ok(projects.some(({ archived_at }) => archived_at !== null));
  });

  test('references only rows that come earlier in insertion order', () => {
    const known = new Set<string>();
    const assertKnown = (row: object) => {
      for (const [field, value] of Object.entries(row)) {
        if (field.endsWith('_id') && !isNotReference(field) && value !== null)
          assert.ok(known.has(value), `${field} ${value}`);
      }
    };
    const rows = [people, groups, memberships, projects, risks, past_risks, issues, tasks, history].flat();
    for (const row of rows) {
      assertKnown('added_at' in row ? { group_id: row.group_id, member_id: row.user_id } : row);
      if ('name' in row && 'user_id' in row) known.add(row.user_id);
      else if ('id' in row) known.add(row.id);
    }
  });

  test('links risks, issues and tasks only within a project', () => {
    const projectOf = new Map([...risks, ...issues].map(({ id, project_id }) => [id, project_id]));
    for (const { risk_id, project_id } of [...issues, ...tasks]) {
      if (risk_id) assert.equal(projectOf.get(risk_id), project_id);
    }
    for (const { kind, issue_id, risk_id, project_id } of tasks) {
      if (issue_id) assert.equal(projectOf.get(issue_id), project_id);
      assert.equal(kind === 'mitigation', risk_id !== null);
      assert.equal(kind === 'resolution', issue_id !== null);
    }
  });

  test('has unique ids, email addresses and external ids, and unique titles within a project', () => {
    assertUnique(people.map(({ user_id }) => user_id));
    assertUnique([...groups, ...projects, ...risks, ...issues, ...tasks, ...history].map(({ id }) => id));
    assertUnique(people.flatMap(({ email }) => email?.toLowerCase() ?? []));
    assertUnique([...people, ...risks, ...issues, ...tasks].flatMap(({ external_id }) => external_id ?? []));
    assertUnique([...risks, ...issues].map(({ project_id, title }) => `${project_id} ${title}`));
    for (const { user_id } of people) assert.match(user_id, new RegExp(idPattern('person')));
  });

  test('numbers keys from 1 in creation order, like ids', () => {
    for (const project of projects) {
      const kinds = {
        R: [risks, project.risks_created],
        I: [issues, project.issues_created],
        T: [tasks, project.tasks_created],
      };
      for (const [letter, [rows, count]] of Object.entries(kinds)) {
        const own = (rows as typeof tasks).filter(({ project_id }) => project_id === project.id);
        assert.equal(own.length, count);
        const numbers = own.map((_, i) => `${project.key}-${letter}${i + 1}`);
        assert.deepEqual(
          own.map(({ key }) => key),
          numbers,
        );
        // The prefix and the ten digits that contain the timestamp.
        const times = own.map(({ id }) => id.slice(0, 14));
        assert.deepEqual(times, times.toSorted());
      }
    }
  });

  test('has an accountable human for every agent', () => {
    const humans = new Set(people.filter(({ kind }) => kind === 'human').map(({ user_id }) => user_id));
    for (const { kind, accountable_user_id } of people) {
      assert.equal(kind === 'agent', accountable_user_id !== null);
      if (kind === 'agent') assert.ok(humans.has(accountable_user_id ?? ''));
    }
  });

  test('sets the fields that the status of a risk requires', () => {
    const materialized = new Set(issues.map(({ risk_id }) => risk_id));
    for (const { id, status } of risks) assert.equal(status === 'materialized', materialized.has(id));
    for (const risk of [...risks, ...past_risks]) {
      assert.equal(risk.status === 'accepted', risk.accepted_until !== null);
      assert.equal(
        risk.status === 'accepted',
        risk.acceptance_reason !== null && risk.accepted_by_user_id !== null,
      );
      assert.equal(risk.status === 'closed', risk.closure_reason !== null);
      assert.ok(risk.owner_user_id === null || risk.owner_group_id === null);
      assert.ok((risk.due_on ?? risk.raised_on) >= risk.raised_on);
      assert.equal(risk.probability === null, risk.impact === null);
      assert.equal(risk.probability === null, risk.initial_score === null);
    }
  });

  test('sets the fields that the status of an issue requires', () => {
    for (const issue of issues) {
      assert.equal(isOpen(issue), issue.resolution === null);
      assert.equal(issue.status === 'blocked', issue.blocked_reason !== null);
      assert.ok(issue.owner_user_id === null || issue.owner_group_id === null);
      assert.ok((issue.due_on ?? issue.raised_on) >= issue.raised_on);
    }
  });

  test('has a few critical risks, some unassessed risks and some overdue reviews', () => {
    const ratio = (matches: (risk: (typeof risks)[number]) => boolean) =>
      risks.filter(matches).length / risks.length;
    const level = ({ probability, impact }: (typeof risks)[number]) =>
      levelOf(firstModel, probability ?? null, impact ?? null);
    assertBetween(
      ratio((risk) => level(risk) === 'critical'),
      0.01,
      0.06,
    );
    assertBetween(
      ratio((risk) => level(risk) === null),
      0.05,
      0.11,
    );
    assertBetween(
      ratio((risk) => isActive(risk) && (risk.review_on ?? '9999') < moment.today),
      0.05,
      0.2,
    );
  });

  test('assigns a small part of the open issues to people who have left', () => {
    const left = new Set(
      people.filter(({ end_on }) => (end_on ?? '9999') < moment.today).map(({ user_id }) => user_id),
    );
    const open = issues.filter(isOpen).filter(({ assignee_user_id }) => assignee_user_id);
    const orphaned = open.filter(({ assignee_user_id }) => left.has(assignee_user_id ?? ''));
    assertBetween(orphaned.length / open.length, 0.02, 0.12);
  });

  test('has all versions of a risk without gaps, up to the current version', () => {
    for (const risk of risks) {
      const past = pastById.get(risk.id) ?? [];
      const versions = versionsOf(risk);
      assert.deepEqual(
        versions.map(({ version }) => version),
        versions.map((_, i) => i + 1),
      );
      assert.deepEqual(
        past.map(({ valid_until }) => valid_until),
        versions.slice(1).map(({ updated_at }) => updated_at),
      );
      assert.equal(versions[0]?.updated_at, risk.created_at);
      for (const { updated_at, valid_until } of past) assert.ok(updated_at < valid_until, risk.key);
      for (const version of past) {
        assert.deepEqual(Object.keys(version).sort(), [...Object.keys(risk), 'valid_until'].sort());
      }
    }
    assertBetween(pastById.size / risks.length, 0.6, 0.75);
  });

  test('changes the status of risks only by allowed transitions and stores the initial score', () => {
    for (const risk of risks) {
      const versions = versionsOf(risk);
      assert.ok(['open', 'mitigating', 'monitoring'].includes(versions[0]?.status ?? ''), risk.key);
      const score = ({ probability, impact }: Version) => scoreOf(probability ?? null, impact ?? null);
      for (const [before, after] of pairsOf(versions)) {
        const { status } = before;
        assert.ok(status === after.status || riskTransitions[status].includes(after.status), risk.key);
        assert.equal(after.initial_score, before.initial_score ?? score(after));
      }
      assert.equal(versions[0]?.initial_score, score(versions[0] ?? risk));
    }
  });

  test('accepts risks for at most a year and has no expired acceptances', () => {
    for (const { accepted_until } of risks) assert.ok((accepted_until ?? moment.today) >= moment.today);
    for (const { accepted_until, updated_at } of [...risks, ...past_risks]) {
      const day = updated_at.slice(0, 10);
      assert.ok(!accepted_until || (day <= accepted_until && accepted_until <= daysLater(day, 365)));
    }
  });

  test('records the differences between the versions of a risk, and a reason for each reopened risk', () => {
    for (const risk of risks) {
      const expected = pairsOf(versionsOf(risk)).flatMap(([before, after]) => {
        const { version, created_at, updated_at, initial_score, ...written } = after;
        const { score, level, residual_score, residual_level, rank_key, ...fields } = written;
        const differences = differencesBetween(before, after, Object.keys(fields));
        assert.notDeepEqual(differences, {});
        return Object.entries(differences).map(([field, { from, to }]) => ({
          at: updated_at,
          field,
          from,
          to,
        }));
      });
      const [created, ...changes] = entriesOf(risk);
      assert.equal(created?.field, 'created');
      assert.deepEqual(changes.map(changeIn), expected);
      const reopened = changes.filter(({ field, from }) => field === 'status' && from === '"closed"');
      for (const { reason } of reopened) assert.ok(reason);
    }
    const transitions = history
      .filter(({ field }) => field === 'status')
      .map(({ from, to }) => `${from} ${to}`);
    assert.ok(transitions.includes('"closed" "open"') && transitions.includes('"accepted" "open"'));
  });

  test('records the creation and every status transition', () => {
    for (const row of [...projects, ...risks, ...issues, ...tasks]) {
      const [created, ...changes] = entriesOf(row);
      assert.deepEqual(created && changeIn(created), {
        at: row.created_at,
        field: 'created',
        from: null,
        to: row.key,
      });
      assert.equal(row.version, new Set([created, ...changes].map((entry) => entry?.at)).size, row.key);
      assert.equal(changes.at(-1)?.at ?? row.created_at, row.updated_at);
      const transitions = changes.filter(({ field }) => field === 'status').map(changeIn);
      for (const [before, after] of pairsOf(transitions)) assert.equal(before.to, after.from);
      if (transitions.length > 0) assert.equal(transitions.at(-1)?.to, row.status);
    }
    for (const entries of historyBySubject.values()) {
      assert.deepEqual(
        entries,
        entries.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      );
    }
  });

  test('changes the status of issues only by allowed transitions', () => {
    for (const { id } of issues) {
      const transitions = entriesOf({ id }).filter(({ field }) => field === 'status');
      for (const { from, to } of transitions.map(changeIn)) {
        assert.ok(issueTransitions[from as Issue['status']].includes(to), `${from} ${to}`);
      }
    }
  });

  test('does not change an archived project', () => {
    for (const { id, archived_at } of projects) {
      const archived = entriesOf({ id }).filter(({ field }) => field === 'archived_at');
      const expected = { at: archived_at, field: 'archived_at', from: null, to: archived_at };
      assert.deepEqual(archived.map(changeIn), archived_at ? [expected] : []);
      const within = [...risks, ...issues, ...tasks].filter(({ project_id }) => project_id === id);
      for (const { updated_at } of within) assert.ok(updated_at < (archived_at ?? '9999'));
    }
  });

  test('stores the correct counts of open issues and active risks on each project', () => {
    for (const project of projects) {
      const within = ({ project_id }: { project_id: string }) => project_id === project.id;
      const open = issues.filter(within).filter(isOpen);
      const active = risks.filter(within).filter(isActive);
      const { open_issues, critical_issues, active_risks, unassessed_risks } = project;
      assert.deepEqual(
        { open_issues, critical_issues, active_risks, unassessed_risks },
        {
          open_issues: open.length,
          critical_issues: open.filter(({ severity }) => severity === 'critical').length,
          active_risks: active.length,
          unassessed_risks: active.filter(({ probability }) => probability === null).length,
        },
      );
    }
  });

  test('fills a new database with rows that match the API schemas', async (t) => {
    const database = await newDatabase(t);
    assert.deepEqual(await fillDemo(database, moment), sizesOf(organization));

    const { db } = database;
    const all = <Row, Resource>(rows: Row[], read: (row: Row) => Promise<Resource>) =>
      Promise.all(rows.map(read));
    assertAllValid(Person, await all(people, ({ user_id }) => getPerson(db, user_id, moment)));
    assertAllValid(Group, await all(groups, ({ id }) => getGroup(db, id)));
    const readProjects = await all(projects, ({ id }) => getProject(db, id, moment));
    assertAllValid(Project, readProjects);
    const shown = readProjects.filter(({ archived_at }) => archived_at === null);
    const onTrack = shown.filter(({ health }) => health.state === 'on_track').length;
    assert.ok(onTrack >= shown.length / 4 && onTrack <= shown.length / 2, `${onTrack} are on track`);
    assertAllValid(Risk, await all(risks, ({ project_id, key }) => getRisk(db, project_id, key, moment)));
    assertAllValid(Issue, await all(issues, ({ project_id, key }) => getIssue(db, project_id, key, moment)));
    assertAllValid(Task, await all(tasks, ({ project_id, key }) => getTask(db, project_id, key, moment)));
    const entries = history.map(({ subject_id, actor_user_id, from, to, ...entry }) => ({
      ...entry,
      actor: {
        type: actor_user_id ? 'person' : 'service',
        user_id: actor_user_id,
        key_id: null,
        name: entry.key_name,
      },
      from: JSON.parse(from),
      to: JSON.parse(to),
    }));
    assertAllValid(HistoryEntry, entries);
    // People change things; the service itself only ends acceptances.
    const byService = entries.filter(({ actor }) => actor.type === 'service');
    assert.deepEqual([...new Set(byService.map(({ actor }) => actor.name))], ['Muster']);
  });

  test('ranks risks in a different order than a month ago', async (t) => {
    const database = await newDatabase(t);
    await fillDemo(database, moment);
    const now = await rankingAt(database);
    const then = await rankingAt(database, daysLater(moment.today, -30));
    assert.ok(now.length > 300 && then.length > 300);
    assert.notDeepEqual(then.slice(0, 10), now.slice(0, 10));
    // The order also differs among the risks that are in both registers.
    const [before, after] = [then.filter((id) => now.includes(id)), now.filter((id) => then.includes(id))];
    const moved = after.filter((id, i) => Math.abs(before.indexOf(id) - i) >= 10);
    assertBetween(moved.length / after.length, 0.1, 0.9);
  });
});

async function newDatabase(t: TestContext): Promise<Database> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-test-'));
  const database = openDatabase(`sqlite:${join(folder, 'demo.db')}`);
  database.setBaseUrl('http://127.0.0.1:8080');
  t.after(async () => {
    await database.close();
    rmSync(folder, { recursive: true });
  });
  await database.migrate();
  return database;
}

async function rankingAt({ db }: Database, as_of?: string): Promise<string[]> {
  const register = { filters: { status: ['active' as const], archived: 'false' as const }, moment, as_of };
  const rows = await listPage(db, riskList(register, 'rank'), undefined, 10_000);
  return rows.map(({ json }) => JSON.parse(json).id);
}

const pairsOf = <T>(list: readonly T[]): [T, T][] =>
  list.slice(1).map((after, i) => [list[i] ?? after, after]);

const changeIn = ({ at, field, from, to }: Entry) => ({
  at,
  field,
  from: JSON.parse(from),
  to: JSON.parse(to),
});

const sizesOf = <T extends Record<string, unknown[]>>(tables: T) =>
  Object.fromEntries(Object.entries(tables).map(([name, rows]) => [name, rows.length])) as Record<
    keyof T,
    number
  >;

const isNotReference = (field: string) => ['user_id', 'external_id'].includes(field);

const isActive = ({ status }: { status: string }) => activeStatuses.some((active) => active === status);

const isOpen = ({ status }: { status: string }) => openStatuses.some((open) => open === status);

function assertUnique(values: string[]): void {
  const seen = new Set<string>();
  for (const value of values) {
    assert.ok(!seen.has(value), `${value} is not unique`);
    seen.add(value);
  }
}

function assertBetween(value: number, min: number, max: number): void {
  assert.ok(min <= value && value <= max, `${value} is not between ${min} and ${max}`);
}

/** Asserts that the rows contain every enum value of these fields. */
function assertAllUsed<S extends Type.TObject>(
  schema: S,
  rows: object[],
  fields: (keyof Static<S> & string)[],
): void {
  for (const field of fields) {
    const { enum: known = [] } = schema.properties[field] as { enum?: unknown[] };
    const used = new Set(rows.map((row) => (row as Record<string, unknown>)[field]));
    assert.ok(known.length > 1);
    assert.deepEqual([...used].sort(), [...known].sort(), field);
  }
}

function assertAllValid(schema: TSchema, values: unknown[]): void {
  const validator = Compile(schema);
  assert.ok(values.length > 0);
  for (const value of values)
    assert.ok(validator.Check(value), JSON.stringify([value, validator.Errors(value)]));
}
