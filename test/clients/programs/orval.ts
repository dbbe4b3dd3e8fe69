import {
  createPerson,
  listGroups,
  listIssues,
  listPersonnel,
  listRisks,
  type Person,
  type Problem,
} from '../generated/orval/muster.ts';

const options = { headers: { authorization: `Bearer ${process.env.MUSTER_KEY}` } };
const body = { name: 'Ada Lovelace', email: 'ada@example.com', skills: ['analysis'] };

const created = await createPerson(body, options);
if (created.status !== 201) throw new Error(created.data.detail);
const person: Person = created.data;

const again = await createPerson(body, options);
const code: Problem['code'] | undefined = again.status === 409 ? again.data.code : undefined;

const people = await listPersonnel({ kind: ['human', 'agent'], limit: 10 }, options);
const groups = await listGroups({}, options);
const risks = await listRisks({ level: ['high', 'critical'] }, options);
const issues = await listIssues({ severity: ['critical', 'low'] }, options);
if (people.status !== 200 || groups.status !== 200 || risks.status !== 200 || issues.status !== 200)
  throw new Error('A list could not be read.');
const scores: (number | null)[] = risks.data.data.map(({ score }) => score);

console.log(
  JSON.stringify({
    person: person.user_id,
    code,
    people: people.data.data.map(({ user_id }) => user_id),
    groups: groups.data.data.map(({ name }) => name),
    scores,
    issues: issues.data.data.map(({ title }) => title),
  }),
);
