import { type RawBuilder, sql } from 'kysely';
import { parsedJson } from '../../database/sql/functions.ts';
import { resources } from '../../resources/descriptors.ts';
import { type Rule, rowRule } from './rules.ts';

/** Rules that connect rows with their history, their events and, for risks, their past versions. */

/** The resources whose changes are all recorded, with the column that names a row. */
const recorded = resources.flatMap(({ table, id, kind }) => {
  const isItem = ['risks', 'issues', 'tasks'].includes(table);
  const isRecorded = isItem || ['people', 'groups', 'projects'].includes(table);
  return isRecorded
    ? [{ table, id: sql.ref(`subject.${id}`), kind, isItem, label: isItem ? 'title' : 'name' }]
    : [];
});

/** The history before is deleted: see `jobs/history-retention.ts`. */
const isKept = (time: RawBuilder<unknown>) =>
  sql`${time} >= coalesce((select value from settings where name = 'history_start'), '')`;

/** Memberships change people and groups without an entry of theirs. */
const historyRules = recorded
  .filter(({ table }) => table !== 'people' && table !== 'groups')
  .map(({ table }) => {
    const isMissing = (time: string, entry: RawBuilder<unknown>) =>
      sql`(${isKept(sql.ref(time))} and not exists (
        select 1 from history where subject_id = child.id and ${entry}))`;
    return rowRule(
      'history',
      table,
      `the first and the last change of ${table} are in the history`,
      sql`${isMissing('created_at', sql`field = 'created'`)} or ${isMissing('updated_at', sql`at = updated_at`)}`,
    );
  });

/** Lists and objects are left out, because their members may be in another order. */
const isPlain = (value: string) => sql`substr(${sql.ref(value)}, 1, 1) not in ('[', '{')`;

const chainRule: Rule = {
  area: 'history',
  rule: 'a change begins with the value that a change before has ended with',
  broken: sql`
    select entry.subject_id || ' ' || entry.field as label from history as entry
    where ${isPlain('entry.from')} and entry.field in ('name', 'title', 'status', 'email', 'key', 'due_on', 'score',
        'level', 'severity', 'priority', 'owner_user_id', 'owner_group_id', 'assignee_user_id', 'manager_user_id')
      and exists (select 1 from history as earlier
        where earlier.subject_id = entry.subject_id and earlier.field = entry.field and earlier.at < entry.at)
      and not exists (select 1 from history as earlier
        where earlier.subject_id = entry.subject_id and earlier.field = entry.field and earlier.at <= entry.at
          and earlier.id <> entry.id and earlier."to" = entry."from")`,
};

/** Each version of a risk with the one before. */
const versions = sql`(
  select id, version, created_at, updated_at, project_id, key, status, score, initial_score from past_risks
  union all select id, version, created_at, updated_at, project_id, key, status, score, initial_score from risks)`;

const versionRule = (rule: string, isBroken: RawBuilder<unknown>): Rule => ({
  area: 'history',
  rule,
  broken: sql`
    select past.key || ' version ' || past.version as label from past_risks as past
    join ${versions} as later on later.id = past.id and later.version = past.version + 1
    where ${isBroken}`,
});

const pastRules: Rule[] = [
  versionRule(
    'a past version of a risk ends when the next one begins',
    sql`past.valid_until <> later.updated_at or past.valid_until <= past.updated_at`,
  ),
  versionRule(
    'all versions of a risk are in one project, with one key and one time of creation',
    sql`past.project_id <> later.project_id or past.key <> later.key or past.created_at <> later.created_at`,
  ),
  versionRule(
    'a status of a past version that the next one does not have was changed in the history',
    sql`past.status <> later.status and ${isKept(sql`later.updated_at`)} and not exists (
      select 1 from history where subject_id = past.id and at = later.updated_at and field = 'status'
        and "from" = '"' || past.status || '"' and "to" = '"' || later.status || '"')`,
  ),
  versionRule(
    'the initial score of a risk stays, unless another risk model came into force',
    sql`past.score is not null and later.score is not null and past.initial_score <> later.initial_score
      and not exists (select 1 from risk_models where created_at >= past.updated_at)`,
  ),
  rowRule(
    'history',
    'past_risks',
    'a risk whose past versions are stored exists, or was deleted',
    sql`not exists (select 1 from risks where id = child.id) and ${isKept(sql`valid_until`)}
      and not exists (select 1 from history where subject_id = child.id and field = 'deleted')`,
  ),
  ...(['risks', 'past_risks'] as const).map((table) =>
    rowRule(
      'ranks',
      table,
      `an initial score in ${table} is there if a score is, and is at first the same`,
      // A change of the risk model may leave no score for one.
      sql`((score is null) <> (initial_score is null) or (version = 1 and score <> initial_score))
        and not exists (select 1 from risk_models)`,
    ),
  ),
];

/** The events of members have the membership, and not the group. */
const isOfSubject = (event: string) => sql`${sql.ref(`${event}.type`)} not like 'group.member%'`;

const eventRules: Rule[] = recorded.map(({ table, id, kind, isItem, label }) => {
  const field = (name: string) => sql`(${parsedJson(sql.ref('event.data'))} ->> ${sql.lit(name)})`;
  const version = sql`cast(${field('version')} as bigint)`;
  return {
    area: 'events',
    rule: `the last event of each of ${table} has its state`,
    broken: sql`
      select event.subject_id as label from events as event
      left join ${sql.table(table)} as subject on ${id} = event.subject_id
      where event.subject_type = ${sql.lit(kind)} and ${isOfSubject('event')} and not exists (
          select 1 from events as later
          where later.subject_id = event.subject_id and later.sequence > event.sequence and ${isOfSubject('later')})
        and case when event.type = ${sql.lit(`${kind}.deleted`)} then subject.version is not null
          when subject.version is null or ${version} > subject.version then 1 = 1
          when ${field(label)} <> ${sql.ref(`subject.${label}`)} then 1 = 1
          -- A membership changes people and groups without an event of theirs.
          else ${sql.lit(isItem ? 1 : 0)} = 1
            and (${version} <> subject.version or ${field('updated_at')} <> subject.updated_at) end`,
  };
});

export const changeRules: readonly Rule[] = [...historyRules, chainRule, ...pastRules, ...eventRules];
