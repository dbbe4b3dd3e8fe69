import type { Kysely } from 'kysely';
import { type TObject, type TProperties, type TSchema, Type } from 'typebox';
import type { Moment } from '../../core/clock.ts';
import { Problem } from '../../core/errors.ts';
import { fold } from '../../core/text.ts';
import type { Importable, ItemProject, Resource } from '../../import/importable.ts';
import { inAllLanguages, wordsOf } from '../../import/languages/all.ts';
import { normalizeWord, type Words } from '../../import/recognize/names.ts';
import { levelOf, type Model, readRiskModel } from '../../store/risk-model.ts';
import type { Tables } from '../../store/tables.ts';
import { importOf } from '../project-items/import.ts';
import { riskWrites, writesBy } from './queries.ts';
import { riskList } from './register.ts';
import { ratingColumns } from './rules/score-columns.ts';
import { scoreOf } from './rules/scoring.ts';
import { type Risk, RiskInput, RiskPatch } from './schema.ts';

const noRating = 'tbd, n/a, na, not assessed, unknown, tbc';

/** What other tools call the ratings of a scale of five. */
const ratingWords = {
  probability: wordsOf(({ probability }) => probability),
  impact: wordsOf(({ impact }) => impact),
};

const levelWords = wordsOf(({ levels }) => levels);

/**
 * The words for the ratings of a scale: those of the model, and of a scale of five also those of other tools. On another
 * scale it is open what they mean, so `map_values` must say it.
 */
function wordsOfScale(scale: Model['impact'], usual: Words): Words {
  const own = scale.map(({ word }) => normalizeWord(word));
  const texts = scale.map((_, i) => {
    const others = scale.length === 5 ? (usual[i + 1] ?? '').split(', ') : [];
    return [...others.filter((text) => !own.includes(normalizeWord(text))), own[i]].join(', ');
  });
  return { ...Object.fromEntries(texts.map((text, i) => [i + 1, text])), null: noRating };
}

/** Compares the rating of a file, a number or a word, with the score of the row. */
function compareRating(model: Model, { probability, impact }: Resource, text: string): string | undefined {
  if (typeof probability !== 'number' || typeof impact !== 'number') return undefined;
  const score = scoreOf(probability, impact);
  const level = levelOf(model, probability, impact);
  if (level === null) return undefined;
  const [number] = /\d+/.exec(text) ?? [];
  const labelled = model.levels.find(({ label }) => fold(label) === fold(text))?.level;
  const word =
    labelled ??
    Object.keys(levelWords).find((word) =>
      levelWords[word]?.split(', ').some((one) => fold(one) === fold(text)),
    );
  if (labelled === level) return undefined;
  if (number === undefined || labelled ? word === undefined || word === level : Number(number) === score)
    return undefined;
  return `The file contains “${text}”, but ${probability} × ${impact} is ${score}, which is ${level}.`;
}

/** Ratings of another model have another meaning, even if they are on the same scale. */
function rejectOtherModel({ version }: Model, values: Resource, text: string): string | undefined {
  if (text === String(version) || ratingColumns.every((field) => values[field] == null)) return undefined;
  return (
    `This row has ratings of version ${text} of the risk model, but version ${version} is in force. Export it again, or ` +
    'leave out its ratings; if they are right as they are, remove the column `model_version`.'
  );
}

/** The schema with the ratings of the model. */
function ratedBy<S extends TObject>(schema: S, model: Model): S {
  const limited = ratingColumns.map((field) => [
    field,
    Type.Optional({
      ...((schema.properties as TProperties)[field] as TSchema),
      maximum: model[field.endsWith('probability') ? 'probability' : 'impact'].length,
    }),
  ]);
  return { ...schema, properties: { ...schema.properties, ...Object.fromEntries(limited) } };
}

/** The words of a file were read by this model, so its rows are not written by another one. */
const writesOf = (model: Model): typeof riskWrites => ({
  ...riskWrites,
  async prepare(db) {
    if ((await readRiskModel(db)).version === model.version) return writesBy(model);
    throw new Problem(
      'stale',
      'The risk model was changed during the import. Check the ratings of the rows that are left, then import them.',
    );
  },
});

/** Other tools close risks without a reason and accept them without an end. */
function completeStatus(patch: RiskPatch): RiskPatch {
  if (patch.status === 'closed')
    return { ...patch, closure_reason: patch.closure_reason ?? 'Closed before the import.' };
  if (patch.status === 'accepted' && patch.accepted_until == null) return { ...patch, status: 'monitoring' };
  return patch;
}

/** The import of risks with the ratings and the words of the risk model in force. */
export async function riskImport(db: Kysely<Tables>) {
  const model = await readRiskModel(db);
  return (project: ItemProject, moment: Moment) => importBy(model, project, moment);
}

const recognized = inAllLanguages('risk');

const importBy = (
  model: Model,
  project: ItemProject,
  moment: Moment,
): Importable<Risk, typeof RiskInput, typeof RiskPatch> => ({
  ...importOf(writesOf(model), project, moment),
  input: ratedBy(RiskInput, model),
  patch: ratedBy(RiskPatch, model),
  existing: riskList(
    { filters: { project: [project.id], status: ['all'] }, moment, as_of: undefined },
    'rank',
  ),
  synonyms: recognized.synonyms,
  values: {
    ...recognized.values,
    probability: wordsOfScale(model.probability, ratingWords.probability),
    residual_probability: wordsOfScale(model.probability, ratingWords.probability),
    impact: wordsOfScale(model.impact, ratingWords.impact),
    residual_impact: wordsOfScale(model.impact, ratingWords.impact),
  },
  freeText: { strategy: 'response_plan' },
  computed: {
    fields: ['score', 'level', 'model_version'],
    differs: (values, field, text) =>
      field === 'model_version' ? undefined : compareRating(model, values, text),
    rejects: (values, field, text) =>
      field === 'model_version' ? rejectOtherModel(model, values, text) : undefined,
  },
  complete: completeStatus,
});
