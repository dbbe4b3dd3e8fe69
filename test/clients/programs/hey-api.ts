import {
  createPerson,
  listGroups,
  listIssues,
  listPersonnel,
  listRisks,
  type Person,
  type Problem,
} from '../generated/hey-api';
import { client } from '../generated/hey-api/client.gen';

client.setConfig({ baseUrl: process.env.MUSTER_URL ?? '', auth: process.env.MUSTER_KEY });
const body = { name: 'Ada Lovelace', email: 'ada@example.com', skills: ['analysis'] };

const created = await createPerson({ body });
if (!created.data) throw new Error(created.error?.detail);
const person: Person = created.data;

const again = await createPerson({ body });
const code: Problem['code'] | undefined = again.error?.code;

const people = await listPersonnel({ query: { kind: ['human', 'agent'], limit: 10 } });
const groups = await listGroups();
const risks = await listRisks({ query: { level: ['high', 'critical'] } });
const issues = await listIssues({ query: { severity: ['critical', 'low'] } });
const scores: (number | null)[] | undefined = risks.data?.data.map(({ score }) => score);

console.log(
  JSON.stringify({
    person: person.user_id,
    code,
    people: people.data?.data.map(({ user_id }) => user_id),
    groups: groups.data?.data.map(({ name }) => name),
    scores,
    issues: issues.data?.data.map(({ title }) => title),
  }),
);
