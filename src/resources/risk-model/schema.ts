import { type Static, Type } from 'typebox';
import { Count, Id, Line, maxRating, OneOf, OrNull, Rating, Strict, Text, Time } from '../../core/schemas.ts';
import { capitalized } from '../../core/text.ts';
import { describeResource } from '../descriptor.ts';
import { Actor } from '../history/schema.ts';

/** The ids of levels, the lowest first. Their labels are data; `very_low` is in a model only if the organization uses it. */
export const levels = ['very_low', 'low', 'medium', 'high', 'critical'] as const;
export type LevelId = (typeof levels)[number];

/** Every model has these levels, because the rules of the service name some of them. */
export const requiredLevels: readonly LevelId[] = levels.slice(1);

export const minRatings = 3;
export const maxScore = maxRating * maxRating;

const Color = Type.String({ pattern: '^#[0-9a-f]{6}$', examples: ['#d73027'] });

const step = {
  word: Line({ maxLength: 60, description: 'The label of the rating.', examples: ['likely'] }),
  description: OrNull(
    Type.String({ minLength: 1, maxLength: 1000, examples: ['Once a year, or 10 to 50 %.'] }),
  ),
};

const levelFields = {
  level: OneOf(levels),
  label: Line({ maxLength: 60, examples: ['Tolerable'] }),
  color: OrNull(Color),
  review_days: OrNull(
    Type.Integer({
      minimum: 1,
      maximum: 3650,
      description:
        'A risk that is assessed at this level is to be reviewed after so many days: `review_on` is set, unless the ' +
        'request sets it. Null: it is not set.',
    }),
  ),
};

const Cell = Strict({
  probability: Rating(),
  impact: Rating(),
  level: OneOf(levels),
  color: OrNull(Color),
});

const limits = {
  default_appetite: Type.Integer({
    minimum: 1,
    maximum: maxScore,
    description: 'The appetite of a new project.',
  }),
  longest_acceptance_days: OrNull(
    Type.Integer({
      minimum: 1,
      maximum: 36_500,
      description: 'A risk can be accepted for at most so many days; null for any time.',
    }),
  ),
};

const scaleOf = (length: { minItems?: number; maxItems?: number } = {}) => Type.Array(Strict(step), length);

/** What the organization decides. The service derives everything else from it. */
const stored = {
  probability: scaleOf({ minItems: minRatings, maxItems: maxRating }),
  impact: scaleOf({ minItems: minRatings, maxItems: maxRating }),
  levels: Type.Array(Strict(levelFields), { minItems: requiredLevels.length, maxItems: levels.length }),
  cells: Type.Array(Cell, { minItems: minRatings * minRatings, maxItems: maxScore }),
  ...limits,
};

/** Its cells are in order: by probability, then by impact. */
export const StoredModel = Strict(stored);
export type StoredModel = Static<typeof StoredModel>;

const Transitions = Type.Record(Type.String(), Type.Array(Type.String()));

const Scale = (description: string) => Type.Array(Strict({ value: Rating(), ...step }), { description });

export const RiskModel = Strict(
  {
    version: Type.Integer({
      minimum: 1,
      description: 'Increases by one with each change. Send it in quotes as `If-Match`.',
    }),
    formula: Type.String(),
    probability: Scale('The ratings of probability, from 1.'),
    impact: Scale('The ratings of impact, from 1.'),
    levels: Type.Array(
      Strict({
        ...levelFields,
        from: Type.Integer({ description: 'The lowest score of the level; 0 if no cell has it.' }),
        to: Type.Integer({ description: 'The highest score of the level; 0 if no cell has it.' }),
      }),
      { description: 'The levels, the lowest first. A color of null is that of the console.' },
    ),
    cells: Type.Array(Cell, {
      description: 'The level of each cell of the matrix. A color of null is that of the level.',
    }),
    ...limits,
    order: Type.Array(Strict({ by: Type.String(), direction: Type.String(), missing: Type.String() })),
    transitions: Strict(
      { risks: Transitions, issues: Transitions },
      { description: 'The statuses that a risk or an issue can change to, by current status.' },
    ),
    changed_at: OrNull(Time({ description: 'Null for the model that the service starts with.' })),
    changed_by: Type.Union([Actor, Type.Null()]),
  },
  { $id: 'RiskModel' },
);
export type RiskModel = Static<typeof RiskModel>;

const NewRatings = Type.Array(Rating(), { minItems: minRatings, maxItems: maxRating });

/** For each axis: the new rating of each old one, from 1. */
export const RatingsMap = Strict({ probability: NewRatings, impact: NewRatings }, { $id: 'RatingsMap' });
export type RatingsMap = Static<typeof RatingsMap>;

const { description, ...word } = step;
const InputScale = Type.Array(Strict({ ...word, description: Type.Optional(description) }), {
  minItems: minRatings,
  maxItems: maxRating,
  description: 'The ratings, from 1: 3 to 7 of them.',
});

const { level, label, color, review_days } = levelFields;

/** Either a whole model or `restore_version`; which fields are missing is checked in `rules.ts`. */
export const RiskModelInput = Strict(
  {
    probability: Type.Optional(InputScale),
    impact: Type.Optional(InputScale),
    levels: Type.Optional(
      Type.Array(
        Strict({
          level,
          label,
          color: Type.Optional(color),
          review_days: Type.Optional(review_days),
        }),
        {
          minItems: requiredLevels.length,
          maxItems: levels.length,
          description: 'low, medium, high and critical, and optionally very_low: the lowest first.',
        },
      ),
    ),
    cells: Type.Optional(
      Type.Array(
        Strict({
          probability: Cell.properties.probability,
          impact: Cell.properties.impact,
          level,
          color: Type.Optional(color),
        }),
        {
          minItems: minRatings * minRatings,
          maxItems: maxScore,
          description: 'Each combination of probability and impact once.',
        },
      ),
    ),
    default_appetite: Type.Optional(limits.default_appetite),
    longest_acceptance_days: Type.Optional(limits.longest_acceptance_days),
    restore_version: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'Instead of a model: returns to that version. Ratings that nobody has changed since become what they were.',
      }),
    ),
    ratings_map: Type.Optional(RatingsMap),
    reason: Type.Optional(Text({ description: 'The reason for the change, for the history.' })),
  },
  {
    $id: 'RiskModelInput',
    description:
      'A whole model, or `restore_version`. `ratings_map` has the new rating of each old one; by default they are spread ' +
      'evenly, from the lowest to the highest.',
    examples: [{ restore_version: 1, reason: 'The auditors asked for it.' }],
  },
);
export type RiskModelInput = Static<typeof RiskModelInput>;

const Changed = (description: string) => Strict({ before: Count, after: Count }, { description });

export const RiskModelChange = Strict(
  {
    dry_run: Type.Boolean(),
    model: RiskModel,
    ratings_map: RatingsMap,
    changes: Strict({
      risks: Type.Integer({ minimum: 0, description: 'The risks that get a new version.' }),
      ratings: Type.Integer({ minimum: 0, description: 'Those of them whose ratings change.' }),
      scores: Count,
      levels: Count,
      raised: Type.Integer({ minimum: 0, description: 'Those whose level becomes higher.' }),
      lowered: Count,
      initial_scores: Count,
      ranks: Type.Integer({
        minimum: 0,
        description: 'The active risks that have another rank in the register across projects.',
      }),
      by_level: Type.Array(Strict({ level, before: Count, after: Count }), {
        description: 'The number of active risks at each level, the highest first.',
      }),
      above_appetite: Changed('The number of active threats above the appetite of their project.'),
      appetites: Type.Array(Strict({ before: Type.Integer(), after: Type.Integer(), projects: Count }), {
        description: 'The appetites that change, and the number of projects with each.',
      }),
      issues: Type.Integer({
        minimum: 0,
        description:
          'The open issues made from risks that get another severity, because they still have the one that followed from ' +
          'the impact.',
      }),
      views: Type.Array(Strict({ id: Id('view'), name: Line(), query: Type.String() }), {
        description:
          'Saved views of risks that filter by ratings, scores or levels. They stay as they are: check them.',
      }),
    }),
  },
  { $id: 'RiskModelChange' },
);
export type RiskModelChange = Static<typeof RiskModelChange>;

export const RiskModelVersion = Strict(
  {
    version: RiskModel.properties.version,
    changed_at: RiskModel.properties.changed_at,
    changed_by: RiskModel.properties.changed_by,
    reason: OrNull(Text()),
    restored_version: OrNull(Type.Integer({ description: 'The version that it returned to, if it did.' })),
    ratings_map: Type.Union([RatingsMap, Type.Null()]),
    model: StoredModel,
  },
  { $id: 'RiskModelVersion' },
);
export type RiskModelVersion = Static<typeof RiskModelVersion>;

export const riskTag = [
  'risks',
  'The risk register: one ranking across all projects, and the risks of each project.',
] as const;

/** One row for each change of the model; the newest is in force. Without any, `defaultModel` is. */
export const riskModelResource = describeResource({
  kind: 'risk_model',
  table: 'risk_models',
  id: 'id',
  tag: riskTag,
  columns: {
    id: Id('risk_model'),
    version: Type.Integer({ minimum: 2 }),
    model: StoredModel,
    ratings_map: RatingsMap,
    restored_version: OrNull(Type.Integer({ minimum: 1 })),
    reason: OrNull(Text()),
    actor_user_id: OrNull(Id('person')),
    key_id: OrNull(Id('key')),
    key_name: Line(),
    created_at: Time(),
  },
  references: { key_id: 'keys' },
  visible: 'all',
  events: {
    scope: 'projects.read',
    types: { changed: 'The risk model was changed. The risks that it changes have events of their own.' },
    data: RiskModel,
  },
});

const words = (...list: string[]) => list.map((word) => ({ word, description: null }));

const levelOfScore = (score: number): LevelId =>
  score >= 20 ? 'critical' : score >= 12 ? 'high' : score >= 6 ? 'medium' : 'low';

/** Version 1. It never changes: past versions of risks were rated by it. */
export const defaultModel: StoredModel = {
  probability: words('rare', 'unlikely', 'possible', 'likely', 'almost certain'),
  impact: words('negligible', 'minor', 'moderate', 'major', 'severe'),
  levels: requiredLevels.map((level) => ({
    level,
    label: capitalized(level),
    color: null,
    review_days: null,
  })),
  cells: [1, 2, 3, 4, 5].flatMap((probability) =>
    [1, 2, 3, 4, 5].map((impact) => ({
      probability,
      impact,
      level: levelOfScore(probability * impact),
      color: null,
    })),
  ),
  default_appetite: 12,
  longest_acceptance_days: 365,
};
