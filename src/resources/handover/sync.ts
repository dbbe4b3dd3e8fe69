import { sql } from 'kysely';
import { lowerAscii } from '../../core/text.ts';
import { inJsonArray } from '../../database/sql/functions.ts';
import type { SyncTarget } from '../../import/importable.ts';
import { lockTables } from '../../store/writes/locks.ts';
import { getPerson, updatePerson } from '../personnel/queries.ts';
import { deactivatePerson } from './handover.ts';

/** The name of another source that has a person. */
const otherSource = (source: string) =>
  sql<string | null>`(select min(other.source) from synced_people other
    where other.user_id = people.user_id and other.source <> ${source} and other.deactivated = 0)`;

/**
 * People who are missing in a source that brought them are deactivated, unless another source has them; those who come back
 * are activated again. `deactivated` is 1 if a sync did it and nobody has changed the status since.
 */
export const peopleSync: SyncTarget = {
  noun: 'people',
  async list(db, source) {
    const rows = await db
      .selectFrom('synced_people')
      .innerJoin('people', 'people.user_id', 'synced_people.user_id')
      .select(['people.user_id', 'people.name', 'people.email', 'people.external_id'])
      .select(otherSource(source).as('kept_by'))
      .where('synced_people.source', '=', source)
      .where('people.status', '=', 'active')
      .orderBy('people.roster_key')
      .execute();
    return rows.map(({ user_id, name, email, external_id, kept_by }) => ({
      id: user_id,
      label: name,
      keptBy: kept_by,
      keys: [
        `user_id ${user_id}`,
        ...(external_id === null ? [] : [`external_id ${external_id}`]),
        ...(email === null ? [] : [`email ${lowerAscii(email)}`]),
      ],
    }));
  },
  async record(db, source, ids, change) {
    const stored = await db
      .selectFrom('synced_people')
      .select(['source', 'user_id', 'deactivated'])
      .where((eb) => eb.or([eb('source', '=', source), eb('deactivated', '=', 1)]))
      .where(inJsonArray(sql.ref('user_id'), [...ids]))
      .execute();
    const known = new Set(stored.flatMap((row) => (row.source === source ? row.user_id : [])));
    const added = ids.filter((id) => !known.has(id));
    if (added.length > 0)
      await db
        .insertInto('synced_people')
        .values(added.map((user_id) => ({ source, user_id, deactivated: 0 })))
        .execute();
    const returned: { id: string; name: string }[] = [];
    const away = new Set(stored.flatMap(({ user_id, deactivated }) => (deactivated === 1 ? user_id : [])));
    for (const user_id of ids.filter((id) => away.has(id))) {
      // The source that has dropped them has them no more.
      await db
        .deleteFrom('synced_people')
        .where('user_id', '=', user_id)
        .where('source', '<>', source)
        .where('deactivated', '=', 1)
        .execute();
      const person = await getPerson(db, user_id, change);
      const reason = `Again in the source ${source}.`;
      await updatePerson(db, person, { status: 'active', reason }, change);
      returned.push({ id: user_id, name: person.name });
    }
    return returned;
  },
  async remove(db, source, { id }, handoverTo, change) {
    // Two sources that drop somebody at the same time must not both find the other one.
    await lockTables(db, 'access', 'memberships', 'people');
    const person = await getPerson(db, id, change);
    if (person.status === 'inactive') return false;
    const { kept_by } = await db
      .selectFrom('people')
      .select(otherSource(source).as('kept_by'))
      .where('user_id', '=', id)
      .executeTakeFirstOrThrow();
    if (kept_by !== null) {
      await db.deleteFrom('synced_people').where('user_id', '=', id).where('source', '=', source).execute();
      return kept_by;
    }
    const successor = handoverTo === 'manager' ? person.manager_user_id : handoverTo;
    const successors = !successor
      ? {}
      : successor.startsWith('grp_')
        ? { handover_to_group_id: successor }
        : { handover_to_user_id: successor };
    await deactivatePerson(
      db,
      person,
      { ...successors, ...(change.reason && { reason: change.reason }) },
      change,
      () => {},
    );
    await db
      .updateTable('synced_people')
      .set({ deactivated: 1 })
      .where('source', '=', source)
      .where('user_id', '=', id)
      .execute();
    return true;
  },
};
