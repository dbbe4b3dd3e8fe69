import { systemClock } from '../src/core/clock.ts';
import { newId } from '../src/core/ids.ts';
import type { Database } from '../src/database/open.ts';
import { personRow } from '../src/resources/personnel/queries.ts';
import type { PersonInput } from '../src/resources/personnel/schema.ts';

/** Inserts people directly into the table: `Person 0`, `Person 1` and so on. */
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
