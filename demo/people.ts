import { fold, normalize } from '../src/core/text.ts';
import { personRow } from '../src/resources/personnel/queries.ts';
import type { Person, PersonInput } from '../src/resources/personnel/schema.ts';
import { createTimestamps, type Dataset, type Row, rosterImportDay } from './dataset.ts';
import * as words from './words.ts';

const contractorCount = 22;

export type Colleague = { row: Row<'people'>; team: string; leads: boolean };
type Position = { team: words.Team; title: string; manager: Colleague | null };

export function createPeople(dataset: Dataset): Colleague[] {
  const factory = createPersonFactory(dataset);
  const { executive } = words;
  const chief = factory.createEmployee(
    { team: executive, title: executive.lead, manager: null },
    pickLongTermEmployment(dataset),
  );

  const leads = new Map<string, Colleague>();
  for (const team of words.teams.filter(hasStaff)) {
    const manager = leads.get(team.parent ?? '') ?? chief;
    const lead = factory.createEmployee({ team, title: team.lead, manager }, pickLongTermEmployment(dataset));
    leads.set(team.name, { ...lead, leads: true });
  }
  const createPosition = ({ team, title }: { team: string; title: string }): Position => ({
    team: getTeam(team),
    title,
    manager: leads.get(team) ?? chief,
  });

  const staff = words.teams.flatMap((team) =>
    Array.from({ length: team.size }, () =>
      factory.createEmployee(
        createPosition({ team: team.name, title: dataset.random.pick(team.titles) }),
        pickEmployment(dataset),
      ),
    ),
  );
  const externals = Array.from({ length: contractorCount }, () =>
    factory.createContractor(createPosition(dataset.random.pick(words.externalTitles))),
  );
  const placeholders = words.vacancies.map((vacancy) => factory.createVacancy(createPosition(vacancy)));
  const humans = [...leads.values(), ...staff];
  const agents = words.agents.map((agent, i) => {
    const candidates = humans.filter(
      (one) => one.team === agent.team && isAssignable(one, dataset.moment.today),
    );
    return factory.createAgent(agent, dataset.random.pick(candidates), i === 1 ? 'inactive' : 'active');
  });
  return [chief, ...humans, ...externals, ...placeholders, ...agents];
}

/** A board has no staff of its own: its members come from the teams. */
export const hasStaff = ({ size }: words.Team) => size > 0;

export function getTeam(name: string): words.Team {
  const team = words.teams.find((one) => one.name === name);
  if (!team) throw new Error(`There is no team ${name}.`);
  return team;
}

type Employment = { from: number; to: number | null; status: Person['status'] };

const pickLongTermEmployment = ({ random }: Dataset): Employment => ({
  from: random.between(-5200, -720),
  to: null,
  status: 'active',
});

/**
 * Most people work here now. Some have left, are on leave or have not started yet. `forgotten` people have left but
 * still have the status `active`.
 */
function pickEmployment(dataset: Dataset): Employment {
  const { random } = dataset;
  const from = random.chance(0.65) ? random.between(-5200, -700) : random.between(-700, -40);
  const last = random.between(-480, -8);
  const since = last - random.between(150, 3000);
  const situation = random.pickWeighted({
    here: 83,
    fixed: 5,
    left: 7,
    forgotten: 2,
    away: 1.5,
    joining: 1.5,
  });
  switch (situation) {
    case 'fixed':
      return { from, to: random.between(20, 500), status: 'active' };
    case 'left':
      return { from: since, to: last, status: 'inactive' };
    case 'forgotten':
      return { from: since, to: last, status: 'active' };
    case 'away':
      return { from, to: null, status: 'inactive' };
    case 'joining':
      return { from: random.between(6, 60), to: null, status: 'active' };
    default:
      return { from, to: null, status: 'active' };
  }
}

/** Creates people with unique names, email addresses and phone numbers. */
function createPersonFactory(dataset: Dataset) {
  const { random } = dataset;
  const usedNames = new Set<string>();
  const lastPhoneIndexes = new Map<string, number>();

  function pickName(site: words.Site): string {
    const cultures = Object.keys(words.names) as (keyof typeof words.names)[];
    const { first, last } = words.names[random.chance(0.6) ? site.names : random.pick(cultures)];
    const name = normalize(`${random.pick(first.split(' '))} ${random.pick(last.split(' '))}`);
    if (usedNames.has(name)) return pickName(site);
    usedNames.add(name);
    return name;
  }

  /** 17 is coprime to 10, so the numbers look random and do not repeat. */
  function nextPhone(pattern: string): string {
    const index = (lastPhoneIndexes.get(pattern) ?? 0) + 1;
    lastPhoneIndexes.set(pattern, index);
    const digitCount = pattern.split('#').length - 1;
    const digits = String((index * 17) % 10 ** digitCount).padStart(digitCount, '0');
    return [...digits].reduce((text, digit) => text.replace('#', digit), pattern);
  }

  const pickSite = (team: words.Team) => {
    const city = random.pick(team.sites);
    return words.sites.find((site) => site.city === city) ?? random.pick(words.sites);
  };

  function createPerson(
    input: PersonInput,
    team: words.Team,
    { from, to }: { from: number; to: number | null },
  ): Colleague {
    const created = Math.max(rosterImportDay, Math.min(from - 14, -3));
    const changed = to !== null && to < 0 ? to : random.chance(0.6) ? random.between(created, 0) : null;
    const timestamps = createTimestamps(dataset, dataset.time(created), changed);
    const row = {
      ...personRow(dataset.id('person', timestamps.created_at), input, dataset.moment),
      ...timestamps,
    };
    return { row, team: team.name, leads: false };
  }

  const pickBasics = ({ team, manager }: Position) => ({
    department: team.department,
    manager_user_id: manager?.row.user_id ?? null,
    skills: random.sample(team.skills, random.between(2, 4)).toSorted(),
  });

  return {
    createEmployee(position: Position, { from, to, status }: Employment): Colleague {
      const site = pickSite(position.team);
      const name = pickName(site);
      const input: PersonInput = {
        ...pickBasics(position),
        name,
        email: `${createMailbox(name)}@example.com`,
        title: position.title,
        location: site.city,
        phone: site.phone && random.chance(0.9) ? nextPhone(site.phone) : null,
        time_zone: site.time_zone,
        kind: 'human',
        start_on: dataset.day(from),
        end_on: to === null ? null : dataset.day(to),
        status,
        external_id: random.chance(0.85) ? `hr-${10_000 + usedNames.size * 7}` : null,
        attributes: random.chance(0.6)
          ? { cost_centre: String(4700 + words.teams.indexOf(position.team) + 1) }
          : {},
      };
      return createPerson(input, position.team, { from, to });
    },

    createContractor(position: Position): Colleague {
      const site = random.pick(words.sites);
      const name = pickName(site);
      const from = random.between(-500, -30);
      const to = random.chance(0.2) ? random.between(Math.floor(from / 2), -3) : random.between(15, 400);
      const input: PersonInput = {
        ...pickBasics(position),
        name,
        email: `${createMailbox(name)}.ext@example.com`,
        title: position.title,
        location: site.city,
        phone: random.chance(0.7) ? nextPhone(words.mobile) : null,
        time_zone: site.time_zone,
        kind: 'external',
        start_on: dataset.day(from),
        end_on: dataset.day(to),
        status: to < 0 && random.chance(0.6) ? 'inactive' : 'active',
        attributes: { company: random.pick(words.partners) },
      };
      return createPerson(input, position.team, { from, to });
    },

    /** Creates a placeholder for a position that is not filled yet. */
    createVacancy(position: Position): Colleague {
      const input: PersonInput = {
        ...pickBasics(position),
        name: `Vacancy: ${position.title}`,
        title: position.title,
        location: random.pick(position.team.sites),
        kind: 'placeholder',
        external_id: `req-${dataset.nextSerial()}`,
      };
      return createPerson(input, position.team, { from: random.between(-150, -5), to: null });
    },

    createAgent(
      agent: (typeof words.agents)[number],
      accountable: Colleague,
      status: Person['status'],
    ): Colleague {
      const { row } = accountable;
      const from = random.between(-330, -30);
      const input: PersonInput = {
        name: agent.name,
        email: `${createMailbox(agent.name)}@example.com`,
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
      return createPerson(input, getTeam(agent.team), { from, to: null });
    },
  };
}

/** Letters that Unicode does not decompose into a base letter and a diacritic. */
const transliterations: Record<string, string> = { ł: 'l', ø: 'o', ß: 'ss', đ: 'd', ı: 'i', æ: 'ae' };

const createMailbox = (name: string) =>
  fold(name)
    .replace(/[łøßđıæ]/g, (letter) => transliterations[letter] ?? '')
    .replaceAll(' ', '.')
    .replace(/[^a-z.-]/g, '');

export const wasEmployedOn = ({ row }: Colleague, day: string) =>
  (row.start_on ?? '') <= day && day <= (row.end_on ?? '9999-99-99');

export const isAssignable = (colleague: Colleague, today: string) =>
  colleague.row.status === 'active' && wasEmployedOn(colleague, today);
