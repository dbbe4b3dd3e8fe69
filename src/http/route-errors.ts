import type { ProblemCode } from '../core/errors.ts';

/** What each kind of write can be rejected with; a route adds what only it can return. */
export const createErrors = ['duplicate', 'idempotency_mismatch', 'storage_full'] satisfies ProblemCode[];
export const updateErrors = ['duplicate', 'stale', 'storage_full'] satisfies ProblemCode[];
export const deleteErrors = ['in_use', 'stale', 'storage_full'] satisfies ProblemCode[];
export const actionErrors = ['idempotency_mismatch', 'stale', 'storage_full'] satisfies ProblemCode[];
export const importErrors = [...createErrors, 'import_refused'] satisfies ProblemCode[];
