import { hashPassword } from '../src/resources/passwords/hash.ts';
import type { TestService } from './service.ts';

export const password = 'nine sparrows on a warm roof';
export const wrong = 'a wrong guess of a password';
export const noon = '2026-11-15T12:00:00.000Z';
export const environment = { MUSTER_TRUST_PROXY: '127.0.0.0/8,::1', MUSTER_FAILED_AUTH_LIMIT: '30' };
const hash = hashPassword(password);

/** Adds people who can sign in with the password. */
export async function addPeople(
  service: TestService,
  count: number,
): Promise<{ email: string; user_id: string }[]> {
  const people: Awaited<ReturnType<TestService['member']>>[] = [];
  for (let i = 0; i < count; i++) people.push(await service.member(['projects.read']));
  const stored = await hash;
  await service.database.write(async (db) => {
    for (const { user_id } of people)
      await db.insertInto('passwords').values({ user_id, hash: stored, set_at: noon }).execute();
    await db.deleteFrom('sessions').execute();
  });
  return people;
}

export async function attempt(
  service: TestService,
  from: string,
  email: string,
  guess = wrong,
  cookie?: string,
): Promise<{ status: number; retry: number; session: string; device: string }> {
  const headers = { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': from, ...(cookie && { cookie }) };
  const body = { email, password: guess };
  const response = await service.post('/v1/session', undefined, body, headers);
  const [session = '', device = ''] = response.headers
    .getSetCookie()
    .map((one) => one.split(';')[0] as string);
  const retry = Number(response.headers.get('retry-after') ?? 0);
  return { status: response.status, retry, session, device };
}

export const statusOf = async (...call: Parameters<typeof attempt>) => (await attempt(...call)).status;

export const countOf = (statuses: number[], status: number) =>
  statuses.filter((one) => one === status).length;
