import type { FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import { invalidParameter } from '../../core/errors.ts';
import { dayAt } from '../../core/time-zones.ts';
import { readSettings } from '../../store/settings.ts';
import type { Tables } from '../../store/tables.ts';

/**
 * The first day at whose end the past is known: before it, the history has been deleted (`jobs/history-retention.ts`). Null
 * if nothing was deleted.
 */
export async function firstDayOfHistory({ database, moment }: FastifyRequest): Promise<string | null> {
  const start = await findStart(database.db);
  return start === undefined ? null : dayAt(Date.parse(start) - 1, moment.time_zone);
}

/** Rejects parameters that name a day before the first one. */
export function rejectBefore(firstDay: string | null, days: Record<string, string | undefined>): void {
  if (firstDay === null) return;
  for (const [parameter, day] of Object.entries(days))
    if (day !== undefined && day < firstDay) throw beforeHistory(parameter, `on ${firstDay}`);
}

/** Rejects a parameter that names a time before the start of the history. */
export async function rejectTimeBefore(db: Kysely<Tables>, parameter: string, time: string): Promise<void> {
  const start = await findStart(db);
  if (start !== undefined && Date.parse(time) < Date.parse(start))
    throw beforeHistory(parameter, `at ${start}`);
}

const beforeHistory = (parameter: string, start: string) =>
  invalidParameter(
    parameter,
    `The history begins ${start}: what was before has been deleted. Ask for then or later.`,
  );

const findStart = async (db: Kysely<Tables>) => (await readSettings(db)).get('history_start');
