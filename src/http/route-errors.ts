import type { ProblemCode } from '../core/errors.ts';

/** The errors of each kind of write; a route adds its own. */
export const createErrors = ['duplicate', 'idempotency_mismatch', 'storage_full'] satisfies ProblemCode[];
export const updateErrors = ['duplicate', 'stale', 'storage_full'] satisfies ProblemCode[];
export const deleteErrors = ['in_use', 'stale', 'storage_full'] satisfies ProblemCode[];
export const actionErrors = ['idempotency_mismatch', 'stale', 'storage_full'] satisfies ProblemCode[];
export const importErrors = [...createErrors, 'import_refused'] satisfies ProblemCode[];
export const bulkErrors = ['bulk_refused', 'idempotency_mismatch', 'storage_full'] satisfies ProblemCode[];
