import { type Kysely, sql } from 'kysely';
import { systemClock } from '../core/clock.ts';
import { UsageError } from '../core/errors.ts';
import { joinWords } from '../core/text.ts';
import type { Database } from '../database/open.ts';
import { findEndingAdministrators } from '../store/access/administrators.ts';
import { readRiskModels } from '../store/risk-model.ts';
import { allTables, type Tables } from '../store/tables.ts';
import {
  findInvalidRows,
  findWrongHistory,
  findWrongNames,
  resourcesWithHistory,
} from './checks/contents.ts';
import { type Rule, rulesFor } from './checks/rules.ts';

/** What is not true: the rule, how many rows break it, and some of them. */
type Violation = { area: string; rule: string; rows: number; samples: string[] };

export type CheckResult = {
  database: string;
  checks: number;
  violations: Violation[];
  /** What is consistent, but soon a problem. */
  warnings: string[];
  seconds: number;
};

const maxSamples = 5;

/** Checks in one snapshot that the data is consistent. It changes nothing and blocks no writer. */
export async function checkCommand(
  database: Database,
  onProgress: (area: string, done: number) => void,
): Promise<CheckResult> {
  const start = performance.now();
  const { applied, pending } = await database.migrations();
  if (applied.length === 0)
    throw new UsageError(`The database ${database.name} is empty. There is nothing to check.`);
  if (pending.length > 0)
    throw new UsageError(
      `The database ${database.name} was written by an older version of Muster. Run muster migrate first.`,
    );
  const { db, end } = await database.snapshot('stream');
  const violations: Violation[] = [];
  const warnings: string[] = [];
  let checks = 0;
  try {
    for await (const { area, rule, rows, samples } of runChecks(database, db)) {
      onProgress(area, ++checks);
      if (rows > 0) violations.push({ area, rule, rows, samples });
    }
    const ending = await findEndingAdministrators(db, systemClock());
    if (ending.length > 0)
      warnings.push(
        `access: soon nobody can manage it: only ${joinWords(ending)} can, and ends within 30 days. Create a key ` +
          'with keys.manage that does not expire, or give a person with a password or passkey this scope.',
      );
  } finally {
    await end();
  }
  const seconds = (performance.now() - start) / 1000;
  return { database: database.name, checks, violations, warnings, seconds };
}

async function* runChecks(database: Database, db: Kysely<Tables>): AsyncGenerator<Violation> {
  const broken = await database.checkIntegrity(db);
  yield {
    area: 'storage',
    rule: 'the database finds no damage in its own structures',
    rows: broken.length,
    samples: broken.slice(0, maxSamples),
  };
  for (const rule of rulesFor(await readRiskModels(db))) yield runRule(db, rule);
  for (const table of ['people', 'groups', 'projects', 'keys', 'categories'] as const)
    yield collect('names', `${table}.name_folded follows from the name`, findWrongNames(db, table));
  const stored = await database.describeTables(db);
  for (const table of allTables) {
    const description = stored.find((found) => found.table === table);
    if (description)
      yield collect('rows', `every row of ${table} is valid`, findInvalidRows(db, description));
  }
  for (const resource of resourcesWithHistory) {
    const description = stored.find(({ table }) => table === resource.table);
    const rule = `${resource.table} have the values that their history ends with`;
    if (description) yield collect('history', rule, findWrongHistory(db, resource, description));
  }
}

async function runRule(db: Kysely<Tables>, { area, rule, broken }: Rule): Promise<Violation> {
  const { rows } = await sql<{ label: string }>`
    select label from (${broken}) as broken order by label limit ${sql.lit(maxSamples)}`.execute(db);
  const samples = rows.map(({ label }) => label);
  if (samples.length < maxSamples) return { area, rule, rows: samples.length, samples };
  const counted = await sql<{ count: number }>`select count(*) as count from (${broken}) as broken`.execute(
    db,
  );
  return { area, rule, rows: counted.rows[0]?.count ?? 0, samples };
}

async function collect(area: string, rule: string, ids: AsyncIterable<string>): Promise<Violation> {
  const violation: Violation = { area, rule, rows: 0, samples: [] };
  for await (const id of ids) if (++violation.rows <= maxSamples) violation.samples.push(id);
  return violation;
}

/** The report for people: one line, or one line for each rule that is broken. */
export function* checkReport(result: CheckResult): Generator<string> {
  const { database, checks, violations, warnings, seconds } = result;
  for (const { area, rule, rows, samples } of violations) {
    const more = rows > samples.length ? [`${rows - samples.length} more`] : [];
    yield `${area}: not true that ${rule}: ${joinWords([...samples, ...more])}.`;
  }
  yield* warnings;
  const outcome = violations.length === 0 ? 'all is well' : `${violations.length} are not true`;
  yield `${database}: ${checks} checks in ${seconds.toFixed(1)} s, ${outcome}.`;
}
