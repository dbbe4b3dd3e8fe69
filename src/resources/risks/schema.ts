import { type Static, Type } from 'typebox';
import { idPattern } from '../../core/ids.ts';
import {
  Attributes,
  AttributesPatch,
  Day,
  Id,
  Line,
  ManyOf,
  OneOf,
  OrNull,
  optional,
  patchable,
  Rating,
  Reason,
  Strict,
  stamps,
  Text,
  Time,
  Url,
  Writable,
} from '../../core/schemas.ts';
import { acrossProjects } from '../projects/schema.ts';

/** Scores and their levels. The database generates the level by the same bounds; a test compares the two. */
export const levels = [
  { level: 'low', from: 1, to: 5 },
  { level: 'medium', from: 6, to: 11 },
  { level: 'high', from: 12, to: 19 },
  { level: 'critical', from: 20, to: 25 },
] as const;

/** Conditions that flag what needs attention in a risk. */
export const checks = [
  'unassessed',
  'unowned',
  'owner_inactive',
  'review_overdue',
  'due_overdue',
  'no_response_plan',
  'residual_above_current',
  'acceptance_expiring',
  'above_appetite',
  'stale_90d',
] as const;

export const activeStatuses = ['open', 'mitigating', 'monitoring', 'accepted'] as const;
const statuses = [...activeStatuses, 'materialized', 'closed'] as const;

const Score = OrNull(
  Type.Integer({ minimum: 1, maximum: 25, description: 'Probability × impact; null when not assessed.' }),
);
const Level = OrNull(OneOf(levels.map(({ level }) => level)));

const required = { title: Line({ examples: ['The only supplier of valves is on strike'] }) };

const fields = {
  description: OrNull(Text()),
  kind: OneOf(['threat', 'opportunity'], { default: 'threat' }),
  category: OrNull(Line({ examples: ['supply'] })),
  probability: OrNull(Rating({ description: '1 rare to 5 almost certain; null is not assessed.' })),
  impact: OrNull(Rating({ description: '1 negligible to 5 severe; null is not assessed.' })),
  residual_probability: OrNull(Rating({ description: 'After the response.' })),
  residual_impact: OrNull(Rating({ description: 'After the response.' })),
  strategy: OrNull(
    OneOf(['avoid', 'mitigate', 'transfer', 'accept', 'escalate', 'exploit', 'enhance', 'share']),
  ),
  response_plan: OrNull(Text()),
  contingency_plan: OrNull(Text()),
  trigger: OrNull(Text({ description: 'What would show that it is happening.' })),
  owner_user_id: OrNull(Id('person')),
  owner_group_id: OrNull(Id('group', { description: 'Instead of `owner_user_id`; never both.' })),
  raised_by_user_id: OrNull(Id('person')),
  raised_on: Day({ description: 'Today when left out.' }),
  due_on: OrNull(Day()),
  review_on: OrNull(Day()),
  external_id: OrNull(Line()),
  source_url: OrNull(Url()),
  attributes: Attributes(),
};

/** How a risk may begin; the other states have rules of their own for getting there. */
const initialStatus = OneOf(['open', 'mitigating', 'monitoring'], { default: 'open' });

const { description, kind, category, probability, impact, residual_probability, residual_impact, ...rest } =
  fields;

export const Risk = Strict(
  {
    id: Id('risk'),
    key: Type.String({ description: 'The human key.', examples: ['APOLLO-R7'] }),
    project_id: Id('project'),
    project_key: Type.String({ examples: ['APOLLO'] }),
    project_name: Line(),
    ...required,
    description,
    kind,
    category,
    probability,
    impact,
    score: Score,
    level: Level,
    residual_probability,
    residual_impact,
    residual_score: Score,
    residual_level: Level,
    initial_score: Score,
    status: OneOf(statuses),
    ...rest,
    owner_name: OrNull(Line()),
    owner_active: OrNull(Type.Boolean({ description: 'Whether the owning person is active.' })),
    accepted_until: OrNull(Day()),
    acceptance_reason: OrNull(Text()),
    accepted_by_user_id: OrNull(Id('person')),
    issue_ids: Type.Array(Id('issue'), { description: 'Issues this risk has become.' }),
    tasks_total: Type.Integer(),
    tasks_done: Type.Integer(),
    checks: Type.Array(OneOf(checks), { description: 'What is wanting about this entry.' }),
    closure_reason: OrNull(Text()),
    lessons: OrNull(Text()),
    ...stamps,
  },
  { $id: 'Risk' },
);
export type Risk = Static<typeof Risk>;

export const RiskInput = Writable(
  Risk,
  { ...required, ...optional({ ...fields, status: initialStatus }) },
  {
    $id: 'RiskInput',
    examples: [{ title: 'The only supplier of valves is on strike', probability: 4, impact: 5 }],
  },
);
export type RiskInput = Static<typeof RiskInput>;

export const RiskPatch = Writable(
  Risk,
  patchable({
    ...required,
    ...fields,
    attributes: AttributesPatch(),
    status: OneOf(statuses),
    accepted_until: OrNull(Day()),
    acceptance_reason: OrNull(Text()),
    accepted_by_user_id: OrNull(Id('person')),
    closure_reason: OrNull(Text()),
    lessons: OrNull(Text()),
    reason: Reason(),
  }),
  {
    $id: 'RiskPatch',
    examples: [{ status: 'accepted', acceptance_reason: 'Insured.', accepted_until: '2027-03-31' }],
  },
);
export type RiskPatch = Static<typeof RiskPatch>;

/** What may be said of the issue that a risk becomes; all of it can be left out. */
export const MaterializeInput = Strict(
  optional({
    title: Line({ description: 'The title of the risk when left out.' }),
    description: OrNull(Text()),
    severity: OneOf(['critical', 'high', 'medium', 'low'], {
      description: 'From the impact when left out: 5 critical, 4 high, 3 medium, less low.',
    }),
    priority: OneOf(['urgent', 'high', 'normal', 'low']),
    assignee_user_id: OrNull(Id('person')),
    due_on: OrNull(Day()),
    reason: Reason(),
  }),
  { $id: 'MaterializeInput', examples: [{ priority: 'urgent', reason: 'The strike began today.' }] },
);
export type MaterializeInput = Static<typeof MaterializeInput>;

/** A row of the register: the risk and its place in it. */
export const RankedRisk = Strict(
  {
    rank: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'The place in the whole filtered register, not in the page. Absent with another `sort`.',
      }),
    ),
    ...Risk.properties,
    movement: Type.Optional(
      Strict(
        {
          rank_then: OrNull(Type.Integer({ description: 'Its place at the end of that day.' })),
          score_then: OrNull(Type.Integer()),
          delta: OrNull(Type.Integer({ description: 'Places won since; negative when it fell.' })),
        },
        { description: 'With `include=movement&since=DAY`. All null for what was not in the register then.' },
      ),
    ),
  },
  { $id: 'RankedRisk' },
);

const statusFilter = (initial: string) =>
  ManyOf(OneOf(['active', 'all', ...statuses]), {
    default: [initial],
    description: '`active` is open, mitigating, monitoring and accepted; `all` is every state.',
  });

/** Filters of a project's own risks. */
export const projectRiskFilters = {
  status: statusFilter('all'),
  level: ManyOf(OneOf(levels.map(({ level }) => level))),
  min_score: Type.Integer({ minimum: 1, maximum: 25 }),
  max_score: Type.Integer({ minimum: 1, maximum: 25 }),
  probability: ManyOf(Rating()),
  impact: ManyOf(Rating()),
  kind: ManyOf(fields.kind),
  category: ManyOf(Line()),
  strategy: ManyOf(
    OneOf(['avoid', 'mitigate', 'transfer', 'accept', 'escalate', 'exploit', 'enhance', 'share']),
  ),
  owner_user_id: ManyOf(Id('person')),
  owner_group_id: ManyOf(Id('group')),
  transitive: Type.Boolean({
    description:
      'With `owner_group_id`: also what the groups below it own, and what members of any of these own.',
  }),
  unowned: Type.Boolean({ description: 'Owned by neither a person nor a group.' }),
  assessed: Type.Boolean({ description: 'Whether there is a score.' }),
  above_appetite: Type.Boolean({ description: "Scored above its project's appetite." }),
  review_overdue: Type.Boolean({ description: 'Active, with `review_on` before today.' }),
  check: ManyOf(OneOf(checks), { description: 'For which all of these checks find something.' }),
  due_before: Day(),
  due_after: Day(),
  raised_since: Day(),
  updated_since: Time(),
  external_id: Line(),
  q: Line({ description: 'Part of the key, title or description; case and accents do not matter.' }),
};

/** Filters of the register across projects. */
export const riskFilters = { ...acrossProjects, ...projectRiskFilters, status: statusFilter('active') };

/** What a list of risks can say of days gone by. */
export const historicalFilters = {
  as_of: Day({ description: 'The register as it stood at the end of this day.' }),
  include: OneOf(['movement'], { description: 'With `since`: how each risk has moved in the ranking.' }),
  since: Day({ description: 'With `include=movement`: the day to compare with.' }),
};

const Count = Type.Integer({ minimum: 0 });

export const RiskSummary = Strict(
  {
    total: Count,
    unassessed: Count,
    by_level: Type.Array(Strict({ level: OneOf(levels.map(({ level }) => level)), count: Count })),
    by_status: Type.Array(Strict({ status: OneOf(statuses), count: Count })),
    by_category: Type.Array(Strict({ category: OrNull(Line()), count: Count })),
    by_project: Type.Array(
      Strict({ project_id: Id('project'), project_key: Type.String(), project_name: Line(), count: Count }),
    ),
    by_owner: Type.Array(
      Strict({
        owner_user_id: OrNull(Id('person')),
        owner_group_id: OrNull(Id('group')),
        owner_name: OrNull(Line({ description: 'null is what nobody owns.' })),
        count: Count,
      }),
    ),
    by_check: Type.Array(Strict({ check: OneOf(checks), count: Count })),
  },
  { $id: 'RiskSummary' },
);
export type RiskSummary = Static<typeof RiskSummary>;

export const RiskHeatmap = Type.Array(
  Strict({
    probability: Rating(),
    impact: Rating(),
    level: Level,
    count: Count,
    top: Type.Array(Id('risk'), { description: 'The first three by rank.' }),
  }),
  { $id: 'RiskHeatmap', minItems: 25, maxItems: 25 },
);
export type RiskHeatmap = Static<typeof RiskHeatmap>;

export const RiskTrend = Type.Array(
  Strict({
    day: Day(),
    count: Count,
    low: Count,
    medium: Count,
    high: Count,
    critical: Count,
    unassessed: Count,
    sum: Type.Integer({ description: 'Of all scores: the exposure.' }),
    average: OrNull(Type.Number({ description: 'Of the scores, to two places; null when there are none.' })),
  }),
  { $id: 'RiskTrend' },
);
export type RiskTrend = Static<typeof RiskTrend>;

export const trendPeriod = {
  from: Day({ description: '90 days before `to` when left out.' }),
  to: Day({ description: 'Today when left out.' }),
  interval: OneOf(['day', 'week'], { default: 'day' }),
};

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
      { description: 'Which statuses a risk or an issue can go to, from each status.' },
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
      description: 'The place it would have among the active risks of all projects now.',
    }),
    of: Type.Integer({ description: 'How many there would be with it.' }),
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
        description: 'Its place in the register across projects now; null when it is not in it.',
      }),
    ),
    of: Type.Integer({ description: 'How many risks are in that register.' }),
    order: Type.Array(Type.String()),
    tie_break: Type.String({ description: 'The text that risks are ordered by: it holds all of `order`.' }),
  },
  { $id: 'Explanation' },
);
export type Explanation = Static<typeof Explanation>;

/** A single risk, with, if asked, why it ranks as it does. */
export const ExplainedRisk = Strict(
  { ...Risk.properties, explain: Type.Optional(Explanation) },
  { $id: 'ExplainedRisk' },
);

/** A risk in a path: its id or its human key. */
export const RiskRef = Type.String({ pattern: `${idPattern('risk')}|^[A-Z0-9]{2,10}-R[1-9][0-9]{0,9}$` });
