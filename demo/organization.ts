import type { Moment } from '../src/core/clock.ts';
import { fold, normalize } from '../src/core/text.ts';
import { groupRow } from '../src/resources/groups/queries.ts';
import { issueRow } from '../src/resources/issues/queries.ts';
import { type Issue, openStatuses } from '../src/resources/issues/schema.ts';
import { personRow } from '../src/resources/personnel/queries.ts';
import type { Person, PersonInput } from '../src/resources/personnel/schema.ts';
import { issueDelta, riskDelta } from '../src/resources/projects/counts.ts';
import { projectRow } from '../src/resources/projects/queries.ts';
import type { Project } from '../src/resources/projects/schema.ts';
import { riskRow } from '../src/resources/risks/queries.ts';
import { activeStatuses, type Risk } from '../src/resources/risks/schema.ts';
import { taskRow } from '../src/resources/tasks/queries.ts';
import { openStatuses as openTaskStatuses, type Task } from '../src/resources/tasks/schema.ts';
import { type Dataset, datasetAt, later, type Row, shares } from './dataset.ts';
import { historyOf, type Stage, stampsAfter } from './past.ts';
import { pastOf, rating, riskStages, type Scene, scoreIn, type Told, versionsOf } from './risk-past.ts';
import * as words from './words.ts';

type TableNames =
  | 'people'
  | 'groups'
  | 'memberships'
  | 'projects'
  | 'risks'
  | 'past_risks'
  | 'issues'
  | 'tasks'
  | 'history';

/** The rows of each table, those that are referred to before those that refer to them. */
export type Organization = { [Table in TableNames]: Row<Table>[] };

const totals = { externals: 22, risks: 700, issues: 1000, tasks: 2000 };

/** A made-up railway of 250 people. The same moment gives the same organization, byte for byte. */
export function organization(moment: Moment): Organization {
  const dataset = datasetAt(moment);
  const colleagues = makePeople(dataset);
  const groups = makeGroups(dataset, colleagues);
  const memberships = makeMemberships(dataset, colleagues, groups);

  const sizes = words.projects.map(({ size }) => size);
  const risksIn = shares(totals.risks, sizes);
  const issuesIn = shares(totals.issues, sizes);
  const tasksIn = shares(totals.tasks, sizes);
  const ventures = words.projects.map((story, i) => {
    const venture = makeVenture(dataset, story, colleagues, groups);
    const risks = makeRisks(dataset, venture, risksIn[i] ?? 0);
    const issues = makeIssues(dataset, venture, risks, issuesIn[i] ?? 0);
    const tasks = makeTasks(dataset, venture, risks, issues, tasksIn[i] ?? 0);
    const project = {
      ...venture.project,
      ...countsOf(risks, issues),
      risks_made: risks.length,
      issues_made: issues.length,
      tasks_made: tasks.length,
    };
    const histories = [venture, ...risks, ...issues, ...tasks].flatMap(({ history }) => history);
    return { project, risks, issues, tasks, histories };
  });

  return {
    people: colleagues.map(({ row }) => row),
    groups,
    memberships,
    projects: ventures.map(({ project }) => project),
    risks: ventures.flatMap(({ risks }) => risks.map(({ row }) => row)),
    past_risks: ventures.flatMap(({ risks }) => risks.flatMap(({ past }) => past)),
    issues: ventures.flatMap(({ issues }) => issues.map(({ row }) => row)),
    tasks: ventures.flatMap(({ tasks }) => tasks.map(({ row }) => row)),
    history: ventures.flatMap(({ histories }) => histories),
  };
}

/** What the project's own counters say of its risks and issues. */
function countsOf(risks: RiskMade[], issues: IssueMade[]) {
  const ofRisks = risks.map(({ row }) => riskDelta(isActive(row), scoreIn(row)));
  const ofIssues = issues.map(({ row }) => issueDelta(isOpen(row), row.severity));
  const sum = (count: keyof ReturnType<typeof riskDelta>) =>
    [...ofRisks, ...ofIssues].reduce((total, share) => total + share[count], 0);
  return {
    open_issues: sum('open_issues'),
    critical_issues: sum('critical_issues'),
    active_risks: sum('active_risks'),
    unassessed_risks: sum('unassessed_risks'),
  };
}

// People

type Colleague = { row: Row<'people'>; team: string; leads: boolean };
type Hire = { team: words.Team; title: string; manager: Colleague | null };

/** The roster was brought in on this day; whoever came later was added when hired. */
const rosterDay = -620;

function makePeople(dataset: Dataset): Colleague[] {
  const desk = frontDesk(dataset);
  const { executive } = words;
  const chief = desk.hire({ team: executive, title: executive.lead, manager: null }, settled(dataset));

  const leads = new Map<string, Colleague>();
  for (const team of words.teams.filter(hasStaff)) {
    const manager = leads.get(team.parent ?? '') ?? chief;
    const lead = desk.hire({ team, title: team.lead, manager }, settled(dataset));
    leads.set(team.name, { ...lead, leads: true });
  }
  const placeIn = ({ team, title }: { team: string; title: string }): Hire => ({
    team: teamNamed(team),
    title,
    manager: leads.get(team) ?? chief,
  });

  const staff = words.teams.flatMap((team) =>
    Array.from({ length: team.size }, () =>
      desk.hire(placeIn({ team: team.name, title: dataset.dice.pick(team.titles) }), employment(dataset)),
    ),
  );
  const externals = Array.from({ length: totals.externals }, () =>
    desk.contract(placeIn(dataset.dice.pick(words.externalTitles))),
  );
  const placeholders = words.vacancies.map((vacancy) => desk.advertise(placeIn(vacancy)));
  const humans = [...leads.values(), ...staff];
  const agents = words.agents.map((agent, i) => {
    const answering = humans.filter((one) => one.team === agent.team && isHere(one, dataset.moment.today));
    return desk.connect(agent, dataset.dice.pick(answering), i === 1 ? 'inactive' : 'active');
  });
  return [chief, ...humans, ...externals, ...placeholders, ...agents];
}

/** A board has none: its members come from the teams. */
const hasStaff = ({ size }: words.Team) => size > 0;

function teamNamed(name: string): words.Team {
  const team = words.teams.find((one) => one.name === name);
  if (!team) throw new Error(`There is no team ${name}.`);
  return team;
}

type Employment = { from: number; to: number | null; status: Person['status'] };

const settled = ({ dice }: Dataset): Employment => ({
  from: dice.between(-5200, -720),
  to: null,
  status: 'active',
});

/** Most are here; some have left, with or without the roster knowing it, are away, or have yet to begin. */
function employment(dataset: Dataset): Employment {
  const { dice } = dataset;
  const from = dice.chance(0.65) ? dice.between(-5200, -700) : dice.between(-700, -40);
  const last = dice.between(-480, -8);
  const since = last - dice.between(150, 3000);
  const course = dice.weighted({ here: 83, fixed: 5, left: 7, forgotten: 2, away: 1.5, joining: 1.5 });
  switch (course) {
    case 'fixed':
      return { from, to: dice.between(20, 500), status: 'active' };
    case 'left':
      return { from: since, to: last, status: 'inactive' };
    case 'forgotten':
      return { from: since, to: last, status: 'active' };
    case 'away':
      return { from, to: null, status: 'inactive' };
    case 'joining':
      return { from: dice.between(6, 60), to: null, status: 'active' };
    default:
      return { from, to: null, status: 'active' };
  }
}

/** Gives out what must not be given twice: names, addresses, telephone numbers. */
function frontDesk(dataset: Dataset) {
  const { dice } = dataset;
  const taken = new Set<string>();
  const lines = new Map<string, number>();

  function nameFrom(site: words.Site): string {
    const cultures = Object.keys(words.names) as (keyof typeof words.names)[];
    const { first, last } = words.names[dice.chance(0.6) ? site.names : dice.pick(cultures)];
    const name = normalize(`${dice.pick(first.split(' '))} ${dice.pick(last.split(' '))}`);
    if (taken.has(name)) return nameFrom(site);
    taken.add(name);
    return name;
  }

  /** Seventeen shares no factor with 10, so that the numbers look drawn and none comes twice. */
  function phoneAt(pattern: string): string {
    const line = (lines.get(pattern) ?? 0) + 1;
    lines.set(pattern, line);
    const places = pattern.split('#').length - 1;
    const digits = String((line * 17) % 10 ** places).padStart(places, '0');
    return [...digits].reduce((text, digit) => text.replace('#', digit), pattern);
  }

  const siteOf = (team: words.Team) => {
    const city = dice.pick(team.sites);
    return words.sites.find((site) => site.city === city) ?? dice.pick(words.sites);
  };

  function enter(
    input: PersonInput,
    team: words.Team,
    { from, to }: { from: number; to: number | null },
  ): Colleague {
    const made = Math.max(rosterDay, Math.min(from - 14, -3));
    const changed = to !== null && to < 0 ? to : dice.chance(0.6) ? dice.between(made, 0) : null;
    const stamps = stampsOf(dataset, dataset.time(made), changed);
    const row = { ...personRow(dataset.id('person', stamps.created_at), input, dataset.moment), ...stamps };
    return { row, team: team.name, leads: false };
  }

  const basics = ({ team, manager }: Hire) => ({
    department: team.department,
    manager_user_id: manager?.row.user_id ?? null,
    skills: dice.some(team.skills, dice.between(2, 4)).toSorted(),
  });

  return {
    hire(place: Hire, { from, to, status }: Employment): Colleague {
      const site = siteOf(place.team);
      const name = nameFrom(site);
      const input: PersonInput = {
        ...basics(place),
        name,
        email: `${mailbox(name)}@example.com`,
        title: place.title,
        location: site.city,
        phone: site.phone && dice.chance(0.9) ? phoneAt(site.phone) : null,
        time_zone: site.time_zone,
        kind: 'human',
        start_on: dataset.day(from),
        end_on: to === null ? null : dataset.day(to),
        status,
        external_id: dice.chance(0.85) ? `hr-${10_000 + taken.size * 7}` : null,
        attributes: dice.chance(0.6)
          ? { cost_centre: String(4700 + words.teams.indexOf(place.team) + 1) }
          : {},
      };
      return enter(input, place.team, { from, to });
    },

    contract(place: Hire): Colleague {
      const site = dice.pick(words.sites);
      const name = nameFrom(site);
      const from = dice.between(-500, -30);
      const to = dice.chance(0.2) ? dice.between(Math.floor(from / 2), -3) : dice.between(15, 400);
      const input: PersonInput = {
        ...basics(place),
        name,
        email: `${mailbox(name)}.ext@example.com`,
        title: place.title,
        location: site.city,
        phone: dice.chance(0.7) ? phoneAt(words.mobile) : null,
        time_zone: site.time_zone,
        kind: 'external',
        start_on: dataset.day(from),
        end_on: dataset.day(to),
        status: to < 0 && dice.chance(0.6) ? 'inactive' : 'active',
        attributes: { company: dice.pick(words.partners) },
      };
      return enter(input, place.team, { from, to });
    },

    /** A post that is planned with before anyone fills it. */
    advertise(place: Hire): Colleague {
      const input: PersonInput = {
        ...basics(place),
        name: `Vacancy: ${place.title}`,
        title: place.title,
        location: dice.pick(place.team.sites),
        kind: 'placeholder',
        external_id: `req-${dataset.nextSerial()}`,
      };
      return enter(input, place.team, { from: dice.between(-150, -5), to: null });
    },

    connect(agent: (typeof words.agents)[number], answering: Colleague, status: Person['status']): Colleague {
      const { row } = answering;
      const from = dice.between(-330, -30);
      const input: PersonInput = {
        name: agent.name,
        email: `${mailbox(agent.name)}@example.com`,
        title: 'Software agent',
        department: row.department ?? null,
        time_zone: 'UTC',
        kind: 'agent',
        accountable_user_id: row.user_id,
        skills: agent.skills,
        start_on: dataset.day(from),
        status,
        attributes: { runs_on: 'agents.example.com' },
      };
      return enter(input, teamNamed(agent.team), { from, to: null });
    },
  };
}

/** Letters that are no letter with a mark on it need a spelling of their own. */
const spelling: Record<string, string> = { ł: 'l', ø: 'o', ß: 'ss', đ: 'd', ı: 'i', æ: 'ae' };

const mailbox = (name: string) =>
  fold(name)
    .replace(/[łøßđıæ]/g, (letter) => spelling[letter] ?? '')
    .replaceAll(' ', '.')
    .replace(/[^a-z.-]/g, '');

/** As it was entered, or changed some times up to the day `changed`. */
function stampsOf(dataset: Dataset, created_at: string, changed: number | null) {
  const updated_at = changed === null ? created_at : later(created_at, dataset.time(changed));
  const version = updated_at === created_at ? 1 : dataset.dice.between(2, 9);
  return { version, created_at, updated_at };
}

const wasHere = ({ row }: Colleague, day: string) =>
  (row.start_on ?? '') <= day && day <= (row.end_on ?? '9999-99-99');

const isHere = (colleague: Colleague, today: string) =>
  colleague.row.status === 'active' && wasHere(colleague, today);

// Groups

function makeGroups(dataset: Dataset, colleagues: Colleague[]): Row<'groups'>[] {
  const { dice } = dataset;
  const ids = new Map<string, string>();
  return words.teams.map((team) => {
    const { name, parent, description } = team;
    const changed = dice.chance(0.5) ? dice.between(-300, -1) : null;
    const stamps = stampsOf(dataset, dataset.time(rosterDay + 2), changed);
    const id = dataset.id('group', stamps.created_at);
    ids.set(name, id);
    const leading = hasStaff(team) ? name : parent;
    const input = {
      name,
      description,
      parent_id: ids.get(parent ?? '') ?? null,
      lead_user_id: colleagues.find((one) => one.leads && one.team === leading)?.row.user_id ?? null,
      external_id: dice.chance(0.7) ? `org-${fold(name).replaceAll(' ', '-')}` : null,
    };
    return { ...groupRow(id, input, dataset.moment), ...stamps };
  });
}

function makeMemberships(
  dataset: Dataset,
  colleagues: Colleague[],
  groups: Row<'groups'>[],
): Row<'memberships'>[] {
  return groups.flatMap((group) =>
    membersOf(dataset, teamNamed(group.name), colleagues).map(({ row }) => ({
      group_id: group.id,
      user_id: row.user_id,
      added_at: later(row.created_at, group.created_at),
    })),
  );
}

/** Those of the team and the leads of the teams right below it; a board is drawn from everyone. */
function membersOf(dataset: Dataset, team: words.Team, colleagues: Colleague[]): Colleague[] {
  const people = colleagues.filter(
    (one) => one.row.kind !== 'placeholder' && one.team !== words.executive.name,
  );
  if (!hasStaff(team)) {
    const eligible = people.filter((one) => one.row.kind === 'human' && isHere(one, dataset.moment.today));
    return dataset.dice.some(eligible, 9);
  }
  return people.filter(
    (one) => one.team === team.name || (one.leads && teamNamed(one.team).parent === team.name),
  );
}

// Projects, and who and what belongs to them

type Venture = {
  story: words.ProjectStory;
  project: Row<'projects'>;
  history: Row<'history'>[];
  /** The days on which things happen here. */
  first: number;
  last: number;
  crew: Colleague[];
  here: Colleague[];
  gone: Colleague[];
  vacant: Colleague[];
  leads: Colleague[];
  groups: string[];
};

function makeVenture(
  dataset: Dataset,
  story: words.ProjectStory,
  colleagues: Colleague[],
  groups: Row<'groups'>[],
): Venture {
  const { dice, moment } = dataset;
  const near = colleagues.filter(({ team }) => team === 'Programme Office' || story.teams.includes(team));
  const crew = dice.some(near, 10 + 4 * story.size);
  const isVacant = ({ row }: Colleague) => row.kind === 'placeholder';
  const hasLeft = ({ row }: Colleague) => row.end_on != null && row.end_on < moment.today;
  const gone = near.filter(hasLeft);
  const leads = near.filter((one) => one.leads && isHere(one, moment.today));
  return {
    story,
    ...makeProject(dataset, story, crew, leads),
    first: story.status === 'planned' ? -110 : Math.max(-548, story.from),
    last: Math.min(0, story.to),
    crew: crew.filter((one) => !isVacant(one)),
    here: crew.filter((one) => !isVacant(one) && isHere(one, moment.today)),
    gone: gone.length > 0 ? dice.some(gone, 2) : dice.some(colleagues.filter(hasLeft), 2),
    vacant: near.filter(isVacant),
    leads,
    groups: groups.filter(({ name }) => story.teams.includes(name)).map(({ id }) => id),
  };
}

function makeProject(
  dataset: Dataset,
  story: words.ProjectStory,
  crew: Colleague[],
  leads: Colleague[],
): Pick<Venture, 'project' | 'history'> {
  const { dice } = dataset;
  const { key, name, description, from } = story;
  const stages = projectStages(dataset, story, [...leads, ...crew]);
  const stamps = stampsAfter(stages[0].at, stages);
  const managers = crew.filter((one) => one.row.kind === 'human' && isHere(one, dataset.moment.today));
  const input = {
    key,
    name,
    description,
    lead_user_id: dice.pick(dice.chance(0.3) ? leads : managers).row.user_id,
    start_on: dataset.day(from),
    appetite: dice.weightedNumber({ 8: 15, 10: 20, 12: 45, 15: 20 }),
    external_id: dice.chance(0.6) ? `PPM-${dataset.nextSerial()}` : null,
    attributes: { cost_centre: String(dice.between(6100, 6999)), portfolio: portfolios[story.domain] },
  };
  const id = dataset.id('project', stamps.created_at);
  const { state } = stages.at(-1) ?? stages[0];
  return {
    project: { ...projectRow(id, input, dataset.moment), ...state, ...stamps },
    history: historyOf(dataset, { id, key }, stages),
  };
}

type ProjectState = Pick<Project, 'status' | 'due_on' | 'archived_at'>;
type ProjectStage = Stage & { state: ProjectState };

/** From the plan to where it stands; a project is archived some weeks after its end. */
function projectStages(
  dataset: Dataset,
  { status, from, to, archived, suppliers }: words.ProjectStory,
  crew: Colleague[],
): [ProjectStage, ...ProjectStage[]] {
  const { dice } = dataset;
  const made = Math.max(rosterDay + 4, Math.min(from, -110) - 20);
  const wasExtended = to > 0 && status !== 'planned' && dice.chance(0.5);
  const first: ProjectState = {
    status: status === 'planned' || from > made ? 'planned' : 'active',
    due_on: dataset.day(wasExtended ? to - dice.between(30, 90) : to),
    archived_at: null,
  };
  const stages: [ProjectStage, ...ProjectStage[]] = [stageOn(dataset, crew, made, first)];
  const then = (offset: number, change: (at: string) => Partial<ProjectState>, reasons?: string[]) => {
    const { state } = stages.at(-1) ?? stages[0];
    const stage = stageOn(dataset, crew, offset, state, reasons && dice.pick(reasons));
    stages.push({ ...stage, state: { ...state, ...change(stage.at) } });
  };
  const become = (next: Project['status'], offset: number) =>
    then(offset, () => ({ status: next }), words.projectReasons[next]);
  if (status !== first.status && first.status === 'planned') become('active', from);
  if (status === 'on_hold') become(status, dice.between(-100, -20));
  if (status === 'completed' || status === 'cancelled') become(status, to);
  if (wasExtended) {
    const reasons = words.extensionReasons.map((reason) => reason.replace('{supplier}', suppliers[0] ?? ''));
    then(dice.between(-15, -1), () => ({ due_on: dataset.day(to) }), reasons);
  }
  if (archived) then(to + dice.between(12, 30), (at) => ({ archived_at: at }));
  return stages;
}

const stageOn = <State extends object>(
  dataset: Dataset,
  crew: Colleague[],
  offset: number,
  state: State,
  reason: string | null = null,
) => ({ at: dataset.time(offset), state, key_name: authorOn(dataset, crew, dataset.day(offset)), reason });

const portfolios: Record<words.Domain, string> = {
  works: 'Infrastructure',
  fleet: 'Rolling stock',
  digital: 'Technology',
  business: 'Organization',
};

/** Whose open work this is: mostly somebody who is here, sometimes nobody, or somebody who has left. */
function openAssignee(dataset: Dataset, { here, gone, vacant }: Venture): string | null {
  const where = dataset.dice.weighted({ here: 80, gone: 5, vacant: 2, nobody: 13 });
  const from = { here, gone, vacant, nobody: [] }[where];
  return from.length > 0 ? dataset.dice.pick(from).row.user_id : null;
}

/** Whoever was there on the day; nobody when all have come later. */
function witness(dataset: Dataset, { crew }: Venture, day: string): string | null {
  const present = crew.filter((one) => wasHere(one, day));
  return present.length > 0 ? dataset.dice.pick(present).row.user_id : null;
}

/** The name of the key a change was made with: somebody's own, or the one of the console. */
function authorOn({ dice }: Dataset, crew: Colleague[], day: string): string {
  const present = crew.filter((one) => one.row.kind === 'human' && wasHere(one, day));
  return present.length === 0 || dice.chance(0.4) ? 'console' : dice.pick(present).row.name;
}

/** Who owned something on a day gone by. */
function ownerOn(dataset: Dataset, venture: Venture, day: string) {
  const who = dataset.dice.weighted({ person: 58, group: 24, nobody: 18 });
  return {
    owner_user_id: who === 'person' ? witness(dataset, venture, day) : null,
    owner_group_id: who === 'group' ? dataset.dice.pick(venture.groups) : null,
  };
}

function ownerOf(dataset: Dataset, venture: Venture) {
  const { dice } = dataset;
  const who = dice.weighted({ person: 62, group: 21, gone: 4, nobody: 13 });
  const humans = venture.here.filter(({ row }) => row.kind === 'human');
  const owner = who === 'person' ? dice.pick(humans) : who === 'gone' ? dice.pick(venture.gone) : undefined;
  return {
    owner_user_id: owner?.row.user_id ?? null,
    owner_group_id: who === 'group' ? dice.pick(venture.groups) : null,
  };
}

// What happens in a project

type Happening = { offset: number; created_at: string };

type Story = { fits?: words.Domain[]; of?: words.Trait[]; title: string };

/** The things of a project that a story can be told of. */
const thingsFor = ({ things }: words.ProjectStory, { of }: Story) =>
  Object.entries(things).flatMap(([trait, named]) =>
    of?.some((one) => one === trait) === false ? [] : named,
  );

/** The project's own words in the places of a template. */
function wordsFor({ dice }: Dataset, project: words.ProjectStory, story: Story): Told {
  const [thing = '', other = ''] = dice.some(thingsFor(project, story), 2);
  const chosen: Record<string, string> = {
    thing,
    other,
    place: dice.pick(project.places),
    supplier: dice.pick(project.suppliers),
    scarce: project.scarce,
    authority: dice.pick(words.authorities[project.domain]),
  };
  return (template) =>
    template
      .replace(/\{(\w+)\}/g, (_, slot: string) => chosen[slot] ?? slot)
      .replace(/(^|\. )\p{Ll}/gu, (start) => start.toUpperCase());
}

/** Deals out stories that fit the project: each once before any comes again, and no title twice. */
function storyTeller<S extends Story>(dataset: Dataset, { story: project }: Venture, stories: readonly S[]) {
  const fitting = stories.filter((story) => {
    const needed = story.title.includes('{other}') ? 2 : 1;
    return story.fits?.includes(project.domain) !== false && thingsFor(project, story).length >= needed;
  });
  const heard = new Set<string>();
  let deck: S[] = [];
  return function tell(tries = 50): { story: S; told: Told } {
    if (deck.length === 0) deck = dataset.dice.some(fitting, fitting.length);
    const story = deck.pop() as S;
    const told = wordsFor(dataset, project, story);
    const title = told(story.title);
    if (heard.has(title) && tries > 0) return tell(tries - 1);
    heard.add(title);
    return { story, told };
  };
}

const happenings = (dataset: Dataset, { first, last }: Venture, count: number): Happening[] =>
  Array.from({ length: count }, () => {
    const offset = dataset.dice.between(first, last);
    return { offset, created_at: dataset.time(offset) };
  }).sort(byTime);

/** Not before what it follows from, and not many days after it. */
function following(dataset: Dataset, venture: Venture, cause: Happening, days: number): Happening {
  const offset = Math.min(laterDay(dataset, venture, cause.offset), cause.offset + days);
  return { offset, created_at: later(cause.created_at, dataset.time(offset)) };
}

const byTime = (a: Happening, b: Happening) => (a.created_at < b.created_at ? -1 : 1);

const identify = (
  dataset: Dataset,
  kind: 'risk' | 'issue' | 'task',
  { project }: Venture,
  when: Happening,
  n: number,
) => ({
  id: dataset.id(kind, when.created_at),
  project_id: project.id,
  key: `${project.key}-${kind[0]?.toUpperCase()}${n}`,
});

type Course = 'planned' | 'young' | 'old' | 'held' | 'ended';

/** Where things stand depends on the project, and on how long ago they came up. */
function courseOf({ story }: Venture, offset: number): Course {
  const courses: Record<Project['status'], Course> = {
    planned: 'planned',
    active: offset > -45 ? 'young' : 'old',
    on_hold: 'held',
    completed: 'ended',
    cancelled: 'ended',
  };
  return courses[story.status];
}

/** A day to finish by: mostly ahead, at times gone by, at times not set. */
function openDueDay(dataset: Dataset, offset: number, furthest: number): string | null {
  const { dice } = dataset;
  const when = dice.weighted({ ahead: 60, past: 19, none: 21 });
  if (when === 'none') return null;
  const past = when === 'past' && offset < -5;
  return dataset.day(past ? dice.between(Math.max(offset + 2, -75), -1) : dice.between(3, furthest));
}

/** From the day it came up to now, or to the end of the project. */
const laterDay = ({ dice }: Dataset, { last }: Venture, offset: number) =>
  dice.between(offset, Math.max(offset, last));

// Risks

/** `planned` is when the response was, if it was. */
type RiskMade = {
  row: Row<'risks'>;
  past: Row<'past_risks'>[];
  history: Row<'history'>[];
  story: words.RiskStory;
  told: Told;
  planned: Happening;
};

const isActive = ({ status }: Pick<Risk, 'status'>) => activeStatuses.some((active) => active === status);

const riskStatuses: Record<Course, Partial<Record<Risk['status'], number>>> = {
  planned: { open: 78, mitigating: 12, monitoring: 6, accepted: 4 },
  young: { open: 58, mitigating: 24, monitoring: 6, accepted: 4, materialized: 2, closed: 6 },
  old: { open: 21, mitigating: 29, monitoring: 13, accepted: 9, materialized: 7, closed: 21 },
  held: { open: 34, mitigating: 10, monitoring: 30, accepted: 11, materialized: 3, closed: 12 },
  ended: { open: 4, materialized: 8, closed: 88 },
};

/** How often a risk has changed; one is made in the first three states only. */
const riskChanges: Record<Risk['status'], Record<number, number>> = {
  open: { 0: 62, 1: 14, 2: 12, 3: 8, 4: 4 },
  mitigating: { 0: 34, 1: 20, 2: 21, 3: 16, 4: 9 },
  monitoring: { 0: 34, 1: 20, 2: 21, 3: 16, 4: 9 },
  accepted: { 1: 36, 2: 30, 3: 22, 4: 12 },
  materialized: { 1: 36, 2: 30, 3: 22, 4: 12 },
  closed: { 1: 36, 2: 30, 3: 22, 4: 12 },
};

/** How much of it in the last 90 days. An acceptance holds for a year at most, so that none is old. */
const recentChanges: Record<Risk['status'], number> = {
  open: 0.6,
  mitigating: 0.55,
  monitoring: 0.5,
  accepted: 1,
  materialized: 0.3,
  closed: 0.25,
};

const unassessed: Partial<Record<Risk['status'], number>> = { open: 0.3, monitoring: 0.06, closed: 0.03 };

function makeRisks(dataset: Dataset, venture: Venture, count: number): RiskMade[] {
  const tell = storyTeller(dataset, venture, words.riskStories);
  return happenings(dataset, venture, count).map((when, i) =>
    makeRisk(dataset, venture, when, i + 1, tell()),
  );
}

function makeRisk(
  dataset: Dataset,
  venture: Venture,
  when: Happening,
  n: number,
  { story, told }: { story: words.RiskStory; told: Told },
): RiskMade {
  const { dice } = dataset;
  const { status, times } = riskCourse(dataset, venture, when, story);
  const isAssessed = !dice.chance(unassessed[status] ?? 0);
  const isPlanned = isAssessed && (status !== 'open' || dice.chance(0.6));
  const input = {
    title: told(story.title),
    description: told(story.description),
    kind: story.opportunity ? ('opportunity' as const) : ('threat' as const),
    category: story.category,
    ...(isAssessed && assessment(dataset, story, isPlanned)),
    ...(isPlanned && response(dataset, story, told, status)),
    ...ownerOf(dataset, venture),
    raised_by_user_id: dice.chance(0.93) ? witness(dataset, venture, when.created_at.slice(0, 10)) : null,
    raised_on: when.created_at.slice(0, 10),
    due_on: isActive({ status })
      ? openDueDay(dataset, when.offset, 240)
      : dataset.day(when.offset + dice.between(20, 200)),
    review_on: isActive({ status }) ? reviewDay(dataset, when.offset) : null,
    ...source(dataset, 0.18, 'RR', 'https://register.example.com/risks'),
    attributes: exposure(dataset),
  };
  const now = {
    ...riskRow(identify(dataset, 'risk', venture, when, n), input, dataset.moment),
    status,
    ...outcome(dataset, venture, status, { story, told }),
  };
  return { ...withPast(dataset, venture, now, [when.created_at, ...times], told), story, told };
}

/** What it has become, and when it changed on the way: without a change it is still open. */
function riskCourse(
  dataset: Dataset,
  venture: Venture,
  { offset, created_at }: Happening,
  story: words.RiskStory,
) {
  const status = riskStatus(dataset, venture, offset, story);
  const count = dataset.dice.weightedNumber(riskChanges[status]);
  const until = Math.max(offset, venture.last);
  const times = dataset.timesAfter(created_at, until, count, recentChanges[status]);
  return { status: times.length > 0 || 0 in riskChanges[status] ? status : ('open' as const), times };
}

function withPast(dataset: Dataset, venture: Venture, now: Row<'risks'>, times: string[], told: Told) {
  const scene: Scene = {
    told,
    ownerOn: (day) => ownerOn(dataset, venture, day),
    approver: () => dataset.dice.pick(venture.leads).row.user_id,
    authorOn: (day) => authorOn(dataset, venture.crew, day),
  };
  const versions = versionsOf(dataset, now, times, scene);
  const row = versions.at(-1) ?? now;
  const maker = makerOf(dataset, venture, 'risk', row);
  const planned = versions.find(({ response_plan }) => response_plan != null) ?? row;
  return {
    row,
    past: pastOf(versions),
    history: historyOf(dataset, row, riskStages(dataset, versions, scene, maker)),
    planned: { offset: dataset.offsetOf(planned.updated_at), created_at: planned.updated_at },
  };
}

/** The key with which something was made: what comes from elsewhere was brought in by a machine. */
function makerOf(
  dataset: Dataset,
  { crew }: Venture,
  kind: keyof typeof words.importers,
  { external_id, created_at }: { external_id?: string | null; created_at: string },
): string {
  return external_id ? words.importers[kind] : authorOn(dataset, crew, created_at.slice(0, 10));
}

/** An opportunity does not turn into an issue. */
function riskStatus(
  dataset: Dataset,
  venture: Venture,
  offset: number,
  story: words.RiskStory,
): Risk['status'] {
  const status = dataset.dice.weighted(riskStatuses[courseOf(venture, offset)]);
  return status === 'materialized' && story.opportunity ? 'closed' : status;
}

/** The impact follows from what the risk is about, the probability does not. */
function assessment({ dice }: Dataset, story: words.RiskStory, isPlanned: boolean) {
  const probability = dice.weightedNumber({ 1: 16, 2: 33, 3: 31, 4: 15, 5: 5 });
  const impact = rating(story.impact + dice.weightedNumber({ [-1]: 34, 0: 54, 1: 12 }));
  if (!isPlanned || dice.chance(0.1)) return { probability, impact };
  const effect = story.opportunity ? 1 : -1;
  return {
    probability,
    impact,
    residual_probability: rating(probability + effect * dice.weightedNumber({ 0: 22, 1: 52, 2: 26 })),
    residual_impact: rating(impact + effect * dice.weightedNumber({ 0: 62, 1: 38 })),
  };
}

function response({ dice }: Dataset, story: words.RiskStory, told: Told, status: Risk['status']) {
  const strategy: NonNullable<Risk['strategy']> =
    status === 'accepted'
      ? 'accept'
      : story.opportunity
        ? dice.weighted({ exploit: 35, enhance: 40, share: 25 })
        : dice.weighted({
            mitigate: 68,
            avoid: 12,
            transfer: 11,
            escalate: 6,
            accept: status === 'monitoring' ? 12 : 0,
          });
  return {
    strategy,
    response_plan: `${story.steps.map(told).join('. ')}.`,
    contingency_plan: dice.chance(0.8) ? told(story.contingency) : null,
    trigger: dice.chance(0.75) ? told(story.trigger) : null,
  };
}

function reviewDay(dataset: Dataset, offset: number): string | null {
  const { dice } = dataset;
  if (dice.chance(0.14)) return null;
  const overdue = offset < -20 && dice.chance(0.2);
  return dataset.day(overdue ? dice.between(Math.max(offset + 10, -70), -1) : dice.between(3, 110));
}

function exposure({ dice }: Dataset): Record<string, string> {
  return dice.chance(0.3) ? { exposure_eur: String(dice.between(2, 120) * 25_000) } : {};
}

function outcome(
  dataset: Dataset,
  venture: Venture,
  status: Risk['status'],
  { story, told }: { story: words.RiskStory; told: Told },
) {
  const { dice } = dataset;
  if (status === 'accepted') {
    const isExpiring = dice.chance(0.18);
    return {
      accepted_until: dataset.day(isExpiring ? dice.between(3, 28) : dice.between(35, 270)),
      acceptance_reason: dice.pick(words.acceptanceReasons),
      accepted_by_user_id: dice.pick(venture.leads).row.user_id,
    };
  }
  const learned = dice.chance(0.4) ? dice.pick(words.lessons) : null;
  if (status === 'materialized') return { lessons: learned };
  if (status !== 'closed') return {};
  const reasons = story.opportunity ? words.opportunityClosures : words.closureReasons;
  return { closure_reason: told(dice.pick(reasons)), lessons: learned };
}

// Issues

type IssueMade = {
  row: Row<'issues'>;
  history: Row<'history'>[];
  story: words.IssueStory;
  told: Told;
  offset: number;
};
type IssueDraft = Happening & { risk?: RiskMade };

const isOpen = ({ status }: Pick<Issue, 'status'>) => openStatuses.some((open) => open === status);

const issueStatuses: Record<Course, Partial<Record<Issue['status'], number>>> = {
  planned: { open: 60, in_progress: 25, blocked: 5, resolved: 10 },
  young: { open: 46, in_progress: 32, blocked: 7, resolved: 10, closed: 5 },
  old: { open: 13, in_progress: 14, blocked: 6, resolved: 14, closed: 53 },
  held: { open: 25, in_progress: 5, blocked: 20, resolved: 15, closed: 35 },
  ended: { open: 2, resolved: 8, closed: 90 },
};

const severities: Record<words.IssueStory['gravity'], Partial<Record<Issue['severity'], number>>> = {
  grave: { critical: 22, high: 50, medium: 28 },
  normal: { critical: 1, high: 21, medium: 54, low: 24 },
  slight: { medium: 28, low: 72 },
};

const priorities: Record<Issue['severity'], Partial<Record<Issue['priority'], number>>> = {
  critical: { urgent: 70, high: 28, normal: 2 },
  high: { urgent: 14, high: 58, normal: 28 },
  medium: { high: 18, normal: 66, low: 16 },
  low: { high: 3, normal: 42, low: 55 },
};

/** The ways that lead to each state. */
const issueWays: Record<Issue['status'], Issue['status'][][]> = {
  open: [['open'], ['open'], ['open', 'in_progress', 'open']],
  in_progress: [
    ['open', 'in_progress'],
    ['open', 'in_progress'],
    ['open', 'in_progress', 'blocked', 'in_progress'],
  ],
  blocked: [
    ['open', 'blocked'],
    ['open', 'in_progress', 'blocked'],
  ],
  resolved: [
    ['open', 'resolved'],
    ['open', 'in_progress', 'resolved'],
    ['open', 'in_progress', 'blocked', 'resolved'],
  ],
  closed: [
    ['open', 'resolved', 'closed'],
    ['open', 'in_progress', 'resolved', 'closed'],
    ['open', 'in_progress', 'resolved', 'in_progress', 'resolved', 'closed'],
  ],
};

/** How long, in days, an issue of this severity may take. */
const patience: Record<Issue['severity'], number> = { critical: 14, high: 35, medium: 80, low: 150 };

function makeIssues(dataset: Dataset, venture: Venture, risks: RiskMade[], count: number): IssueMade[] {
  const tell = storyTeller(dataset, venture, words.issueStories);
  const happened: IssueDraft[] = risks
    .filter(({ row }) => row.status === 'materialized')
    .map((risk) => ({
      offset: dataset.offsetOf(risk.row.updated_at),
      created_at: risk.row.updated_at,
      risk,
    }));
  const drafts = [...happened, ...happenings(dataset, venture, count - happened.length)];
  return drafts
    .sort(byTime)
    .map((draft: IssueDraft, i) =>
      makeIssue(dataset, venture, draft, i + 1, draft.risk ? aftermath(draft.risk) : tell()),
    );
}

function aftermath({ row, story, told }: RiskMade): { story: words.IssueStory; told: Told } {
  const { key, contingency_plan } = row;
  const plan = contingency_plan ? `The plan for this: ${contingency_plan}` : 'There was no plan for this.';
  return {
    story: {
      gravity: 'grave',
      title: story.becomes ?? story.title,
      description: `${key} has happened. ${plan}`,
      steps: [
        contingency_plan ? `Carry out the contingency plan of ${key}` : `Decide what to do about ${key}`,
        `Review why ${key} was not prevented`,
      ],
    },
    told,
  };
}

function makeIssue(
  dataset: Dataset,
  venture: Venture,
  draft: IssueDraft,
  n: number,
  { story, told }: { story: words.IssueStory; told: Told },
): IssueMade {
  const { dice, moment } = dataset;
  const { risk, offset, created_at } = draft;
  const severity = dice.weighted(severities[story.gravity]);
  const wanted = dice.weighted(issueStatuses[courseOf(venture, offset)]);
  const days = isOpen({ status: wanted }) ? null : patience[severity];
  const way = wayThrough(dataset, venture, draft, dice.pick(issueWays[wanted]), days);
  const status = way.at(-1)?.status ?? 'open';
  const raised_on = created_at.slice(0, 10);
  const input = {
    title: told(story.title),
    description: told(story.description),
    severity,
    priority: dice.weighted(priorities[severity]),
    ...ownerOf(dataset, venture),
    assignee_user_id: isOpen({ status })
      ? openAssignee(dataset, venture)
      : witness(dataset, venture, raised_on),
    raised_by_user_id: dice.chance(0.92) ? witness(dataset, venture, raised_on) : null,
    raised_on,
    due_on: isOpen({ status })
      ? openDueDay(dataset, offset, patience[severity])
      : dataset.day(offset + dice.between(2, patience[severity])),
    risk_id: risk?.row.id ?? null,
    ...source(dataset, venture.story.domain === 'digital' ? 0.4 : 0.12, 'INC', 'https://tickets.example.com'),
    attributes: reportedVia(dataset),
  };
  const resolution = dice.weighted(resolutions);
  const blocked_reason = told(dice.pick(words.blockedReasons));
  const stateIn = (status: Issue['status']) => ({
    status,
    resolution: isOpen({ status }) ? null : resolution,
    blocked_reason: status === 'blocked' ? blocked_reason : null,
  });
  const row = {
    ...issueRow(identify(dataset, 'issue', venture, draft, n), input, moment),
    ...stateIn(status),
    created_at,
  };
  const states = way.map(({ at, status }) => ({ at, state: stateIn(status) }));
  return { ...withHistory(dataset, venture, 'issue', row, states), story, told, offset };
}

const resolutions: Record<NonNullable<Issue['resolution']>, number> = {
  fixed: 60,
  workaround: 16,
  wont_fix: 9,
  duplicate: 8,
  not_an_issue: 7,
};

function reportedVia({ dice }: Dataset): Record<string, string> {
  const ways = ['control room', 'site inspection', 'service desk', 'driver report', 'audit'];
  return dice.chance(0.25) ? { reported_via: dice.pick(ways) } : {};
}

/** The states that something went through, and since when it was in each. */
type Way<Status> = { status: Status; at: string }[];

/** As far along a way as there is time for; what ends does so within some days. */
function wayThrough<Status>(
  dataset: Dataset,
  { last }: Venture,
  { offset, created_at }: Happening,
  statuses: readonly Status[],
  days: number | null,
): Way<Status> {
  const until = Math.max(offset, days === null ? last : Math.min(last, offset + days));
  const times = [created_at, ...dataset.timesAfter(created_at, until, statuses.length - 1, 0.5)];
  return times.flatMap((at, i) => statuses.slice(i, i + 1).map((status) => ({ status, at })));
}

/** A row with the stamps of its way, and what is remembered of it. Some were not assigned from the start. */
function withHistory<R extends Row<'issues'> | Row<'tasks'>>(
  dataset: Dataset,
  venture: Venture,
  kind: 'issue' | 'task',
  row: R,
  way: { at: string; state: object }[],
): { row: R; history: Row<'history'>[] } {
  const { assignee_user_id = null, created_at } = row;
  const wasLate = way.length > 1 && dataset.dice.chance(0.35);
  const stages = way.map(({ at, state }, i) => ({
    at,
    state: { ...state, assignee_user_id: wasLate && i === 0 ? null : assignee_user_id },
    key_name:
      i === 0 ? makerOf(dataset, venture, kind, row) : authorOn(dataset, venture.crew, at.slice(0, 10)),
  }));
  return { row: { ...row, ...stampsAfter(created_at, stages) }, history: historyOf(dataset, row, stages) };
}

/** Some things were brought in from elsewhere and say so. */
function source(dataset: Dataset, share: number, letters: string, address: string) {
  if (!dataset.dice.chance(share)) return {};
  const external_id = `${letters}-${dataset.nextSerial()}`;
  return { external_id, source_url: `${address}/${external_id}` };
}

// Tasks

type TaskDraft = Happening & Pick<Task, 'title' | 'description' | 'kind' | 'status' | 'risk_id' | 'issue_id'>;

type TaskMade = { row: Row<'tasks'>; history: Row<'history'>[] };

type TaskWeights = Partial<Record<Task['status'], number>>;

const mitigationStatuses: Record<Risk['status'], TaskWeights> = {
  open: { todo: 70, in_progress: 30 },
  mitigating: { todo: 24, in_progress: 34, blocked: 6, done: 34, cancelled: 2 },
  monitoring: { done: 86, in_progress: 10, cancelled: 4 },
  accepted: { done: 60, cancelled: 40 },
  materialized: { done: 48, in_progress: 20, cancelled: 32 },
  closed: { done: 84, cancelled: 16 },
};

const resolutionStatuses: Record<Issue['status'], TaskWeights> = {
  open: { todo: 85, in_progress: 15 },
  in_progress: { todo: 20, in_progress: 52, done: 28 },
  blocked: { blocked: 75, todo: 15, done: 10 },
  resolved: { done: 92, cancelled: 8 },
  closed: { done: 90, cancelled: 10 },
};

const workStatuses: Record<Course, TaskWeights> = {
  planned: { todo: 86, in_progress: 14 },
  young: { todo: 46, in_progress: 34, blocked: 7, done: 11, cancelled: 2 },
  old: { todo: 10, in_progress: 11, blocked: 4, done: 69, cancelled: 6 },
  held: { todo: 30, blocked: 15, done: 48, cancelled: 7 },
  ended: { done: 90, cancelled: 10 },
};

const taskWays: Record<Task['status'], Task['status'][][]> = {
  todo: [['todo'], ['todo'], ['todo'], ['todo', 'in_progress', 'todo']],
  in_progress: [['todo', 'in_progress']],
  blocked: [
    ['todo', 'blocked'],
    ['todo', 'in_progress', 'blocked'],
  ],
  done: [
    ['todo', 'done'],
    ['todo', 'in_progress', 'done'],
    ['todo', 'in_progress', 'done'],
  ],
  cancelled: [
    ['todo', 'cancelled'],
    ['todo', 'in_progress', 'cancelled'],
  ],
};

/** How long, in days, a task may take. */
const taskDays = 75;

/** How much of a project's tasks answers to risks, and how much to issues; the rest is the work itself. */
const shareOfRisks = 0.25;
const shareOfIssues = 0.27;

function makeTasks(
  dataset: Dataset,
  venture: Venture,
  risks: RiskMade[],
  issues: IssueMade[],
  count: number,
): TaskMade[] {
  const { dice } = dataset;
  const mitigations = risks
    .filter(({ row }) => row.response_plan)
    .flatMap((risk) => mitigationTasks(dataset, venture, risk));
  const solutions = issues.flatMap((issue) => resolutionTasks(dataset, venture, issue));
  const answers = [
    ...dice.some(mitigations, Math.round(count * shareOfRisks)),
    ...dice.some(solutions, Math.round(count * shareOfIssues)),
  ];
  return [...answers, ...workTasks(dataset, venture, count - answers.length)]
    .sort(byTime)
    .map((draft, i) => makeTask(dataset, venture, draft, i + 1));
}

const mitigationTasks = (
  dataset: Dataset,
  venture: Venture,
  { row, story, told, planned }: RiskMade,
): TaskDraft[] =>
  story.steps.map((step) => ({
    ...following(dataset, venture, planned, 40),
    title: told(step),
    description: `Part of the response to ${row.key}.`,
    kind: 'mitigation',
    status: dataset.dice.weighted(mitigationStatuses[row.status]),
    risk_id: row.id,
    issue_id: null,
  }));

const resolutionTasks = (
  dataset: Dataset,
  venture: Venture,
  { row, story, told, offset }: IssueMade,
): TaskDraft[] =>
  story.steps.map((step) => ({
    ...following(dataset, venture, { offset, created_at: row.created_at }, 15),
    title: told(step),
    description: `To resolve ${row.key}.`,
    kind: 'resolution',
    status: dataset.dice.weighted(resolutionStatuses[row.status]),
    risk_id: null,
    issue_id: row.id,
  }));

function workTasks(dataset: Dataset, venture: Venture, count: number): TaskDraft[] {
  const stories = words.workTasks.flatMap(({ titles, ...scope }) =>
    titles.map((title) => ({ ...scope, title })),
  );
  const tell = storyTeller(dataset, venture, stories);
  return happenings(dataset, venture, count).map((when) => {
    const { story, told } = tell();
    return {
      ...when,
      title: told(story.title),
      description: dataset.dice.chance(0.5) ? told(dataset.dice.pick(words.taskNotes)) : null,
      kind: 'work',
      status: dataset.dice.weighted(workStatuses[courseOf(venture, when.offset)]),
      risk_id: null,
      issue_id: null,
    };
  });
}

function makeTask(dataset: Dataset, venture: Venture, draft: TaskDraft, n: number): TaskMade {
  const { dice } = dataset;
  const { offset, created_at, status: wanted, ...task } = draft;
  const days = isOpenTask(wanted) ? null : taskDays;
  const way = wayThrough(dataset, venture, draft, dice.pick(taskWays[wanted]), days);
  const status = way.at(-1)?.status ?? 'todo';
  const start = Math.min(offset + dice.between(0, 12), 0);
  const isStarted = status !== 'todo' && dice.chance(0.85);
  const input = {
    ...task,
    status,
    assignee_user_id: isOpenTask(status)
      ? openAssignee(dataset, venture)
      : witness(dataset, venture, created_at.slice(0, 10)),
    start_on: isStarted ? dataset.day(start) : null,
    due_on: isOpenTask(status) ? openDueDay(dataset, start, 120) : dataset.day(start + dice.between(3, 60)),
    external_id: dice.chance(0.12) ? `WO-${dataset.nextSerial()}` : null,
  };
  const row = { ...taskRow(identify(dataset, 'task', venture, draft, n), input, dataset.moment), created_at };
  const states = way.map(({ at, status }) => ({ at, state: { status } }));
  return withHistory(dataset, venture, 'task', row, states);
}

const isOpenTask = (status: Task['status']) => openTaskStatuses.some((open) => open === status);
