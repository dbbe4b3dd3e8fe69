import { type RawBuilder, sql } from 'kysely';
import { scoreOf } from './scoring.ts';

/**
 * Each risk has a sort key, `rank_key`. Its byte order is the order of the register:
 *
 *     99 − score (99 if not assessed) · 9 − impact · 9 − probability · due_on · raised_on · id
 *
 * The service writes it with the scores: see `score-columns.ts`.
 */
export type Ranked = {
  probability: number | null;
  impact: number | null;
  due_on: string | null;
  raised_on: string;
  id: string;
};

export const rankKey = ({ probability, impact, due_on, raised_on, id }: Ranked) =>
  `${cellPrefix(probability, impact)}${due_on ?? '9999-99-99'}${raised_on}${id}`;

/** The prefix of the rank keys of all risks in one cell of the heat map. */
export const cellPrefix = (probability: number | null, impact: number | null) =>
  `${99 - (scoreOf(probability, impact) ?? 0)}${9 - (impact ?? 0)}${9 - (probability ?? 0)}`;

export const cellPrefixOf = sql<string>`substr(risks.rank_key, 1, 4)`;

/** Sorts after every id. */
export const afterAllIds = '~';

/** Unassessed risks rank last, so a range of the ranking index contains exactly them. */
export const unassessedPrefix = '99';
export const isUnassessed = sql<boolean>`risks.rank_key >= ${sql.lit(unassessedPrefix)}`;

/** Whether a risk is assessed and its score is in a range. */
export const scoresBetween = (min: number, max: number) =>
  sql<boolean>`(risks.score >= ${min} and risks.score <= ${max})`;

/** Whether the score of a risk is above a bound; uses the same index. */
export const ranksAbove = (score: RawBuilder<unknown>) =>
  sql<boolean>`rank_key < cast(99 - ${score} as text)`;
