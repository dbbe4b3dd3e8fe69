import { type Static, Type } from 'typebox';
import { idPattern } from '../ids.ts';
import { acrossProjects } from '../projects/schema.ts';
import {
  Attributes,
  Day,
  Id,
  Line,
  ManyOf,
  OneOf,
  OrNull,
  optional,
  Rating,
  Strict,
  stamps,
  Text,
  Time,
  Url,
  Writable,
} from '../schemas.ts';
import { levels } from './scoring.ts';

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
  unowned: Type.Boolean({ description: 'Owned by neither a person nor a group.' }),
  assessed: Type.Boolean({ description: 'Whether there is a score.' }),
  above_appetite: Type.Boolean({ description: "Scored above its project's appetite." }),
  review_overdue: Type.Boolean({ description: 'Active, with `review_on` before today.' }),
  due_before: Day(),
  due_after: Day(),
  raised_since: Day(),
  updated_since: Time(),
  external_id: Line(),
  q: Line({ description: 'Part of the key, title or description; case and accents do not matter.' }),
};

/** Filters of the register across projects. */
export const riskFilters = { ...acrossProjects, ...projectRiskFilters, status: statusFilter('active') };

/** A risk in a path: its id or its human key. */
export const RiskRef = Type.String({ pattern: `${idPattern('risk')}|^[A-Z0-9]{2,10}-R[1-9][0-9]*$` });
