import { type Kysely, sql } from 'kysely';
import { parsedJson } from '../../database/sql/functions.ts';
import { rowAsJson } from '../../database/sql/rows.ts';
import type { List } from '../../lists/list.ts';
import { type Model, readRiskModel } from '../../store/risk-model.ts';
import type { Tables } from '../../store/tables.ts';
import { actorJson } from '../history/queries.ts';
import { describeModel } from '../risks/rules/model.ts';
import { defaultModel, type RiskModel, RiskModelVersion } from './schema.ts';

/** The model in force, with who has changed it. */
export async function getRiskModel(db: Kysely<Tables>): Promise<RiskModel> {
  return describeVersion(db, await readRiskModel(db));
}

export async function describeVersion(db: Kysely<Tables>, model: Omit<Model, 'since'>): Promise<RiskModel> {
  const row = await db
    .selectFrom('risk_models')
    .select(['created_at', sql<string>`cast(${changedBy} as text)`.as('changed_by')])
    .where('version', '=', model.version)
    .executeTakeFirst();
  if (!row) return describeModel(model);
  return describeModel(model, { changed_at: row.created_at, changed_by: JSON.parse(row.changed_by) });
}

const changedBy = actorJson('risk_models');

/** All versions of the model, the newest first. The first one is in no row. */
export const versionList: List = {
  schema: RiskModelVersion,
  json: rowAsJson(RiskModelVersion, 'risk_models', {
    changed_at: sql.ref('risk_models.created_at'),
    changed_by: parsedJson(
      sql`case when risk_models.created_at is null then 'null' else cast(${changedBy} as text) end`,
    ),
    ratings_map: parsedJson(sql.ref('risk_models.ratings_map')),
    model: parsedJson(sql.ref('risk_models.model')),
  }),
  reads: ['risk_models'],
  // A cursor can have a number that is too large for the column.
  order: { key: sql`cast(risk_models.version as bigint)`, descending: true, isNumber: true },
  from: (db) =>
    db.selectFrom(
      sql`(select version, model, ratings_map, restored_version, reason, actor_user_id, key_id,
          key_name, created_at from risk_models
        union all select 1, ${sql.lit(JSON.stringify(defaultModel))}, 'null', null, null, null, null, '', null)`.as(
        'risk_models',
      ) as never,
    ),
  id: sql.ref('risk_models.version'),
  matches: sql`1 = 1`,
};
