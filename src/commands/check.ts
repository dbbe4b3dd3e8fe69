import { type Kysely, sql } from 'kysely';
import { systemClock } from '../core/clock.ts';
import { UsageError } from '../core/errors.ts';
import { joinWords } from '../core/text.ts';
import type { Database } from '../database/open.ts';
import type { StoredTable } from '../database/tables.ts';
import { findEndingAdministrators } from '../store/access/administrators.ts';
import { readRiskModels } from '../store/risk-model.ts';
import { allTables, backupTables, columnSchemas, type Tables } from '../store/tables.ts';
import { changeRules } from './checks/changes.ts';
import {
  findWrongHistory,
  findWrongRows,
  findWrongSettings,
  foldValidator,
  resourcesWithHistory,
} from './checks/contents.ts';
import { rowValidator } from './checks/row-validator.ts';
import { type Rule, rulesFor } from './checks/rules.ts';
import { restoreRules, valueRules } from './checks/values.ts';

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
  let { db, end } = await database.snapshot('stream');
  const violations: Violation[] = [];
  const warnings: string[] = [];
  let checks = 0;
  /** A value that no statement expects, such as a BLOB, makes a check fail. The others run in a new snapshot. */
  const run = async <T>(area: string, rule: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      if (database.explain(error)) throw error;
      violations.push({ area, rule, rows: 1, samples: [`cannot be checked (${(error as Error).message})`] });
      await end();
      ({ db, end } = await database.snapshot('stream'));
      return undefined;
    }
  };
  try {
    const rules = await run('rows', 'the risk models are valid', async () =>
      rulesFor(await readRiskModels(db)),
    );
    for (const { area, rule, find } of allChecks(database, await database.describeTables(db), rules)) {
      onProgress(area, ++checks);
      const found = await run(area, rule, () => find(db));
      if (found && found.rows > 0) violations.push({ area, rule, ...found });
    }
    const ending =
      (await run('access', 'somebody can manage it', () => findEndingAdministrators(db, systemClock()))) ??
      [];
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

type Found = Pick<Violation, 'rows' | 'samples'>;
type Check = { area: string; rule: string; find(db: Kysely<Tables>): Promise<Found> };

const check = (
  area: string,
  rule: string,
  find: (db: Kysely<Tables>) => AsyncIterable<string> | Promise<string[]>,
): Check => ({ area, rule, find: (db) => collect(find(db)) });

const ofRule = (rule: Rule): Check => ({ ...rule, find: (db) => runRule(db, rule) });

const ofFiles = ({ checkIntegrity }: Database) =>
  check('storage', 'the database finds no damage in its own structures', checkIntegrity);

const ofColumns = (stored: readonly StoredTable[]) =>
  check('schema', 'every table has its columns, and no others', async () =>
    backupTables.filter((name) => {
      const columns = stored.find(({ table }) => table === name)?.columns.map(({ name }) => name);
      return new Set(columns).symmetricDifference(new Set(Object.keys(columnSchemas(name)))).size > 0;
    }),
  );

function* ofRows(stored: readonly StoredTable[], names: readonly (keyof Tables)[]): Generator<Check> {
  for (const name of names) {
    const table = stored.find((found) => found.table === name);
    if (table)
      yield check('rows', `every row of ${name} is valid`, (db) =>
        findWrongRows(
          db,
          table,
          rowValidator(
            name,
            table.columns.map(({ name }) => name),
          ),
        ),
      );
  }
}

/** What a restore needs. The columns of older versions are not known. */
export const restoreChecks = (
  database: Database,
  stored: readonly StoredTable[],
  isOlder: boolean,
): Check[] => [
  ofFiles(database),
  ...(isOlder ? [] : [ofColumns(stored)]),
  ...restoreRules(stored).map(ofRule),
  ...ofRows(stored, backupTables),
];

function* allChecks(
  database: Database,
  stored: readonly StoredTable[],
  rules: readonly Rule[] = rulesFor([]),
): Generator<Check> {
  yield ofFiles(database);
  yield ofColumns(stored);
  yield check(
    'schema',
    'indexes and constraints are those of a new database',
    database.findSchemaDifferences,
  );
  yield check('settings', 'the time zone and the times in the settings exist', findWrongSettings);
  yield* [...rules, ...valueRules(), ...changeRules].map(ofRule);
  yield* ofRows(stored, allTables);
  for (const table of stored) {
    const validateFolds = foldValidator(table);
    if (validateFolds)
      yield check('names', `the folded texts of ${table.table} follow from the others`, (db) =>
        findWrongRows(db, table, validateFolds),
      );
    const resource = resourcesWithHistory.find((found) => found.table === table.table);
    if (resource)
      yield check('history', `${table.table} have the values that their history ends with`, (db) =>
        findWrongHistory(db, resource, table),
      );
  }
}

async function runRule(db: Kysely<Tables>, { broken }: Rule): Promise<Found> {
  const { rows } = await sql<{ label: string }>`
    select label from (${broken}) as broken order by label limit ${sql.lit(maxSamples)}`.execute(db);
  const samples = rows.map(({ label }) => label);
  if (samples.length < maxSamples) return { rows: samples.length, samples };
  const counted = await sql<{ count: number }>`select count(*) as count from (${broken}) as broken`.execute(
    db,
  );
  return { rows: counted.rows[0]?.count ?? 0, samples };
}

async function collect(ids: AsyncIterable<string> | Promise<string[]>): Promise<Found> {
  const found: Found = { rows: 0, samples: [] };
  for await (const id of await ids) if (++found.rows <= maxSamples) found.samples.push(id);
  return found;
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
