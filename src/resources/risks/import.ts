import type { Kysely } from 'kysely';
import { type TObject, type TProperties, type TSchema, Type } from 'typebox';
import type { Moment } from '../../core/clock.ts';
import { Problem } from '../../core/errors.ts';
import { fold } from '../../core/text.ts';
import type { Importable, ItemProject, Resource } from '../../import/importable.ts';
import { inAllLanguages, withOthers } from '../../import/languages/all.ts';
import { normalizeWord, type Words } from '../../import/recognize/names.ts';
import { levelOf, type Model, readRiskModel } from '../../store/risk-model.ts';
import type { Tables } from '../../store/tables.ts';
import { importOf } from '../project-items/import.ts';
import { riskWrites, writesBy } from './queries.ts';
import { riskList } from './register.ts';
import { ratingColumns } from './rules/score-columns.ts';
import { scoreOf } from './rules/scoring.ts';
import { type Risk, RiskInput, RiskPatch } from './schema.ts';

const words = {
  low: 'low, l',
  medium: 'medium, m, med, moderate, average',
  high: 'high, h',
};

const noRating = 'tbd, n/a, na, not assessed, unknown, tbc';

/** What other tools call the ratings of a scale of five. */
const ratingWords = {
  probability: withOthers(
    {
      1: 'rare, very low, vl, very unlikely, remote, improbable, highly unlikely, almost impossible',
      2: `unlikely, ${words.low}, seldom`,
      3: `possible, ${words.medium}, occasional, even chance, about even`,
      4: `likely, ${words.high}, probable, frequent`,
      5: 'almost certain, very high, vh, very likely, certain, highly likely, near certain, expected',
    },
    ({ probability }) => probability,
  ),
  impact: withOthers(
    {
      1: 'negligible, very low, vl, insignificant, trivial, very minor',
      2: `minor, ${words.low}, marginal`,
      3: `${words.medium}, serious`,
      4: `major, ${words.high}, significant`,
      5: 'severe, very high, vh, catastrophic, critical, extreme, extreme/catastrophic, disastrous',
    },
    ({ impact }) => impact,
  ),
};

const levelWords = withOthers(
  {
    low: `${words.low}, very low, green, minor`,
    medium: `${words.medium}, amber, yellow`,
    high: `${words.high}, red, major, orange`,
    critical: 'critical, extreme, very high, severe, catastrophic',
  },
  ({ levels }) => levels,
);

/**
 * The words for the ratings of a scale: those of the model, and of a scale of five also those of other tools. On another
 * scale it is open what they mean, so `map_values` must say it.
 */
function wordsOf(scale: Model['impact'], usual: Words): Words {
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

const recognized = inAllLanguages('risk', {
  synonyms: {
    title:
      'risk, risk title, name, risk name, summary, short description, event, risk event, headline, primary column',
    description: 'risk description, details, risk statement, cause and effect, notes, comments',
    kind: 'type, risk type',
    category: 'risk category, area',
    probability:
      'likelihood, likelihood rating, probability of occurrence, chance, current likelihood, inherent likelihood, inherent probability, prob, l, p',
    impact:
      'impact rating, consequence, consequences, severity, current impact, inherent impact, inherent consequence, i',
    residual_probability: 'residual likelihood, target probability, target likelihood',
    residual_impact: 'residual severity, target impact, residual consequence',
    score: 'rating, risk score, risk rating, inherent rating, exposure, pxi, lxi, severity score',
    level: 'risk level, rag, rag status, grade, risk grade',
    status: 'state, risk status, current status',
    strategy:
      'response category, risk response category, response strategy, planning strategy, response type, treatment strategy, treatment option, response, treatment, risk response, risk treatment',
    response_plan:
      'mitigation, mitigation plan, mitigations, mitigation action, mitigation actions, mitigating actions, mitigation strategy, response plan, action plan, response actions, treatment plan, actions, controls',
    contingency_plan: 'contingency, fallback, fallback plan',
    trigger: 'triggers, early warning, indicator',
    owner_name:
      'risk owner, responsible, assigned to, responsible person, assignee, response owner, action owner',
    raised_by_user_id: 'raised by, reported by, identified by, submitted by, reporter, author',
    raised_on:
      'raised, date raised, identified on, identified date, date identified, created, opened, date, logged, registered, created on, created date, creation date, date created, date opened, opened on, opened at, open date, date logged, logged on, date registered, registered on, date submitted, submitted on, submission date, date entered, sys created on',
    due_on:
      'due, due date, date due, target date, deadline, target completion, target closure, target closure date, resolve by, resolve by date, proximity date',
    review_on: 'review, review date, next review, next review date',
    closure_reason: 'reason for closure, closed because',
    lessons: 'lessons learned, lessons learnt',
    external_id:
      'risk id, risk identifier, risk no, risk number, reference, ref, number, no, risk ref, record id',
    source_url: 'url, link',
  },
  values: {
    status: {
      open: 'new, draft, identified, active, live, raised, proposed, to do, assessed, ongoing',
      mitigating:
        'in progress, treating, in treatment, being treated, being mitigated, mitigation in progress, in mitigation, responding, managed',
      monitoring: 'monitor, monitored, watch, watching, under review, in review, on hold, dormant',
      accepted: 'accept, tolerated, tolerate',
      materialized: 'materialised, occurred, realized, realised, became issue, issue, triggered',
      closed: 'close, done, resolved, retired, expired, complete, completed, cancelled, mitigated',
    },
    strategy: {
      avoid: 'avoidance, eliminate, terminate, prevent',
      mitigate: 'mitigation, reduce, reduction, treat, control',
      transfer: 'transference, insure, outsource',
      accept: 'acceptance, tolerate, retain, take',
      escalate: 'escalation',
      exploit: 'exploitation',
      enhance: 'enhancement, increase',
      share: 'sharing',
      null: 'none, n/a, tbd, na',
    },
    kind: {
      threat: 'risk, negative, downside',
      opportunity: 'positive, upside, benefit',
    },
  },
});

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
    probability: wordsOf(model.probability, ratingWords.probability),
    residual_probability: wordsOf(model.probability, ratingWords.probability),
    impact: wordsOf(model.impact, ratingWords.impact),
    residual_impact: wordsOf(model.impact, ratingWords.impact),
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
