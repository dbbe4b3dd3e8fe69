import { projectRow } from '../src/resources/projects/queries.ts';
import type { Project } from '../src/resources/projects/schema.ts';
import { type Dataset, type Row, rosterImportDay } from './dataset.ts';
import { createHistory, getTimestamps, type Revision } from './history.ts';
import { type Colleague, isAssignable, wasEmployedOn } from './people.ts';
import * as words from './words.ts';

/** A project with the people and groups that work on it. */
export type ProjectContext = {
  profile: words.ProjectProfile;
  project: Row<'projects'>;
  history: Row<'history'>[];
  /** Day offsets of the first and last activity in the project. */
  first: number;
  last: number;
  team: Colleague[];
  assignable: Colleague[];
  departed: Colleague[];
  vacancies: Colleague[];
  leads: Colleague[];
  groups: string[];
};

export function createProjectContext(
  dataset: Dataset,
  profile: words.ProjectProfile,
  personnel: Colleague[],
  groups: Row<'groups'>[],
): ProjectContext {
  const { random, moment } = dataset;
  const candidates = personnel.filter(
    ({ team }) => team === 'Programme Office' || profile.teams.includes(team),
  );
  const team = random.sample(candidates, 10 + 4 * profile.size);
  const isVacant = ({ row }: Colleague) => row.kind === 'placeholder';
  const hasLeft = ({ row }: Colleague) => row.end_on != null && row.end_on < moment.today;
  const departed = candidates.filter(hasLeft);
  const leads = candidates.filter((one) => one.leads && isAssignable(one, moment.today));
  return {
    profile,
    ...createProject(dataset, profile, team, leads),
    first: profile.status === 'planned' ? -110 : Math.max(-548, profile.from),
    last: Math.min(0, profile.to),
    team: team.filter((one) => !isVacant(one)),
    assignable: team.filter((one) => !isVacant(one) && isAssignable(one, moment.today)),
    departed: departed.length > 0 ? random.sample(departed, 2) : random.sample(personnel.filter(hasLeft), 2),
    vacancies: candidates.filter(isVacant),
    leads,
    groups: groups.filter(({ name }) => profile.teams.includes(name)).map(({ id }) => id),
  };
}

function createProject(
  dataset: Dataset,
  profile: words.ProjectProfile,
  team: Colleague[],
  leads: Colleague[],
): Pick<ProjectContext, 'project' | 'history'> {
  const { random } = dataset;
  const { key, name, description, from } = profile;
  const revisions = createProjectRevisions(dataset, profile, [...leads, ...team]);
  const timestamps = getTimestamps(revisions[0].at, revisions);
  const managers = team.filter((one) => one.row.kind === 'human' && isAssignable(one, dataset.moment.today));
  const input = {
    key,
    name,
    description,
    lead_user_id: random.pick(random.chance(0.3) ? leads : managers).row.user_id,
    start_on: dataset.day(from),
    appetite: random.pickWeightedNumber({ 8: 15, 10: 20, 12: 45, 15: 20 }),
    external_id: random.chance(0.6) ? `PPM-${dataset.nextSerial()}` : null,
    attributes: { cost_centre: String(random.between(6100, 6999)), portfolio: portfolios[profile.domain] },
  };
  const id = dataset.id('project', timestamps.created_at);
  const { state } = revisions.at(-1) ?? revisions[0];
  return {
    project: { ...projectRow(id, input, dataset.moment), ...state, ...timestamps },
    history: createHistory(dataset, { id, key }, revisions),
  };
}

type ProjectState = Pick<Project, 'status' | 'due_on' | 'archived_at'>;
type ProjectRevision = Revision & { state: ProjectState };

/** Creates the revisions from planning to the current status. A project is archived some weeks after its end. */
function createProjectRevisions(
  dataset: Dataset,
  { status, from, to, archived, suppliers }: words.ProjectProfile,
  team: Colleague[],
): [ProjectRevision, ...ProjectRevision[]] {
  const { random } = dataset;
  const created = Math.max(rosterImportDay + 4, Math.min(from, -110) - 20);
  const wasExtended = to > 0 && status !== 'planned' && random.chance(0.5);
  const first: ProjectState = {
    status: status === 'planned' || from > created ? 'planned' : 'active',
    due_on: dataset.day(wasExtended ? to - random.between(30, 90) : to),
    archived_at: null,
  };
  const revisions: [ProjectRevision, ...ProjectRevision[]] = [createRevision(dataset, team, created, first)];
  const addRevision = (offset: number, change: (at: string) => Partial<ProjectState>, reasons?: string[]) => {
    const { state } = revisions.at(-1) ?? revisions[0];
    const revision = createRevision(dataset, team, offset, state, reasons && random.pick(reasons));
    revisions.push({ ...revision, state: { ...state, ...change(revision.at) } });
  };
  const changeStatus = (next: Project['status'], offset: number) =>
    addRevision(offset, () => ({ status: next }), words.projectReasons[next]);
  if (status !== first.status && first.status === 'planned') changeStatus('active', from);
  if (status === 'on_hold') changeStatus(status, random.between(-100, -20));
  if (status === 'completed' || status === 'cancelled') changeStatus(status, to);
  if (wasExtended) {
    const reasons = words.extensionReasons.map((reason) => reason.replace('{supplier}', suppliers[0] ?? ''));
    addRevision(random.between(-15, -1), () => ({ due_on: dataset.day(to) }), reasons);
  }
  if (archived) addRevision(to + random.between(12, 30), (at) => ({ archived_at: at }));
  return revisions;
}

const createRevision = <State extends object>(
  dataset: Dataset,
  team: Colleague[],
  offset: number,
  state: State,
  reason: string | null = null,
) => ({ at: dataset.time(offset), state, key_name: pickAuthor(dataset, team, dataset.day(offset)), reason });

const portfolios: Record<words.Domain, string> = {
  works: 'Infrastructure',
  fleet: 'Rolling stock',
  digital: 'Technology',
  business: 'Organization',
};

/** Picks the name of who makes a change: often the person who keeps the lists of the project. */
export function pickAuthor({ random }: Dataset, team: Colleague[], day: string): string {
  const present = team.filter((one) => isHuman(one) && wasEmployedOn(one, day));
  return present.length === 0 || random.chance(0.4) ? keeperOf(team, day) : random.pick(present).row.name;
}

/** The name of the person who keeps the lists of a project and imports files. */
export function keeperOf(team: Colleague[], day: string): string {
  const keeper = team.find((one) => isHuman(one) && wasEmployedOn(one, day)) ?? team.find(isHuman);
  if (!keeper) throw new Error('A team has no human.');
  return keeper.row.name;
}

const isHuman = ({ row }: Colleague) => row.kind === 'human';
