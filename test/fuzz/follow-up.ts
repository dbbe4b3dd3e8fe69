import type { ParsedRow } from './draft.ts';
import type { Plan } from './plans.ts';
import { type Answer, send, type Wire } from './send.ts';
import type { Side } from './target.ts';

type Told = { side: Side; plan: Plan; draft: ParsedRow; wire: Wire; answer: Answer };
type Rule = (told: Told, ask: (change: Partial<Wire>) => Promise<Answer>) => Promise<string | undefined>;

/** What must hold between this answer and the next. Some is tried only now and then, to keep the pace. */
export async function followUp(told: Told): Promise<string[]> {
  const { side, wire } = told;
  const ask = (change: Partial<Wire>) => send(side.origin, side.agent, { ...wire, ...change });
  for (const rule of [headIsLikeGet, ownTagIsKnown, nextPageFollows, sameKeyIsSameAnswer, locationIsThere]) {
    const error = await rule(told, ask);
    if (error) return [error];
  }
  return [];
}

const likeGet = ['content-type', 'etag', 'allow', 'link', 'cache-control', 'vary', 'www-authenticate'];

const headIsLikeGet: Rule = async ({ plan, wire, answer }, ask) => {
  if (wire.method !== 'GET' || plan.pick % 6 !== 0) return;
  const head = await ask({ method: 'HEAD' });
  const { status, headers } = answer;
  if (head.status !== status) return `HEAD answers ${head.status}, GET ${status}`;
  if (head.text !== '') return 'HEAD answers with a body';
  // What has no tag may be another each time it is asked for; what is streamed has no length.
  const isFixed = headers.etag !== undefined && !headers['transfer-encoding'];
  const names = isFixed ? [...likeGet, 'content-length'] : likeGet;
  const name = names.find((name) => head.headers[name] !== headers[name]);
  return name && `HEAD and GET differ in ${name}: ${head.headers[name]} and ${headers[name]}`;
};

const ownTagIsKnown: Rule = async ({ plan, wire, answer: { status, headers } }, ask) => {
  if (wire.method !== 'GET' || status !== 200 || !headers.etag || plan.pick % 6 !== 1) return;
  const again = await ask({ headers: { ...wire.headers, 'if-none-match': headers.etag } });
  if (again.status !== 304) return `If-None-Match with its own ETag answers ${again.status}`;
  return again.headers.etag === headers.etag
    ? undefined
    : `304 with the ETag ${again.headers.etag} instead of ${headers.etag}`;
};

const nextPageFollows: Rule = async ({ answer }, ask) => {
  const next = /<([^>]+)>; rel="next"/.exec(String(answer.headers.link ?? ''))?.[1];
  if (next === undefined) return;
  const { pathname, search } = new URL(next);
  const page = await ask({ path: pathname + search });
  if (page.status !== 200) return `the next page answers ${page.status} ${page.text.slice(0, 300)}`;
  return rowIds(page).some((id) => rowIds(answer).includes(id)) ? 'a row is on two pages' : undefined;
};

const rowIds = ({ json }: Answer): string[] =>
  ((json as { data?: { id?: string; user_id?: string }[] } | undefined)?.data ?? []).flatMap(
    ({ id, user_id }) => id ?? user_id ?? [],
  );

const sameKeyIsSameAnswer: Rule = async ({ draft, answer: { status, headers, text } }, ask) => {
  if (status !== 201 || !draft.headers['idempotency-key']) return;
  const again = await ask({});
  const withoutSecret = (body: string) => body.replace(/"secret":"[^"]*"/, '"secret":null');
  if (again.status !== 201 || again.headers['idempotent-replayed'] !== 'true')
    return `the same request again answers ${again.status}`;
  if (withoutSecret(again.text) !== withoutSecret(text))
    return 'the same request again answers something else';
  return again.headers.location === headers.location
    ? undefined
    : 'the same request again has another Location';
};

const locationIsThere: Rule = async ({ plan, side, answer: { status, headers } }) => {
  if (status !== 201 || !headers.location || plan.pick % 4 !== 0) return;
  const { origin, agent, keys } = side;
  const authorization = `Bearer ${keys.all}`;
  const path = new URL(headers.location).pathname;
  const made = await send(origin, agent, { method: 'GET', path, headers: { authorization } });
  return made.status === 200 ? undefined : `Location answers ${made.status}`;
};
