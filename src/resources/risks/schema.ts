import { type Static, Type } from 'typebox';
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
  Url,
  WebUrl,
  Writable,
} from '../../core/schemas.ts';
import { columnsOf, describeResource, Flag, Folded, SortKey, statusAction } from '../descriptor.ts';
import {
  commonFilters,
  computedFields,
  ItemRef,
  identity,
  owner,
  ownerFilters,
  ownerState,
} from '../project-items/schema.ts';
import { acrossProjects } from '../projects/schema.ts';
import { type LevelId, levels, maxScore, riskTag } from '../risk-model/schema.ts';

/** Names of the checks that flag risks for attention. */
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
export const riskStatuses = [...activeStatuses, 'materialized', 'closed'] as const;

export const Score = OrNull(
  Type.Integer({ minimum: 1, maximum: maxScore, description: 'Probability × impact; null if not assessed.' }),
);
export const Level = OrNull(OneOf(levels, { description: 'As the risk model says; null if not assessed.' }));

const Strategy = OneOf([
  'avoid',
  'mitigate',
  'transfer',
  'accept',
  'escalate',
  'exploit',
  'enhance',
  'share',
]);

const required = { title: Line({ examples: ['The only supplier of valves is on strike'] }) };

const fields = {
  description: OrNull(Text()),
  kind: OneOf(['threat', 'opportunity'], { default: 'threat' }),
  category: OrNull(Line({ examples: ['supply'] })),
  probability: OrNull(
    Rating({
      description: 'From 1 to the highest rating of the risk model, by default 5; null if not assessed.',
    }),
  ),
  impact: OrNull(
    Rating({
      description: 'From 1 to the highest rating of the risk model, by default 5; null if not assessed.',
    }),
  ),
  residual_probability: OrNull(Rating({ description: 'Probability after the response.' })),
  residual_impact: OrNull(Rating({ description: 'Impact after the response.' })),
  strategy: OrNull(Strategy),
  response_plan: OrNull(Text()),
  contingency_plan: OrNull(Text()),
  trigger: OrNull(Text({ description: 'The sign that the risk is occurring.' })),
  ...owner,
  raised_by_user_id: OrNull(Id('person')),
  raised_on: Day({ description: 'Default: today.' }),
  due_on: OrNull(Day()),
  review_on: OrNull(Day()),
  external_id: OrNull(Line()),
  source_url: OrNull(Url()),
  attributes: Attributes(),
};

/** The statuses of a new risk. Validation rules apply to reaching the other statuses. */
const initialStatus = OneOf(['open', 'mitigating', 'monitoring'], { default: 'open' });

const { description, kind, category, probability, impact, residual_probability, residual_impact, ...rest } =
  fields;

export const Risk = Strict(
  {
    ...identity('risk', 'R7'),
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
    initial_score: OrNull(
      Type.Integer({
        minimum: 1,
        maximum: maxScore,
        description:
          'The score of the first assessment. Null if not assessed; the next assessment sets it again.',
      }),
    ),
    status: OneOf(riskStatuses),
    ...rest,
    ...ownerState,
    accepted_until: OrNull(Day()),
    acceptance_reason: OrNull(Text()),
    accepted_by_user_id: OrNull(Id('person')),
    issue_ids: Type.Array(Id('issue'), { description: 'Issues created from this risk.' }),
    tasks_total: Type.Integer(),
    tasks_done: Type.Integer(),
    checks: Type.Array(OneOf(checks), { description: 'Checks that flag this risk.' }),
    closure_reason: OrNull(Text()),
    lessons: OrNull(Text()),
    model_version: Type.Integer({
      minimum: 1,
      description: 'The version of the risk model that the ratings belong to.',
    }),
    web_url: WebUrl('risk', '/risks/APOLLO-R7'),
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
    status: OneOf(riskStatuses),
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

/** Optional fields of the issue that is created from a risk. */
export const MaterializeInput = Strict(
  optional({
    title: Line({ description: 'Default: the title of the risk.' }),
    description: OrNull(Text()),
    severity: OneOf(['critical', 'high', 'medium', 'low'], {
      description: 'Default: from the impact (by default 5 critical, 4 high, 3 medium, 1 or 2 low).',
    }),
    priority: OneOf(['urgent', 'high', 'normal', 'low']),
    assignee_user_id: OrNull(Id('person')),
    due_on: OrNull(Day()),
    move_tasks: Type.Boolean({
      description:
        'Moves the open tasks of the risk to the issue, except those of another issue. Those of the kind `mitigation` ' +
        'become `resolution`.',
    }),
    reason: Reason(),
  }),
  { $id: 'MaterializeInput', examples: [{ priority: 'urgent', reason: 'The strike began today.' }] },
);
export type MaterializeInput = Static<typeof MaterializeInput>;

/** A row of the register: a risk with its rank. */
export const RankedRisk = Strict(
  {
    rank: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'The rank in the whole filtered register, not in the page. Absent with another `sort`.',
      }),
    ),
    ...Risk.properties,
    movement: Type.Optional(
      Strict(
        {
          rank_then: OrNull(Type.Integer({ description: 'The rank at the end of that day.' })),
          score_then: OrNull(
            Type.Integer({ description: 'The score at the end of that day, whatever the filters.' }),
          ),
          delta: OrNull(Type.Integer({ description: 'Ranks gained since then; negative if it fell.' })),
          reason: OrNull(
            Text({
              description: 'Of the last change of `probability` or `impact` since then, if one was given.',
            }),
          ),
        },
        {
          description:
            'Present with `include=movement&since=DAY`. `rank_then` and `delta` are null if the risk did not match the ' +
            'filters then; `score_then` is null if it did not exist or was not assessed.',
        },
      ),
    ),
  },
  { $id: 'RankedRisk' },
);

const statusFilter = (defaultStatus: string) =>
  ManyOf(OneOf(['active', 'all', ...riskStatuses]), {
    default: [defaultStatus],
    description: '`active` is open, mitigating, monitoring and accepted; `all` is every status.',
  });

/** Filters for the risks of one project. */
export const projectRiskFilters = {
  status: statusFilter('all'),
  level: ManyOf(OneOf(levels), { examples: [['high', 'critical']] }),
  min_score: Type.Integer({ minimum: 1, maximum: maxScore }),
  max_score: Type.Integer({ minimum: 1, maximum: maxScore }),
  probability: ManyOf(Rating()),
  impact: ManyOf(Rating()),
  kind: ManyOf(fields.kind),
  category: ManyOf(Line()),
  strategy: ManyOf(Strategy),
  ...ownerFilters('risks'),
  unowned: Type.Boolean({ description: 'Risks without an owner.' }),
  assessed: Type.Boolean({ description: 'Whether the risk has a score.' }),
  above_appetite: Type.Boolean({ description: "Threats whose score is above their project's appetite." }),
  review_overdue: Type.Boolean({ description: 'Active risks with `review_on` before today.' }),
  check: ManyOf(OneOf(checks), { description: 'Risks that all of these checks flag.' }),
  due_before: Day(),
  due_after: Day(),
  review_before: Day(),
  review_after: Day(),
  raised_since: Day(),
  ...commonFilters,
};

/** Filters for the register across projects. */
export const riskFilters = { ...acrossProjects, ...projectRiskFilters, status: statusFilter('active') };

/** What can have happened to a risk since a day. */
export const changes = ['up', 'down', 'new'] as const;

/** Parameters that show past registers, and only the risks that have changed since a past day. */
export const comparisonFilters = {
  as_of: Day({ description: 'Returns the register as of the end of this day.' }),
  change: ManyOf(OneOf(changes), {
    description:
      'With `since`: risks whose score is higher (`up`) or lower (`down`) than at the end of that day, or that were ' +
      'created after it (`new`).',
    examples: [['up', 'new']],
  }),
  since: Day({ description: 'With `change`, `sort=change` or `include=movement`: the day to compare with.' }),
};

/** The same, and movement in the ranking. */
export const historicalFilters = {
  ...comparisonFilters,
  include: OneOf(['movement'], { description: 'With `since`: adds how each risk has moved in the ranking.' }),
};

export const RiskRef = ItemRef('risk', 'R7');

export const riskResource = describeResource({
  kind: 'risk',
  table: 'risks',
  id: 'id',
  label: 'key',
  tag: riskTag,
  columns: columnsOf(
    Risk,
    [
      ...computedFields.item,
      ...computedFields.owner,
      'issue_ids',
      'tasks_total',
      'tasks_done',
      'checks',
      'model_version',
    ],
    // For `rank_key` see `rules/ranking.ts`.
    { search_folded: Folded, rank_key: SortKey },
  ),
  generated: { active: Flag },
  references: {
    project_id: 'projects',
    owner_user_id: 'people',
    owner_group_id: 'groups',
    raised_by_user_id: 'people',
    accepted_by_user_id: 'people',
  },
  visible: { project: 'project_id' },
  events: {
    scope: 'projects.read',
    types: {
      created: 'A risk was added.',
      updated: 'A risk was changed, but neither its score nor its status as below.',
      score_changed: 'The score changed within its level, or the risk was assessed or no longer is.',
      level_raised: 'The score changed to a higher level.',
      level_lowered: 'The score changed to a lower level.',
      accepted: 'The risk was accepted.',
      acceptance_expired: 'The acceptance ended with its last day, and the risk is open again.',
      review_overdue: 'The day in `review_on` of an active risk has passed.',
      materialized: 'The risk has occurred and became an issue.',
      closed: 'The risk was closed.',
      reopened: 'A closed or materialized risk was reopened.',
      deleted: 'A risk was deleted.',
    },
    data: Risk,
    page: ['/risks/', 'subject_key'],
    actions: ({ status, score, level }) => [
      statusAction(status, ['accepted', 'materialized', 'closed'], ['materialized', 'closed']),
      level && level.from !== null && level.to !== null
        ? rankOf(level.to) > rankOf(level.from)
          ? 'level_raised'
          : 'level_lowered'
        : score && 'score_changed',
    ],
  },
});

const rankOf = (level: unknown) => levels.indexOf(level as LevelId);
