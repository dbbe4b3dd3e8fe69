import createClient from 'openapi-fetch';
import type { components, paths } from '../generated/openapi-typescript.ts';

const muster = createClient<paths>({
  baseUrl: process.env.MUSTER_URL ?? '',
  headers: { authorization: `Bearer ${process.env.MUSTER_KEY}` },
});
const body = { name: 'Ada Lovelace', email: 'ada@example.com', skills: ['analysis'] };

const created = await muster.POST('/v1/personnel', { body });
if (!created.data) throw new Error(created.error.detail);
const person: components['schemas']['Person'] = created.data;

const again = await muster.POST('/v1/personnel', { body });
const code: components['schemas']['Problem']['code'] | undefined = again.error?.code;

const people = await muster.GET('/v1/personnel', {
  params: { query: { kind: ['human', 'agent'], limit: 10 } },
});
const groups = await muster.GET('/v1/groups');
const risks = await muster.GET('/v1/risks', { params: { query: { level: ['high', 'critical'] } } });
const issues = await muster.GET('/v1/issues', { params: { query: { severity: ['critical', 'low'] } } });
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
