import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type Static, type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { momentOf } from '../clock.ts';
import { openDatabase } from '../database/open.ts';
import { getGroup } from '../groups/queries.ts';
import { Group } from '../groups/schema.ts';
import { idPattern } from '../ids.ts';
import { getIssue } from '../issues/queries.ts';
import { Issue, openStatuses } from '../issues/schema.ts';
import { getPerson } from '../personnel/queries.ts';
import { Person } from '../personnel/schema.ts';
import { getProject } from '../projects/queries.ts';
import { Project } from '../projects/schema.ts';
import { getRisk } from '../risks/queries.ts';
import { activeStatuses, Risk } from '../risks/schema.ts';
import { levelOf, scoreOf } from '../risks/scoring.ts';
import { Task } from '../tasks/schema.ts';
import { fillDemo } from './fill.ts';
import { organisation } from './organisation.ts';

const moment = momentOf(new Date('2026-11-15T09:30:00.000Z'));
const made = organisation(moment);
const { people, groups, memberships, projects, risks, issues, tasks } = made;

describe('the demo organisation', () => {
  test('is the same for the same moment', () => {
    assert.equal(JSON.stringify(organisation(moment)), JSON.stringify(made));
  });

  test('can be made on any day, and just after midnight', () => {
    for (const now of ['2024-02-29T00:00:00.000Z', '2026-12-31T23:59:59.999Z', '2027-03-01T05:00:00.000Z']) {
      const other = organisation(momentOf(new Date(now)));
      assert.deepEqual(sizesOf(other), sizesOf(made));
      for (const row of Object.values(other).flat()) {
        if ('updated_at' in row) assert.ok(row.created_at <= row.updated_at && row.updated_at <= now);
      }
    }
  });

  test('has the promised size', () => {
    const { memberships: belonging, ...sizes } = sizesOf(made);
    assert.deepEqual(sizes, { people: 250, groups: 20, projects: 30, risks: 700, issues: 1000, tasks: 2000 });
    assert.ok(belonging > 200);
  });

  test('has people, projects, risks, issues and tasks in every state there is', () => {
    assertAllUsed(Person, people, ['kind', 'status']);
    assertAllUsed(Project, projects, ['status']);
    assertAllUsed(Risk, risks, ['kind', 'status', 'strategy']);
    assertAllUsed(Issue, issues, ['severity', 'priority', 'status', 'resolution']);
    assertAllUsed(Task, tasks, ['kind', 'status']);
    assert.ok(projects.some(({ archived_at }) => archived_at !== null));
  });

  test('names only what is there, and names it after it was made', () => {
    const known = new Set<string>();
    const assertKnown = (row: object) => {
      for (const [field, value] of Object.entries(row)) {
        if (field.endsWith('_id') && !ownId(field) && value !== null)
          assert.ok(known.has(value), `${field} ${value}`);
      }
    };
    for (const row of [...people, ...groups, ...memberships, ...projects, ...risks, ...issues, ...tasks]) {
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

  test('gives every id, e-mail, external id and title in a project once', () => {
    assertUnique(people.map(({ user_id }) => user_id));
    assertUnique([...groups, ...projects, ...risks, ...issues, ...tasks].map(({ id }) => id));
    assertUnique(people.flatMap(({ email }) => email?.toLowerCase() ?? []));
    assertUnique([...people, ...risks, ...issues, ...tasks].flatMap(({ external_id }) => external_id ?? []));
    assertUnique([...risks, ...issues].map(({ project_id, title }) => `${project_id} ${title}`));
    for (const { user_id } of people) assert.match(user_id, new RegExp(idPattern('person')));
  });

  test('numbers keys from 1 in the order of making, as ids are', () => {
    for (const project of projects) {
      const kinds = {
        R: [risks, project.risks_made],
        I: [issues, project.issues_made],
        T: [tasks, project.tasks_made],
      };
      for (const [letter, [rows, count]] of Object.entries(kinds)) {
        const own = (rows as typeof tasks).filter(({ project_id }) => project_id === project.id);
        assert.equal(own.length, count);
        const numbers = own.map((_, i) => `${project.key}-${letter}${i + 1}`);
        assert.deepEqual(
          own.map(({ key }) => key),
          numbers,
        );
        // The prefix and the ten digits that hold the time.
        const times = own.map(({ id }) => id.slice(0, 14));
        assert.deepEqual(times, times.toSorted());
      }
    }
  });

  test('has a human to answer for every agent', () => {
    const humans = new Set(people.filter(({ kind }) => kind === 'human').map(({ user_id }) => user_id));
    for (const { kind, accountable_user_id } of people) {
      assert.equal(kind === 'agent', accountable_user_id !== null);
      if (kind === 'agent') assert.ok(humans.has(accountable_user_id ?? ''));
    }
  });

  test('says of every risk what its state asks for', () => {
    const happened = new Set(issues.map(({ risk_id }) => risk_id));
    for (const risk of risks) {
      assert.equal(risk.status === 'accepted', risk.accepted_until !== null);
      assert.equal(
        risk.status === 'accepted',
        risk.acceptance_reason !== null && risk.accepted_by_user_id !== null,
      );
      assert.equal(risk.status === 'closed', risk.closure_reason !== null);
      assert.equal(risk.status === 'materialized', happened.has(risk.id));
      assert.ok(risk.owner_user_id === null || risk.owner_group_id === null);
      assert.ok((risk.due_on ?? risk.raised_on) >= risk.raised_on);
      assert.equal(risk.probability === null, risk.impact === null);
      assert.equal(risk.probability === null, risk.initial_score === null);
    }
  });

  test('says of every issue what its state asks for', () => {
    for (const issue of issues) {
      assert.equal(isOpen(issue), issue.resolution === null);
      assert.equal(issue.status === 'blocked', issue.blocked_reason !== null);
      assert.ok(issue.owner_user_id === null || issue.owner_group_id === null);
      assert.ok((issue.due_on ?? issue.raised_on) >= issue.raised_on);
    }
  });

  test('has few critical risks, some unassessed ones and some that wait for a review', () => {
    const share = (matches: (risk: (typeof risks)[number]) => boolean) =>
      risks.filter(matches).length / risks.length;
    const level = ({ probability, impact }: (typeof risks)[number]) =>
      levelOf(scoreOf(probability ?? null, impact ?? null));
    assertBetween(
      share((risk) => level(risk) === 'critical'),
      0.01,
      0.06,
    );
    assertBetween(
      share((risk) => level(risk) === null),
      0.05,
      0.11,
    );
    const isActive = ({ status }: (typeof risks)[number]) =>
      activeStatuses.some((active) => active === status);
    assertBetween(
      share((risk) => isActive(risk) && (risk.review_on ?? '9999') < moment.today),
      0.05,
      0.2,
    );
  });

  test('leaves some open work with people who have left, and nearly all with people who are here', () => {
    const left = new Set(
      people.filter(({ end_on }) => (end_on ?? '9999') < moment.today).map(({ user_id }) => user_id),
    );
    const open = issues.filter(isOpen).filter(({ assignee_user_id }) => assignee_user_id);
    const orphaned = open.filter(({ assignee_user_id }) => left.has(assignee_user_id ?? ''));
    assertBetween(orphaned.length / open.length, 0.02, 0.12);
  });

  test('fills a new database with what the API promises', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'muster-test-'));
    const database = openDatabase(`sqlite:${join(folder, 'demo.db')}`);
    t.after(async () => {
      await database.close();
      rmSync(folder, { recursive: true });
    });
    await database.migrate();
    assert.deepEqual(await fillDemo(database, moment), sizesOf(made));

    const { db } = database;
    const all = <Row, Resource>(rows: Row[], read: (row: Row) => Promise<Resource>) =>
      Promise.all(rows.map(read));
    assertAllValid(Person, await all(people, ({ user_id }) => getPerson(db, user_id, moment)));
    assertAllValid(Group, await all(groups, ({ id }) => getGroup(db, id)));
    assertAllValid(Project, await all(projects, ({ id }) => getProject(db, id, moment)));
    assertAllValid(Risk, await all(risks, ({ project_id, key }) => getRisk(db, project_id, key)));
    assertAllValid(Issue, await all(issues, ({ project_id, key }) => getIssue(db, project_id, key, moment)));
    const { project_key: _, project_name: __, assignee_name: ___, ...stored } = Task.properties;
    assertAllValid(Type.Object(stored, { additionalProperties: false }), tasks);
  });
});

const sizesOf = <T extends Record<string, unknown[]>>(tables: T) =>
  Object.fromEntries(Object.entries(tables).map(([name, rows]) => [name, rows.length])) as Record<
    keyof T,
    number
  >;

const ownId = (field: string) => ['user_id', 'external_id'].includes(field);

const isOpen = ({ status }: { status: string }) => openStatuses.some((open) => open === status);

function assertUnique(values: string[]): void {
  assert.deepEqual(
    values.filter((value, i) => values.indexOf(value) !== i),
    [],
  );
}

function assertBetween(value: number, least: number, most: number): void {
  assert.ok(least <= value && value <= most, `${value} is not between ${least} and ${most}`);
}

/** Every value that the schema knows for these fields is in some row. */
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
