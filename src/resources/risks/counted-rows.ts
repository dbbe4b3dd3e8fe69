import { type Kysely, sql } from 'kysely';
import { notIndexed } from '../../database/sql/functions.ts';
import type { RowsQuery } from '../../lists/list.ts';
import type { Tables } from '../../store/tables.ts';
import { ignoresStatusIndex, isNarrow, scanOf } from '../project-items/order.ts';
import {
  endOfRegister,
  type Register,
  riskConditions,
  riskRows,
  rowsBefore,
  storedRisks,
} from './register.ts';

/** Selects the rows of a register to count most of them, with their projects. */
export function scannedParts(db: Kysely<Tables>, register: Register): RowsQuery[] {
  const end = endOfRegister(register);
  if (end === undefined) return [scannedRows(db, register)];
  return rowsBefore(db, end, register.filters).map((rows) => rows.where(riskConditions(register)));
}

/**
 * Selects current rows to count most of them: project by project, in an index that has the columns of all filters, or those
 * of an owner.
 */
export function scannedRows(db: Kysely<Tables>, register: Register): RowsQuery {
  const { filters } = register;
  const active = sql.ref('risks.active');
  const isIndexed = !isNarrow(filters) && !ignoresStatusIndex(filters);
  const rows = isNarrow(filters) ? riskRows(db) : scanOf('risks', filters)(db);
  return rows.where(riskConditions(register, isIndexed ? active : notIndexed(active)));
}

/**
 * Selects the rows of a register to count them, now or in all versions of a table. A count reads most rows, so it reads
 * them in the order they are stored, and the matching projects once: the joins of a list take longer than counting.
 */
export function countedRows(
  db: Kysely<Tables>,
  register: Register,
  table?: 'risks' | 'past_risks',
): RowsQuery {
  const { archived, project_status, ...filters } = register.filters;
  const end = table ? undefined : endOfRegister(register);
  if (filters.check !== undefined || filters.above_appetite !== undefined)
    return riskRows(db, end, table).where(riskConditions(register));
  const ofProject = riskConditions({
    ...register,
    filters: { ...(archived && { archived }), ...(project_status && { project_status }) },
  });
  const project_id = notIndexed(sql.ref('risks.project_id'));
  // Past risks may belong to a project that has been deleted. Usually, few projects do not match.
  const isInProjects = register.as_of
    ? sql<boolean>`${project_id} in (select projects.id from projects where ${ofProject})`
    : sql<boolean>`${project_id} not in (select projects.id from projects where not ${ofProject})`;
  const ofRisk = riskConditions({ ...register, filters }, notIndexed(sql.ref('risks.active')));
  return db.selectFrom(storedRisks(end, table)).where(ofRisk).where(isInProjects) as RowsQuery;
}
