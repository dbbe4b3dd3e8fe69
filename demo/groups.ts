import { fold } from '../src/core/text.ts';
import { groupRow } from '../src/resources/groups/queries.ts';
import { createTimestamps, type Dataset, latest, type Row, rosterImportDay } from './dataset.ts';
import { type Colleague, getTeam, hasStaff, isAssignable } from './people.ts';
import * as words from './words.ts';

export function createGroups(dataset: Dataset, personnel: Colleague[]): Row<'groups'>[] {
  const { random } = dataset;
  const ids = new Map<string, string>();
  return words.teams.map((team) => {
    const { name, parent, description } = team;
    const changed = random.chance(0.5) ? random.between(-300, -1) : null;
    const timestamps = createTimestamps(dataset, dataset.time(rosterImportDay + 2), changed);
    const id = dataset.id('group', timestamps.created_at);
    ids.set(name, id);
    const leadTeam = hasStaff(team) ? name : parent;
    const input = {
      name,
      description,
      parent_id: ids.get(parent ?? '') ?? null,
      lead_user_id: personnel.find((one) => one.leads && one.team === leadTeam)?.row.user_id ?? null,
      external_id: random.chance(0.7) ? `org-${fold(name).replaceAll(' ', '-')}` : null,
    };
    return { ...groupRow(id, input, dataset.moment), ...timestamps };
  });
}

export function createMemberships(
  dataset: Dataset,
  personnel: Colleague[],
  groups: Row<'groups'>[],
): Row<'memberships'>[] {
  return groups.flatMap((group) =>
    findMembers(dataset, getTeam(group.name), personnel).map(({ row }) => ({
      group_id: group.id,
      user_id: row.user_id,
      added_at: latest(row.created_at, group.created_at),
    })),
  );
}

/** A team consists of its people and the leads of its direct subteams. A board is a sample of all employees. */
function findMembers(dataset: Dataset, team: words.Team, personnel: Colleague[]): Colleague[] {
  const people = personnel.filter(
    (one) => one.row.kind !== 'placeholder' && one.team !== words.executive.name,
  );
  if (!hasStaff(team)) {
    const eligible = people.filter(
      (one) => one.row.kind === 'human' && isAssignable(one, dataset.moment.today),
    );
    return dataset.random.sample(eligible, 9);
  }
  return people.filter(
    (one) => one.team === team.name || (one.leads && getTeam(one.team).parent === team.name),
  );
}
