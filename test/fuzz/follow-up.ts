import type { Draft } from './draft.ts';
import type { Plan } from './plans.ts';
import { type ServiceResponse, send, type Wire } from './send.ts';
import type { Side } from './target.ts';

type Exchange = { side: Side; plan: Plan; draft: Draft; wire: Wire; response: ServiceResponse };
type Rule = (
  exchange: Exchange,
  sendChanged: (change: Partial<Wire>) => Promise<ServiceResponse>,
) => Promise<string | undefined>;

/** Checks that a response agrees with a follow-up request. Frequent checks run only for some plans, to save time. */
export async function followUp(exchange: Exchange): Promise<string[]> {
  const { side, wire } = exchange;
  const sendChanged = (change: Partial<Wire>) => send(side.origin, side.agent, { ...wire, ...change });
  for (const rule of [checkHead, checkIfNoneMatch, checkNextPage, checkReplay, checkLocation]) {
    const error = await rule(exchange, sendChanged);
    if (error) return [error];
  }
  return [];
}

const sharedHeaders = ['content-type', 'etag', 'allow', 'link', 'cache-control', 'vary', 'www-authenticate'];

const checkHead: Rule = async ({ plan, wire, response }, sendChanged) => {
  if (wire.method !== 'GET' || plan.pick % 6 !== 0) return;
  const head = await sendChanged({ method: 'HEAD' });
  const { status, headers } = response;
  if (head.status !== status) return `HEAD returns ${head.status}, GET ${status}`;
  if (head.text !== '') return 'HEAD returns a body';
  // A response without an ETag may differ each time, and a stream has no Content-Length.
  const hasLength = headers.etag !== undefined && !headers['transfer-encoding'];
  const names = hasLength ? [...sharedHeaders, 'content-length'] : sharedHeaders;
  const name = names.find((name) => head.headers[name] !== headers[name]);
  return name && `HEAD and GET differ in ${name}: ${head.headers[name]} and ${headers[name]}`;
};

const checkIfNoneMatch: Rule = async ({ plan, wire, response: { status, headers } }, sendChanged) => {
  if (wire.method !== 'GET' || status !== 200 || !headers.etag || plan.pick % 6 !== 1) return;
  const again = await sendChanged({ headers: { ...wire.headers, 'if-none-match': headers.etag } });
  if (again.status !== 304) return `If-None-Match with the current ETag returns ${again.status}`;
  return again.headers.etag === headers.etag
    ? undefined
    : `304 with the ETag ${again.headers.etag} instead of ${headers.etag}`;
};

const checkNextPage: Rule = async ({ response }, sendChanged) => {
  const next = /<([^>]+)>; rel="next"/.exec(String(response.headers.link ?? ''))?.[1];
  if (next === undefined) return;
  const { pathname, search } = new URL(next);
  const page = await sendChanged({ path: pathname + search });
  if (page.status !== 200) return `the next page returns ${page.status} ${page.text.slice(0, 300)}`;
  return rowIds(page).some((id) => rowIds(response).includes(id)) ? 'a row is on two pages' : undefined;
};

const rowIds = ({ json }: ServiceResponse): string[] =>
  ((json as { data?: { id?: string; user_id?: string }[] } | undefined)?.data ?? []).flatMap(
    ({ id, user_id }) => id ?? user_id ?? [],
  );

const checkReplay: Rule = async ({ draft, response: { status, headers, text } }, sendChanged) => {
  if (status !== 201 || !draft.headers['idempotency-key']) return;
  const again = await sendChanged({});
  const withoutSecret = (body: string) => body.replace(/"secret":"[^"]*"/, '"secret":null');
  if (again.status !== 201 || again.headers['idempotent-replayed'] !== 'true')
    return `the replay returns ${again.status}`;
  if (withoutSecret(again.text) !== withoutSecret(text)) return 'the replay returns a different body';
  return again.headers.location === headers.location ? undefined : 'the replay returns a different Location';
};

const checkLocation: Rule = async ({ plan, side, response: { status, headers } }) => {
  if (status !== 201 || !headers.location || plan.pick % 4 !== 0) return;
  const { origin, agent, keys } = side;
  const authorization = `Bearer ${keys.all}`;
  const path = new URL(headers.location).pathname;
  const created = await send(origin, agent, { method: 'GET', path, headers: { authorization } });
  return created.status === 200 ? undefined : `Location returns ${created.status}`;
};
