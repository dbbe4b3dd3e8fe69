import { type Kysely, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import type { Moment } from '../../../core/clock.ts';
import { invalidBody } from '../../../core/errors.ts';
import { Day, Line, OrNull, Rating, Strict, Time } from '../../../core/schemas.ts';
import { count } from '../../../lists/list.ts';
import { levelOf, type Model, readRiskModel } from '../../../store/risk-model.ts';
import type { Tables } from '../../../store/tables.ts';
import { actorOf } from '../../../store/writes/change.ts';
import { Actor } from '../../history/schema.ts';
import { issueTransitions } from '../../issues/transitions.ts';
import { levels, type RiskModel } from '../../risk-model/schema.ts';
import { registerRows } from '../register.ts';
import { Level, Risk, Score } from '../schema.ts';
import { afterAllIds, rankKey } from './ranking.ts';
import { ratingErrors, scoreOf } from './scoring.ts';
import { riskTransitions } from './transitions.ts';

export const EvaluateInput = Strict(
  { probability: Rating(), impact: Rating(), due_on: Type.Optional(OrNull(Day())) },
  { $id: 'EvaluateInput', examples: [{ probability: 4, impact: 5 }] },
);
export type EvaluateInput = Static<typeof EvaluateInput>;

export const Evaluation = Strict(
  {
    score: Score,
    level: Level,
    rank: Type.Integer({
      description: 'The rank it would have now among the active risks of all projects.',
    }),
    of: Type.Integer({ description: 'The number of active risks, including this one.' }),
  },
  { $id: 'Evaluation' },
);
export type Evaluation = Static<typeof Evaluation>;

const Input = Strict({
  value: OrNull(Rating()),
  set_at: Time(),
  set_by: OrNull(Line()),
  set_by_type: OrNull(Actor.properties.type),
});

export const Explanation = Strict(
  {
    inputs: Strict({ probability: Input, impact: Input }),
    formula: Type.String(),
    score: Score,
    level: Level,
    level_bounds: Type.Unsafe<{ from: number; to: number } | null>({
      type: ['object', 'null'],
      properties: { from: { type: 'integer' }, to: { type: 'integer' } },
    }),
    rank: OrNull(
      Type.Integer({
        description: 'Its current rank in the register across projects; null if it is not in the register.',
      }),
    ),
    of: Type.Integer({ description: 'The number of risks in that register.' }),
    order: Type.Array(Type.String()),
    text: Type.String({
      description: 'The explanation in words.',
      examples: [
        'possible (3) × severe (5) = 15, which is high (12 to 19). Rank 2 of 57: 1 risk comes before it.',
      ],
    }),
  },
  { $id: 'Explanation' },
);
export type Explanation = Static<typeof Explanation>;

/** A single risk, with an explanation of its rank if the request has `explain=true`. */
export const ExplainedRisk = Strict(
  { ...Risk.properties, explain: Type.Optional(Explanation) },
  { $id: 'ExplainedRisk' },
);

const order = ['score', 'impact', 'probability', 'due_on', 'raised_on', 'id'];

/** A version of the model as the API returns it. */
export const describeModel = (
  {
    version,
    probability,
    impact,
    cells,
    default_appetite,
    longest_acceptance_days,
    ...model
  }: Omit<Model, 'since'>,
  changed: Pick<RiskModel, 'changed_at' | 'changed_by'> = { changed_at: null, changed_by: null },
): RiskModel => ({
  version,
  formula,
  probability: probability.map((step, i) => ({ value: i + 1, ...step })),
  impact: impact.map((step, i) => ({ value: i + 1, ...step })),
  levels: model.levels.map((level) => ({
    ...level,
    ...(boundsOf({ cells }, level.level) ?? { from: 0, to: 0 }),
  })),
  cells,
  default_appetite,
  longest_acceptance_days,
  order: order.map((by) => ({
    by,
    direction: by === 'score' || by === 'impact' || by === 'probability' ? 'highest first' : 'earliest first',
    missing: 'last',
  })),
  transitions: { risks: mutableCopy(riskTransitions), issues: mutableCopy(issueTransitions) },
  ...changed,
});

const formula = 'score = probability × impact';

/**
 * The lowest and the highest score of a level; null if no cell has it. If the score alone decides about the level, the
 * bounds meet: a score in between that no cell has belongs to the level below.
 */
function boundsOf({ cells }: Pick<Model, 'cells'>, level: string | null) {
  const scored = cells.map((cell) => ({ score: cell.probability * cell.impact, level: cell.level }));
  const own = scored.filter((cell) => cell.level === level).map(({ score }) => score);
  if (own.length === 0) return null;
  const [from, to] = [Math.min(...own), Math.max(...own)];
  const above = scored.filter(({ score }) => score > to).map(({ score }) => score);
  return { from, to: isByScore(cells) && above.length > 0 ? Math.min(...above) - 1 : to };
}

/** Whether a higher score never has a lower level, nor the same score two levels. */
function isByScore(cells: Model['cells']): boolean {
  const scored = cells
    .map((cell) => ({ score: cell.probability * cell.impact, level: levels.indexOf(cell.level) }))
    .sort((a, b) => a.score - b.score || a.level - b.level);
  return scored.every(({ score, level }, i) => {
    const next = scored[i + 1];
    return !next || (next.score === score ? next.level === level : next.level >= level);
  });
}

/** Copies the transitions to drop `readonly`, which the schema type does not have. */
function mutableCopy(transitions: Record<string, readonly string[]>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(transitions).map(([from, to]) => [from, [...to]]));
}

/** Computes the score of a hypothetical risk and its rank among the active risks. Writes nothing. */
export async function evaluateRisk(
  db: Kysely<Tables>,
  input: EvaluateInput,
  moment: Moment,
): Promise<Evaluation> {
  const { probability, impact, due_on = null } = input;
  const model = await readRiskModel(db);
  const errors = ratingErrors(model, input);
  if (errors.length > 0) throw invalidBody(errors);
  const score = scoreOf(probability, impact);
  // Among equal risks the one raised last ranks last.
  const key = rankKey({ probability, impact, due_on, raised_on: moment.today, id: afterAllIds });
  const register = rankedRisks(db, moment);
  const before = await count(register.where(sql<boolean>`risks.rank_key < ${key}`));
  const all = await count(register);
  return { score, level: levelOf(model, probability, impact), rank: before + 1, of: all + 1 };
}

/** The active risks of all projects that are not archived. */
const rankedRisks = (db: Kysely<Tables>, moment: Moment) =>
  registerRows(db, { filters: { status: ['active'], archived: 'false' }, moment });

/** Explains the score and the rank of a risk. */
export async function explainRisk(db: Kysely<Tables>, risk: Risk, moment: Moment): Promise<Explanation> {
  const { rank_key } = await db
    .selectFrom('risks')
    .select('rank_key')
    .where('id', '=', risk.id)
    .executeTakeFirstOrThrow();
  const register = rankedRisks(db, moment);
  const isRanked = (await count(register.where('risks.id', '=', risk.id))) === 1;
  const before = await count(register.where(sql<boolean>`risks.rank_key < ${rank_key}`));
  const model = await readRiskModel(db);
  const of = await count(register);
  return {
    inputs: {
      probability: { value: risk.probability, ...(await lastSet(db, risk, 'probability')) },
      impact: { value: risk.impact, ...(await lastSet(db, risk, 'impact')) },
    },
    formula,
    score: risk.score,
    level: risk.level,
    level_bounds: boundsOf(model, risk.level),
    rank: isRanked ? before + 1 : null,
    of,
    order,
    text: `${scoreInWords(model, risk)} ${isRanked ? rankInWords(before, of) : 'It has no rank: only active risks of projects that are not archived are ranked.'}`,
  };
}

function scoreInWords(model: Model, { probability, impact, score, level }: Risk): string {
  if (level === null || probability === null || impact === null)
    return 'It has no score, because its probability or its impact is missing. Such risks come last.';
  const named = (scale: Model['impact'], value: number) => `${scale[value - 1]?.word} (${value})`;
  const product = `${named(model.probability, probability)} × ${named(model.impact, impact)}`;
  // Other bounds would not explain the level.
  const bounds = isByScore(model.cells) ? boundsOf(model, level) : null;
  const range = bounds ? ` (${bounds.from} to ${bounds.to})` : ' for this cell of the matrix';
  return `${product} = ${score}, which is ${labelOf(model, level)}${range}.`;
}

/** The label of a level. The default labels differ from the ids only by a capital letter, which no sentence needs. */
function labelOf(model: Model, level: string): string {
  const label = model.levels.find((one) => one.level === level)?.label ?? level;
  return label.toLowerCase() === level ? level : label;
}

const rankInWords = (before: number, of: number) =>
  `Rank ${before + 1} of ${of}: ${before === 1 ? '1 risk comes' : `${before} risks come`} before it.`;

/** Returns when a field was last set and by whom, from the history; if it never changed, from the creation. */
async function lastSet(db: Kysely<Tables>, risk: Risk, field: string) {
  const entry = await db
    .selectFrom('history')
    .select(['at', 'key_name', 'key_id', 'actor_user_id'])
    .where('subject_id', '=', risk.id)
    .where('field', 'in', [field, 'created'])
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .executeTakeFirst();
  const set_at = entry?.at ?? risk.created_at;
  if (!entry) return { set_at, set_by: null, set_by_type: null };
  const change = { user_id: entry.actor_user_id, key_id: entry.key_id, name: entry.key_name };
  return { set_at, set_by: entry.key_name, set_by_type: actorOf(change).type };
}
