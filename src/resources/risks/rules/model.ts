import { type Kysely, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import type { Moment } from '../../../core/clock.ts';
import { Day, Line, OneOf, OrNull, Rating, Strict, Time } from '../../../core/schemas.ts';
import { count } from '../../../lists/list.ts';
import type { Tables } from '../../../store/tables.ts';
import { issueTransitions } from '../../issues/transitions.ts';
import { registerRows } from '../register.ts';
import { Level, levels, Risk, Score } from '../schema.ts';
import { afterAllIds, rankKey } from './ranking.ts';
import { levelOf, scoreOf } from './scoring.ts';
import { riskTransitions } from './transitions.ts';

const Transitions = Type.Record(Type.String(), Type.Array(Type.String()));

const Scale = Type.Array(Strict({ value: Rating(), word: Type.String() }));

export const RiskModel = Strict(
  {
    version: Type.Integer(),
    formula: Type.String(),
    probability: Scale,
    impact: Scale,
    levels: Type.Array(
      Strict({ level: OneOf(levels.map(({ level }) => level)), from: Type.Integer(), to: Type.Integer() }),
    ),
    order: Type.Array(Strict({ by: Type.String(), direction: Type.String(), missing: Type.String() })),
    transitions: Strict(
      { risks: Transitions, issues: Transitions },
      { description: 'The statuses that a risk or an issue can change to, by current status.' },
    ),
  },
  { $id: 'RiskModel' },
);
export type RiskModel = Static<typeof RiskModel>;

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

const Input = Strict({ value: OrNull(Rating()), set_at: Time(), set_by: OrNull(Line()) });

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

/** The scoring rules in force. */
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
  transitions: { risks: mutableCopy(riskTransitions), issues: mutableCopy(issueTransitions) },
};

/** Copies the transitions to drop `readonly`, which the schema type does not have. */
function mutableCopy(transitions: Record<string, readonly string[]>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(transitions).map(([from, to]) => [from, [...to]]));
}

function scale(...words: string[]) {
  return words.map((word, i) => ({ value: i + 1, word }));
}

/** Computes the score of a hypothetical risk and its rank among the active risks. Writes nothing. */
export async function evaluateRisk(
  db: Kysely<Tables>,
  input: EvaluateInput,
  moment: Moment,
): Promise<Evaluation> {
  const { probability, impact, due_on = null } = input;
  const score = scoreOf(probability, impact);
  // Among equal risks the one raised last ranks last.
  const key = rankKey({ probability, impact, due_on, raised_on: moment.today, id: afterAllIds });
  const register = rankedRisks(db, moment);
  const before = await count(register.where(sql<boolean>`risks.rank_key < ${key}`));
  const all = await count(register);
  return { score, level: levelOf(score), rank: before + 1, of: all + 1 };
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
  const bounds = levels.find(({ level }) => level === risk.level) ?? null;
  const of = await count(register);
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
    of,
    order,
    text: `${scoreInWords(risk)} ${isRanked ? rankInWords(before, of) : 'It has no rank: only active risks of projects that are not archived are ranked.'}`,
  };
}

function scoreInWords({ probability, impact, score, level }: Risk): string {
  const bounds = levels.find((one) => one.level === level);
  if (!bounds)
    return 'It has no score, because its probability or its impact is missing. Such risks come last.';
  const named = (words: RiskModel['impact'], value: number | null) =>
    `${words.find((one) => one.value === value)?.word} (${value})`;
  const product = `${named(riskModel.probability, probability)} × ${named(riskModel.impact, impact)}`;
  return `${product} = ${score}, which is ${level} (${bounds.from} to ${bounds.to}).`;
}

const rankInWords = (before: number, of: number) =>
  `Rank ${before + 1} of ${of}: ${before === 1 ? '1 risk comes' : `${before} risks come`} before it.`;

/** Returns when a field was last set and by whom, from the history; if it never changed, from the creation. */
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
