import { Api, type Person, type Problem } from '../generated/swagger-typescript-api/muster.ts';

const { v1 } = new Api({
  baseUrl: process.env.MUSTER_URL ?? '',
  baseApiParams: { secure: true, headers: { authorization: `Bearer ${process.env.MUSTER_KEY}` } },
});
const body = { name: 'Ada Lovelace', email: 'ada@example.com', skills: ['analysis'] };

const created = await v1.createPerson(body);
const person: Person = created.data;

const code = await v1.createPerson(body).then(
  () => undefined,
  ({ error }: { error: Problem }) => error.code,
);

const people = await v1.listPersonnel({ kind: ['human', 'agent'], limit: 10 });
const groups = await v1.listGroups();
const risks = await v1.listRisks({ level: ['high', 'critical'] });
const issues = await v1.listIssues({ severity: ['critical', 'low'] });
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
