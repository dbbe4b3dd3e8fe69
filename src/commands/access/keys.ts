import { type Clock, type Moment, startOf, systemClock } from '../../core/clock.ts';
import { UsageError } from '../../core/errors.ts';
import { limits } from '../../core/schemas.ts';
import { type Scope, scopes } from '../../core/scopes.ts';
import { hasForbiddenCharacters, nearest, normalize } from '../../core/text.ts';
import { dayAt, isDay } from '../../core/time-zones.ts';
import type { Database } from '../../database/open.ts';
import { createKey, getKeyForChange, listKeys, revokeKey, rotateKey } from '../../resources/keys/queries.ts';
import { type Key, maxOverlapSeconds, maxRateLimit } from '../../resources/keys/schema.ts';
import { byCommandLine } from '../../store/writes/change.ts';
import { table } from './tables.ts';

export type KeyOptions = {
  name: string;
  scopes: string;
  project?: string[];
  expires?: string;
  rateLimit?: string;
};

export async function createKeyCommand(
  database: Database,
  clock: Clock,
  options: KeyOptions,
): Promise<Key & { secret: string }> {
  const moment = clock();
  const input = {
    name: readName(options.name),
    scopes: readScopes(options.scopes),
    project_ids: options.project ?? null,
    expires_at: options.expires === undefined ? null : readExpiry(options.expires, moment),
    rate_limit:
      options.rateLimit === undefined
        ? null
        : readInteger(
            '--rate-limit',
            options.rateLimit,
            maxRateLimit,
            `a number of requests per minute up to ${maxRateLimit} (0 means no limit)`,
          ),
  };
  return database.write((db) => createKey(db, input, byCommandLine(moment)));
}

export const listKeysCommand = (database: Database): Promise<Key[]> => listKeys(database.db);

export const revokeKeyCommand = (database: Database, id: string): Promise<Key> =>
  database.write((db) => revokeKey(db, id, byCommandLine(systemClock())));

export async function rotateKeyCommand(
  database: Database,
  id: string,
  { overlap }: { overlap: string },
): Promise<Key & { secret: string }> {
  const seconds = readInteger(
    '--overlap',
    overlap,
    maxOverlapSeconds,
    `a whole number of seconds up to ${maxOverlapSeconds}`,
  );
  return database.write(async (db) =>
    rotateKey(db, await getKeyForChange(db, id), seconds, byCommandLine(systemClock())),
  );
}

/** A header, and one line per key. */
export function keyTable(keys: Key[], { now, time_zone }: Moment): string {
  if (keys.length === 0)
    return 'No keys yet. Create one: muster keys create --name NAME --scopes personnel.read';
  const header = ['ID', 'SECRET', 'STATUS', 'EXPIRES', 'NAME', 'SCOPES', 'PROJECTS'];
  const rows = keys.map((key) => [
    key.id,
    `${key.prefix}…${key.last_four}`,
    key.revoked_at ? 'revoked' : key.expires_at && key.expires_at <= now ? 'expired' : 'valid',
    key.expires_at ? dayAt(Date.parse(key.expires_at), time_zone) : 'never',
    key.name,
    key.scopes.join(','),
    key.project_ids?.join(',') ?? 'all',
  ]);
  return table(header, rows);
}

function readName(text: string): string {
  const name = normalize(text);
  if (name === '' || name.length > limits.name_characters || hasForbiddenCharacters(name)) {
    throw new UsageError(`--name must be 1 to ${limits.name_characters} plain characters.`);
  }
  return name;
}

function readScopes(text: string): Scope[] {
  const named = text.split(',').map((scope) => scope.trim());
  if (named.includes('all')) return [...scopes];
  const unknown = named.find((name) => !scopes.some((scope) => scope === name));
  if (unknown !== undefined) {
    const meant = nearest(unknown, scopes);
    throw new UsageError(
      `“${unknown}” is not a scope${meant ? `; did you mean ${meant}?` : ''}. Choose from ${scopes.join(', ')}, or all.`,
    );
  }
  return [...new Set(named)] as Scope[];
}

function readInteger(option: string, text: string, max: number, expected: string): number {
  if (/^\d{1,7}$/.test(text) && Number(text) <= max) return Number(text);
  throw new UsageError(`${option} is “${text}” but must be ${expected}.`);
}

/**
 * Accepts a date, which means its start in the time zone of the organization, a time, in UTC unless it has an offset, or a
 * number of days such as `90d`.
 */
export function readExpiry(text: string, moment: Moment): string {
  const { now } = moment;
  const [, days] = /^(\d{1,5})d$/.exec(text) ?? [];
  const time = days ? Date.parse(now) + Number(days) * 86_400_000 : readTime(text, moment);
  if (Number.isNaN(time)) {
    throw new UsageError(
      `--expires is “${text}” but must be a date (2027-01-31), a time (2027-01-31T18:00Z), or days from now (90d).`,
    );
  }
  const expires_at = new Date(time).toISOString();
  if (expires_at <= now) throw new UsageError(`--expires is ${expires_at}, which is in the past.`);
  return expires_at;
}

/** JavaScript parses 31 February as a day in March, and a time without an offset in the time zone of the machine. */
function readTime(text: string, moment: Moment): number {
  const [, day = '', time = '', offset = 'Z'] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:\d\d)?)?$/i.exec(text) ?? [];
  if (!isDay(day)) return Number.NaN;
  return Date.parse(time === '' ? startOf(day, moment) : `${day}T${time}${offset.toUpperCase()}`);
}
