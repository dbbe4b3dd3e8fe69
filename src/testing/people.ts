import { systemClock } from '../clock.ts';
import type { Database } from '../database/open.ts';
import { newId } from '../ids.ts';
import { personRow } from '../personnel/queries.ts';
import type { PersonInput } from '../personnel/schema.ts';

/** Puts people straight into the table: `Person 0`, `Person 1` and so on. */
export async function fillPeople(database: Database, count: number, fields: Partial<PersonInput> = {}) {
  const moment = systemClock();
  const rows = Array.from({ length: count }, (_, i) =>
    personRow(newId('person'), { name: `Person ${i}`, ...fields }, moment),
  );
  await database.write(async (db) => {
    for (let i = 0; i < count; i += 500) {
      await db
        .insertInto('people')
        .values(rows.slice(i, i + 500))
        .execute();
    }
  });
}
