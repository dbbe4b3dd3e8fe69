import { sql } from 'kysely';
import { lowerAscii } from '../../core/text.ts';
import { inJsonArray } from '../../database/sql/functions.ts';
import type { SyncTarget } from '../../import/importable.ts';
import { getPerson, updatePerson } from '../personnel/queries.ts';
import { deactivatePerson } from './handover.ts';

/** People who are missing in a source that brought them are deactivated; those who come back are activated again. */
export const peopleSync: SyncTarget = {
  noun: 'people',
  async list(db, source) {
    const rows = await db
      .selectFrom('synced_people')
      .innerJoin('people', 'people.user_id', 'synced_people.user_id')
      .select(['people.user_id', 'people.name', 'people.email', 'people.external_id'])
      .where('synced_people.source', '=', source)
      .where('people.status', '=', 'active')
      .orderBy('people.roster_key')
      .execute();
    return rows.map(({ user_id, name, email, external_id }) => ({
      id: user_id,
      label: name,
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
      .select(['user_id', 'deactivated'])
      .where('source', '=', source)
      .where(inJsonArray(sql.ref('user_id'), [...ids]))
      .execute();
    const known = new Set(stored.map(({ user_id }) => user_id));
    const added = ids.filter((id) => !known.has(id));
    if (added.length > 0)
      await db
        .insertInto('synced_people')
        .values(added.map((user_id) => ({ source, user_id, deactivated: 0 })))
        .execute();
    const returned: { id: string; name: string }[] = [];
    const away = new Set(stored.flatMap(({ user_id, deactivated }) => (deactivated === 1 ? user_id : [])));
    for (const user_id of ids.filter((id) => away.has(id))) {
      await db
        .updateTable('synced_people')
        .set({ deactivated: 0 })
        .where('source', '=', source)
        .where('user_id', '=', user_id)
        .execute();
      const person = await getPerson(db, user_id, change);
      const reason = `Again in the source ${source}.`;
      if (person.status === 'active') continue;
      await updatePerson(db, person, { status: 'active', reason }, change);
      returned.push({ id: user_id, name: person.name });
    }
    return returned;
  },
  async remove(db, source, { id }, handoverTo, change) {
    const person = await getPerson(db, id, change);
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
  },
};
