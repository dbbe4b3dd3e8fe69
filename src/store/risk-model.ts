import { type Kysely, type RawBuilder, sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { statement } from '../database/sql/statement.ts';
import { defaultModel, type LevelId, type StoredModel } from '../resources/risk-model/schema.ts';
import type { Tables } from './tables.ts';

/** A version of the risk model, and the time from which it is in force. */
export type Model = StoredModel & { version: number; since: string };

/** The model before the organization has changed it. */
export const firstModel: Model = { ...defaultModel, version: 1, since: '' };

/**
 * The risk model in force. A transaction that writes ratings reads it after it has locked their project: a change of the
 * model locks all projects, so no rating is written by a former model.
 */
export async function readRiskModel(db: Kysely<Tables>): Promise<Model> {
  const [row] = (await latest(db)).rows;
  return row ? parsed(row) : firstModel;
}

const latest = statement<Row>((db) =>
  db.selectFrom('risk_models').select(['version', 'model', 'created_at']).orderBy('version', 'desc').limit(1),
);

/** All versions, the oldest first. */
export async function readRiskModels(db: Kysely<Tables>): Promise<Model[]> {
  const rows = await db
    .selectFrom('risk_models')
    .select(['version', 'model', 'created_at'])
    .orderBy('version')
    .execute();
  return [firstModel, ...rows.map(parsed)];
}

/** The model that was in force just before an instant. */
export async function readRiskModelBefore(db: Kysely<Tables>, end: string): Promise<Model> {
  const row = await db
    .selectFrom('risk_models')
    .select(['version', 'model', 'created_at'])
    .where('created_at', '<', end)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? parsed(row) : firstModel;
}

/** The version in force, now or just before an instant, as an expression. */
export const modelVersion = (end?: string): RawBuilder<number> =>
  sql`(select coalesce(max(version), 1) from risk_models${end === undefined ? sql`` : sql` where created_at < ${end}`})`;

type Row = { version: number; model: string; created_at: string };

/** By version and text: one process may use several databases. */
const models = new LRUCache<string, Model>({ max: 50 });

function parsed({ version, model, created_at }: Row): Model {
  const key = `${version} ${created_at} ${model}`;
  const known = models.get(key);
  if (known) return known;
  const read: Model = { ...JSON.parse(model), version, since: created_at };
  models.set(key, read);
  return read;
}

/** The level of a cell; null if the risk is not assessed, or if the model has no such cell. */
export function levelOf(
  { cells, impact: { length } }: Pick<StoredModel, 'cells' | 'impact'>,
  probability: number | null,
  impact: number | null,
): LevelId | null {
  if (probability === null || impact === null || impact > length) return null;
  return cells[(probability - 1) * length + impact - 1]?.level ?? null;
}

/** The highest score of a model. */
export const maxScoreOf = ({ probability, impact }: Pick<StoredModel, 'probability' | 'impact'>) =>
  probability.length * impact.length;
