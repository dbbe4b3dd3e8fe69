import { type Kysely, sql } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import type { Tables } from '../../database/tables.ts';
import { count } from '../../lists/list.ts';
import { issueTransitions } from '../issues/transitions.ts';
import { afterAllIds, rankKey } from './ranking.ts';
import { riskConditions, riskRows } from './register.ts';
import {
  type EvaluateInput,
  type Evaluation,
  type Explanation,
  levels,
  type Risk,
  type RiskModel,
} from './schema.ts';
import { levelOf, scoreOf } from './scoring.ts';
import { riskTransitions } from './transitions.ts';

const order = ['score', 'impact', 'probability', 'due_on', 'raised_on', 'id'];

/** The scoring rules in force, in words. */
export const riskModel: RiskModel = {
  version: 1,
  formula: 'score = probability × impact',
  probability: scale('rare', 'unlikely', 'possible', 'likely', 'almost certain'),
  impact: scale('negligible', 'minor', 'moderate', 'major', 'severe'),
  levels: levels.map((level) => ({ ...level })),
  order: order.map((by) => ({
    by,
    direction: by === 'score' || by === 'impact' || by === 'probability' ? 'highest first' : 'earliest first',
    missing: 'last',
  })),
  transitions: { risks: copyOf(riskTransitions), issues: copyOf(issueTransitions) },
};

/** Without `readonly`, as the schema has it. */
function copyOf(transitions: Record<string, readonly string[]>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(transitions).map(([from, to]) => [from, [...to]]));
}

function scale(...words: string[]) {
  return words.map((word, i) => ({ value: i + 1, word }));
}

/** What a risk would score, and where it would rank now among the active risks. Writes nothing. */
export async function evaluateRisk(
  db: Kysely<Tables>,
  input: EvaluateInput,
  moment: Moment,
): Promise<Evaluation> {
  const { probability, impact, due_on = null } = input;
  const score = scoreOf(probability, impact);
  // A new risk ranks after its equals, because it was raised last.
  const key = rankKey({ probability, impact, due_on, raised_on: moment.today, id: afterAllIds });
  const matches = riskConditions({ filters: { status: ['active'], archived: 'false' }, moment });
  const before = await count(riskRows(db).where(matches).where(sql<boolean>`risks.rank_key < ${key}`));
  const all = await count(riskRows(db).where(matches));
  return { score, level: levelOf(score), rank: before + 1, of: all + 1 };
}

/** Why a risk has the score and the place it has. */
export async function explainRisk(db: Kysely<Tables>, risk: Risk, moment: Moment): Promise<Explanation> {
  const { rank_key } = await db
    .selectFrom('risks')
    .select('rank_key')
    .where('id', '=', risk.id)
    .executeTakeFirstOrThrow();
  const register = riskRows(db).where(
    riskConditions({ filters: { status: ['active'], archived: 'false' }, moment }),
  );
  const isRanked = (await count(register.where('risks.id', '=', risk.id))) === 1;
  const before = await count(register.where(sql<boolean>`risks.rank_key < ${rank_key}`));
  const bounds = levels.find(({ level }) => level === risk.level) ?? null;
  return {
    inputs: {
      probability: { value: risk.probability, ...(await lastSet(db, risk, 'probability')) },
      impact: { value: risk.impact, ...(await lastSet(db, risk, 'impact')) },
    },
    formula: riskModel.formula,
    score: risk.score,
    level: risk.level,
    level_bounds: bounds && { from: bounds.from, to: bounds.to },
    rank: isRanked ? before + 1 : null,
    of: await count(register),
    order,
    tie_break: rank_key,
  };
}

/** Who set a field last, and when: as its history says, or else whoever made the risk. */
async function lastSet(db: Kysely<Tables>, risk: Risk, field: string) {
  const entry = await db
    .selectFrom('history')
    .select(['at', 'key_name'])
    .where('subject_id', '=', risk.id)
    .where('field', 'in', [field, 'created'])
    .orderBy('id', 'desc')
    .executeTakeFirst();
  return { set_at: entry?.at ?? risk.created_at, set_by: entry?.key_name ?? null };
}
