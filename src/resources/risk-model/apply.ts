import { type RawBuilder, sql, type Transaction } from 'kysely';
import { newId } from '../../core/ids.ts';
import { inJsonArray } from '../../database/sql/functions.ts';
import { readRiskModel } from '../../store/risk-model.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change as Author } from '../../store/writes/change.ts';
import { addEvent, addEventsOfMany, subjectOf } from '../../store/writes/events.ts';
import { lockAllProjects } from '../../store/writes/locks.ts';
import { chunk, insertRows, timeAfter } from '../../store/writes/rows.ts';
import { issueSubject, issueWrites } from '../issues/queries.ts';
import type { Issue } from '../issues/schema.ts';
import { saveItems } from '../project-items/update.ts';
import { changeProject, getProject } from '../projects/queries.ts';
import { archiveVersions, riskSubject } from '../risks/queries.ts';
import { ratingColumns } from '../risks/rules/score-columns.ts';
import { changedColumns, type ModelChange, mappedRisks, orderOf } from './mapping.ts';
import { describeVersion } from './queries.ts';
import { type RiskModel, type RiskModelInput, riskModelResource } from './schema.ts';

/** The number of risks that one statement changes: PostgreSQL limits how long a statement may take. */
const batchSize = 2000;

/** Excludes everything that writes ratings: those transactions lock a project, or create one. */
export async function lockEverythingRated(db: Transaction<Tables>): Promise<void> {
  await lockAllProjects(db, 'risk_models');
  // A lock is sent together with the next statement. The snapshot on another connection must not be older than the locks.
  await sql`select 1`.execute(db);
}

/** What a change writes: found in a snapshot after everything was locked. */
export type Plan = {
  change: ModelChange;
  risks: readonly string[];
  issues: readonly { id: string; severity: Issue['severity'] }[];
  appetites: ReadonlyMap<string, { before: number; after: number }>;
};

/** Stores the next version of the model and maps all risks, appetites and issues. */
export async function applyChange(
  db: Transaction<Tables>,
  { change, risks, issues, appetites }: Plan,
  { restore_version, reason }: Pick<RiskModelInput, 'restore_version' | 'reason'>,
  requested: Author,
): Promise<RiskModel> {
  const { version } = await readRiskModel(db);
  const author: Author = {
    ...requested,
    now: await timeAfterAll(db, requested.now),
    reason: reason ?? `Version ${version + 1} of the risk model.`,
  };
  const id = newId('risk_model');
  await insertRows(db, 'risk_models', [
    {
      id,
      version: version + 1,
      model: JSON.stringify(change.to),
      ratings_map: JSON.stringify(change.ratings),
      restored_version: restore_version ?? null,
      reason: reason ?? null,
      actor_user_id: author.user_id,
      key_id: author.key_id,
      key_name: author.name,
      created_at: author.now,
    },
  ]);
  await changeRisks(db, change, risks, version, author);
  await changeIssues(db, issues, author);
  for (const [project_id, { before, after }] of appetites) {
    const current = await getProject(db, project_id, author);
    const differences = { appetite: { from: before, to: after } };
    await changeProject(db, current, { ...current, appetite: after }, differences, author);
  }
  const model = await describeVersion(db, { ...change.to, version: version + 1 });
  addEvent(db, {
    subject: modelSubject,
    subject_id: id,
    at: author.now,
    change: author,
    differences: { version: { from: version, to: version + 1 } },
    type: 'risk_model.changed',
    given: { data: model },
  });
  return model;
}

const modelSubject = subjectOf(riskModelResource, () => sql<string>`risk_models.model`);

/**
 * After every version of a risk and a project, even if a clock was ahead, so that each version that began before belongs to
 * a former model.
 */
async function timeAfterAll(db: Transaction<Tables>, now: string): Promise<string> {
  const { rows } = await sql<{ latest: string | null }>`select max(latest) as latest from (
    select max(updated_at) as latest from risks
    union all select max(valid_until) from past_risks
    union all select max(updated_at) from projects
    union all select max(created_at) from risk_models) as times`.execute(db);
  return timeAfter(rows[0]?.latest ?? '', now);
}

/** Gives each risk that changes a new version: with a past version, history and an event, a statement for many at a time. */
async function changeRisks(
  db: Transaction<Tables>,
  change: ModelChange,
  ids: readonly string[],
  formerVersion: number,
  author: Author,
): Promise<void> {
  for (const batch of chunk(ids, batchSize)) {
    const isInBatch = sql<boolean>`${inJsonArray(sql.ref('risks.id'), batch)}`;
    await archiveVersions(db, batch, author.now);
    await db
      .updateTable('risks')
      .from(mappedRisks(change, { ids: batch }).as('mapped') as never)
      .set({
        ...Object.fromEntries(changedColumns.map((column) => [column, sql.ref(`mapped.new_${column}`)])),
        version: sql`risks.version + 1`,
        updated_at: author.now,
      } as never)
      .where(sql<boolean>`risks.id = mapped.id`)
      .execute();
    await recordRatings(db, isInBatch, formerVersion, author);
  }
  addEventsOfMany(db, {
    count: ids.length,
    change: author,
    async insert(db, first) {
      let next = first;
      for (const batch of chunk(ids, batchSize)) {
        await insertEvents(db, sql<boolean>`${inJsonArray(sql.ref('risks.id'), batch)}`, next, author);
        next += batch.length;
      }
    },
  });
}

/** The changed risks of a batch, with the version that was replaced as `past`. */
const changed = (db: Transaction<Tables>) =>
  db
    .selectFrom('risks')
    .innerJoin('past_risks as past', (join) =>
      join.onRef('past.id', '=', 'risks.id').on(sql<boolean>`past.version = risks.version - 1`),
    );

/** Each changed rating, and the version of the model, which is all that changes for some risks. */
async function recordRatings(
  db: Transaction<Tables>,
  isInBatch: RawBuilder<boolean>,
  formerVersion: number,
  { now, user_id, key_id, name, reason = null }: Author,
): Promise<void> {
  const fields = [
    ...ratingColumns.map((field) => {
      const [from, to] = [sql.ref(`past.${field}`), sql.ref(`risks.${field}`)];
      return {
        field,
        from: jsonNumber(from),
        to: jsonNumber(to),
        differs: sql`${from} is distinct from ${to}`,
      };
    }),
    {
      field: 'model_version',
      from: sql`${String(formerVersion)}`,
      to: sql`${String(formerVersion + 1)}`,
      differs: sql`1 = 1`,
    },
  ];
  for (const { field, from, to, differs } of fields) {
    const values: Record<string, RawBuilder<unknown>> = {
      id: numberedId(newId('history')),
      subject_id: sql.ref('risks.id'),
      at: text(now),
      actor_user_id: text(user_id),
      key_id: text(key_id),
      key_name: text(name),
      field: text(field),
      from: text(from),
      to: text(to),
      reason: text(reason),
    };
    await db
      .insertInto('history')
      .columns(Object.keys(values) as never)
      .expression(
        changed(db)
          .select(Object.entries(values).map(([column, value]) => value.as(column)))
          .where(isInBatch)
          .where(sql<boolean>`${differs}`) as never,
      )
      .execute();
  }
}

const text = (value: unknown) => sql`cast(${value} as text)`;

const jsonNumber = (value: RawBuilder<unknown>) => sql`coalesce(cast(${value} as text), 'null')`;

const digits = '0123456789abcdefghijklmnopqrstuv';

/** An id for each row of a statement: the last four characters of a new id count the rows. */
function numberedId(id: string): RawBuilder<string> {
  const row = sql`row_number() over (order by risks.id)`;
  const places = [32 ** 3, 32 ** 2, 32, 1].map(
    (place) => sql`substr(${sql.lit(digits)}, cast((${row} / ${sql.lit(place)}) % 32 as integer) + 1, 1)`,
  );
  return sql`${text(id.slice(0, -4))} || ${sql.join(places, sql` || `)}`;
}

const eventFields = [...changedColumns].filter((column) => column !== 'rank_key');

/** As `rowOf` in `store/writes/events.ts` would write them. */
async function insertEvents(
  db: Transaction<Tables>,
  isInBatch: RawBuilder<boolean>,
  first: number,
  author: Author,
): Promise<void> {
  const previous = eventFields.map((field) => {
    const [from, to] = [sql.ref(`past.${field}`), sql.ref(`risks.${field}`)];
    const value = field.endsWith('level') ? sql`coalesce('"' || ${from} || '"', 'null')` : jsonNumber(from);
    return sql`case when ${from} is distinct from ${to} then ${sql.lit(`"${field}":`)} || ${value} || ',' else '' end`;
  });
  const [before, after] = [orderOf('past.level'), orderOf('risks.level')];
  const values: Record<string, RawBuilder<unknown>> = {
    sequence: sql`cast(${first} as bigint) + row_number() over (order by risks.id) - 1`,
    id: numberedId(newId('event')),
    type: sql`case when ${after} > ${before} then 'risk.level_raised' when ${after} < ${before} then 'risk.level_lowered'
      when past.score is distinct from risks.score then 'risk.score_changed' else 'risk.updated' end`,
    also: text('[]'),
    at: text(author.now),
    actor_user_id: text(author.user_id),
    key_id: text(author.key_id),
    key_name: text(author.name),
    subject_type: text('risk'),
    subject_id: sql.ref('risks.id'),
    previous: sql`'{' || rtrim(${sql.join(previous, sql` || `)}, ',') || '}'`,
    subject_key: sql.ref('risks.key'),
    project_id: sql.ref('risks.project_id'),
    data: riskSubject.json(author),
  };
  await db
    .insertInto('events')
    .columns(Object.keys(values) as never)
    .expression(
      riskSubject
        .from(db)
        .innerJoin('past_risks as past', (join) =>
          join.onRef('past.id', '=', 'risks.id').on(sql<boolean>`past.version = risks.version - 1`),
        )
        .select(Object.entries(values).map(([column, value]) => value.as(column)))
        .where(isInBatch) as never,
    )
    .execute();
}

async function changeIssues(
  db: Transaction<Tables>,
  issues: readonly { id: string; severity: Issue['severity'] }[],
  { reason, ...author }: Author,
): Promise<void> {
  for (const batch of chunk(issues, 250)) {
    const severities = new Map(batch.map(({ id, severity }) => [id, severity]));
    const rows = await issueSubject
      .from(db)
      .select(issueSubject.json(author).as('json'))
      .where(inJsonArray(issueSubject.id, [...severities.keys()]))
      .execute();
    const changes = rows.map(({ json }) => {
      const current: Issue = JSON.parse(json);
      const next = { ...current, severity: severities.get(current.id) ?? current.severity };
      const differences = { severity: { from: current.severity, to: next.severity } };
      return { current, next, differences, reason };
    });
    await saveItems(db, issueWrites, changes, author);
  }
}
