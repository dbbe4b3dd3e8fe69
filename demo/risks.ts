import { riskRow } from '../src/resources/risks/queries.ts';
import { activeStatuses, type Risk } from '../src/resources/risks/schema.ts';
import type { Dataset, Row } from './dataset.ts';
import { createHistory } from './history.ts';
import {
  type CreationTime,
  createIdentity,
  getPhase,
  type Phase,
  pickCreationTimes,
  pickCreator,
  pickExternalSource,
  pickOpenDueDay,
  pickOwner,
  pickPastOwner,
  pickPersonOn,
} from './items.ts';
import { type ProjectContext, pickAuthor } from './projects.ts';
import {
  createRiskRevisions,
  createVersions,
  getPastVersions,
  limitRating,
  type RiskRow,
  type VersionContext,
} from './risk-versions.ts';
import { createTemplatePicker, type FillTemplate } from './templates.ts';
import * as words from './words.ts';

/** `planned` is the time of the first version with a response plan, or of the last version if there is no plan. */
export type CreatedRisk = {
  row: RiskRow;
  past: Row<'past_risks'>[];
  history: Row<'history'>[];
  template: words.RiskTemplate;
  fill: FillTemplate;
  planned: CreationTime;
};

const isActive = ({ status }: Pick<Risk, 'status'>) => activeStatuses.some((active) => active === status);

const riskStatuses: Record<Phase, Partial<Record<Risk['status'], number>>> = {
  planned: { open: 78, mitigating: 12, monitoring: 6, accepted: 4 },
  young: { open: 58, mitigating: 24, monitoring: 6, accepted: 4, materialized: 2, closed: 6 },
  old: { open: 21, mitigating: 29, monitoring: 13, accepted: 9, materialized: 7, closed: 21 },
  held: { open: 34, mitigating: 10, monitoring: 30, accepted: 11, materialized: 3, closed: 12 },
  ended: { open: 4, materialized: 8, closed: 88 },
};

/** Weights of the number of changes. Only the first three statuses are valid for a new risk. */
const riskChanges: Record<Risk['status'], Record<number, number>> = {
  open: { 0: 62, 1: 14, 2: 12, 3: 8, 4: 4 },
  mitigating: { 0: 34, 1: 20, 2: 21, 3: 16, 4: 9 },
  monitoring: { 0: 34, 1: 20, 2: 21, 3: 16, 4: 9 },
  accepted: { 1: 36, 2: 30, 3: 22, 4: 12 },
  materialized: { 1: 36, 2: 30, 3: 22, 4: 12 },
  closed: { 1: 36, 2: 30, 3: 22, 4: 12 },
};

/**
 * Probability that a change falls in the last 90 days. An acceptance is valid for at most a year, so all of them are
 * recent.
 */
const recentChanges: Record<Risk['status'], number> = {
  open: 0.6,
  mitigating: 0.55,
  monitoring: 0.5,
  accepted: 1,
  materialized: 0.3,
  closed: 0.25,
};

const unassessedProbability: Partial<Record<Risk['status'], number>> = {
  open: 0.3,
  monitoring: 0.06,
  closed: 0.03,
};

export function createRisks(dataset: Dataset, context: ProjectContext, count: number): CreatedRisk[] {
  const pickTemplate = createTemplatePicker(dataset, context, words.riskTemplates);
  return pickCreationTimes(dataset, context, count).map((creation, i) =>
    createRisk(dataset, context, creation, i + 1, pickTemplate()),
  );
}

function createRisk(
  dataset: Dataset,
  context: ProjectContext,
  creation: CreationTime,
  n: number,
  { template, fill }: { template: words.RiskTemplate; fill: FillTemplate },
): CreatedRisk {
  const { random } = dataset;
  const { status, times } = pickRiskCourse(dataset, context, creation, template);
  const isAssessed = !random.chance(unassessedProbability[status] ?? 0);
  const isPlanned = isAssessed && (status !== 'open' || random.chance(0.6));
  const input = {
    title: fill(template.title),
    description: fill(template.description),
    kind: template.opportunity ? ('opportunity' as const) : ('threat' as const),
    category: template.category,
    ...(isAssessed && pickAssessment(dataset, template, isPlanned)),
    ...(isPlanned && pickResponse(dataset, template, fill, status)),
    ...pickOwner(dataset, context),
    raised_by_user_id: random.chance(0.93)
      ? pickPersonOn(dataset, context, creation.created_at.slice(0, 10))
      : null,
    raised_on: creation.created_at.slice(0, 10),
    due_on: isActive({ status })
      ? pickOpenDueDay(dataset, creation.offset, 240)
      : dataset.day(creation.offset + random.between(20, 200)),
    review_on: isActive({ status }) ? pickReviewDay(dataset, creation.offset) : null,
    ...pickExternalSource(dataset, 0.18, 'RR', 'https://register.example.com/risks'),
    attributes: pickExposure(dataset),
  };
  const now = {
    ...riskRow(createIdentity(dataset, 'risk', context, creation, n), input, dataset.moment),
    status,
    ...pickOutcome(dataset, context, status, { template, fill }),
  };
  return { ...addVersions(dataset, context, now, [creation.created_at, ...times], fill), template, fill };
}

/** Picks the current status and the times of the changes. A risk without the changes its status requires is open. */
function pickRiskCourse(
  dataset: Dataset,
  context: ProjectContext,
  { offset, created_at }: CreationTime,
  template: words.RiskTemplate,
) {
  const status = pickRiskStatus(dataset, context, offset, template);
  const count = dataset.random.pickWeightedNumber(riskChanges[status]);
  const until = Math.max(offset, context.last);
  const times = dataset.timesAfter(created_at, until, count, recentChanges[status]);
  return { status: times.length > 0 || 0 in riskChanges[status] ? status : ('open' as const), times };
}

function addVersions(
  dataset: Dataset,
  context: ProjectContext,
  now: RiskRow,
  times: string[],
  fill: FillTemplate,
) {
  const versionContext: VersionContext = {
    fill,
    pickPastOwner: (day) => pickPastOwner(dataset, context, day),
    pickApprover: () => dataset.random.pick(context.leads).row.user_id,
    pickAuthor: (day) => pickAuthor(dataset, context.team, day),
  };
  const versions = createVersions(dataset, now, times, versionContext);
  const row = versions.at(-1) ?? now;
  const creator = pickCreator(dataset, context, row);
  const planned = versions.find(({ response_plan }) => response_plan != null) ?? row;
  return {
    row,
    past: getPastVersions(versions),
    history: createHistory(dataset, row, createRiskRevisions(dataset, versions, versionContext, creator)),
    planned: { offset: dataset.offsetOf(planned.updated_at), created_at: planned.updated_at },
  };
}

/** An opportunity cannot become an issue, so it never materializes. */
function pickRiskStatus(
  dataset: Dataset,
  context: ProjectContext,
  offset: number,
  template: words.RiskTemplate,
): Risk['status'] {
  const status = dataset.random.pickWeighted(riskStatuses[getPhase(context, offset)]);
  return status === 'materialized' && template.opportunity ? 'closed' : status;
}

/** The impact depends on the template; the probability does not. */
function pickAssessment({ random }: Dataset, template: words.RiskTemplate, isPlanned: boolean) {
  const probability = random.pickWeightedNumber({ 1: 16, 2: 33, 3: 31, 4: 15, 5: 5 });
  const impact = limitRating(template.impact + random.pickWeightedNumber({ [-1]: 34, 0: 54, 1: 12 }));
  if (!isPlanned || random.chance(0.1)) return { probability, impact };
  const effect = template.opportunity ? 1 : -1;
  return {
    probability,
    impact,
    residual_probability: limitRating(
      probability + effect * random.pickWeightedNumber({ 0: 22, 1: 52, 2: 26 }),
    ),
    residual_impact: limitRating(impact + effect * random.pickWeightedNumber({ 0: 62, 1: 38 })),
  };
}

function pickResponse(
  { random }: Dataset,
  template: words.RiskTemplate,
  fill: FillTemplate,
  status: Risk['status'],
) {
  const strategy: NonNullable<Risk['strategy']> =
    status === 'accepted'
      ? 'accept'
      : template.opportunity
        ? random.pickWeighted({ exploit: 35, enhance: 40, share: 25 })
        : random.pickWeighted({
            mitigate: 68,
            avoid: 12,
            transfer: 11,
            escalate: 6,
            accept: status === 'monitoring' ? 12 : 0,
          });
  return {
    strategy,
    response_plan: `${template.steps.map(fill).join('. ')}.`,
    contingency_plan: random.chance(0.8) ? fill(template.contingency) : null,
    trigger: random.chance(0.75) ? fill(template.trigger) : null,
  };
}

function pickReviewDay(dataset: Dataset, offset: number): string | null {
  const { random } = dataset;
  if (random.chance(0.14)) return null;
  const isOverdue = offset < -20 && random.chance(0.2);
  return dataset.day(isOverdue ? random.between(Math.max(offset + 10, -70), -1) : random.between(3, 110));
}

function pickExposure({ random }: Dataset): Record<string, string> {
  return random.chance(0.3) ? { exposure_eur: String(random.between(2, 120) * 25_000) } : {};
}

function pickOutcome(
  dataset: Dataset,
  context: ProjectContext,
  status: Risk['status'],
  { template, fill }: { template: words.RiskTemplate; fill: FillTemplate },
) {
  const { random } = dataset;
  if (status === 'accepted') {
    const isExpiring = random.chance(0.18);
    return {
      accepted_until: dataset.day(isExpiring ? random.between(3, 28) : random.between(35, 270)),
      acceptance_reason: random.pick(words.acceptanceReasons),
      accepted_by_user_id: random.pick(context.leads).row.user_id,
    };
  }
  const lessons = random.chance(0.4) ? random.pick(words.lessons) : null;
  if (status === 'materialized') return { lessons };
  if (status !== 'closed') return {};
  const reasons = template.opportunity ? words.opportunityClosures : words.closureReasons;
  return { closure_reason: fill(random.pick(reasons)), lessons };
}
