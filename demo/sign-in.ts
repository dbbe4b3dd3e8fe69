import { sql } from 'kysely';
import type { Moment } from '../src/core/clock.ts';
import { presets } from '../src/core/scopes.ts';
import type { Database } from '../src/database/open.ts';
import { setAccess } from '../src/store/access/access.ts';
import { createLink } from '../src/store/access/links.ts';
import { bySystem } from '../src/store/writes/change.ts';

/** Longer than anybody leaves the demo before opening it. */
const linkHours = 24;

/** Gives the person with the most work full access, and creates a link that signs a browser in as that person. */
export async function inviteDemoPerson(database: Database, moment: Moment) {
  return database.write(async (db) => {
    const person = await db
      .selectFrom('people')
      .select(['user_id', 'name'])
      .where('kind', '=', 'human')
      .where('status', '=', 'active')
      .where('end_on', 'is', null)
      .where('email', 'is not', null)
      .orderBy(
        sql`(select count(*) from risks where risks.owner_user_id = people.user_id and risks.active = 1)
          * (select count(*) from tasks where tasks.assignee_user_id = people.user_id and tasks.open = 1)`,
        'desc',
      )
      .orderBy('roster_key')
      .executeTakeFirstOrThrow();
    const scopes = [...presets.administrator];
    await setAccess(db, person, { scopes, project_ids: null, source: 'manual' }, bySystem(moment));
    const { token } = await createLink(
      db,
      { purpose: 'sign_in', user_id: person.user_id, key_id: null },
      { now: moment.now, hours: linkHours },
    );
    return { name: person.name, token };
  });
}
