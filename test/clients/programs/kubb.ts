import { setConfig } from '@kubb/plugin-client/clients/fetch';
import {
  createPerson,
  listGroups,
  listIssues,
  listPersonnel,
  listRisks,
  type Person,
} from '../generated/kubb/index.ts';

setConfig({
  baseURL: process.env.MUSTER_URL ?? '',
  // Kubb's client sends a body as text unless the type is set.
  headers: { authorization: `Bearer ${process.env.MUSTER_KEY}`, 'content-type': 'application/json' },
});
const body = { name: 'Ada Lovelace', email: 'ada@example.com', skills: ['analysis'] };

const person: Person = await createPerson(body);
// It does not throw when the request fails, and has no type for what it returns then.
const { code } = (await createPerson(body)) as unknown as { code: string };

const people = await listPersonnel({ kind: ['human', 'agent'], limit: 10 });
const groups = await listGroups();
const risks = await listRisks({ level: ['high', 'critical'] });
const issues = await listIssues({ severity: ['critical', 'low'] });
const scores: (number | null)[] = risks.data.map(({ score }) => score);

console.log(
  JSON.stringify({
    person: person.user_id,
    code,
    people: people.data.map(({ user_id }) => user_id),
    groups: groups.data.map(({ name }) => name),
    scores,
    issues: issues.data.map(({ title }) => title),
  }),
);
