import { ApiError, api, dataOrThrow } from '../api/client.ts';
import type { ItemList } from '../api/items.ts';
import { withLabels, withoutIds } from '../components/error-text.ts';
import { formatNumber } from '../format.ts';
import type { BulkItem, Changes } from './kinds.ts';

type Body = { items: { id: string; version?: number; changes?: Changes }[]; changes?: Changes };

export type Changed = { id: string; key: string; version: number; previous: Changes };

/** An item that cannot be changed, and why. */
export type Failure = { id: string; key?: string; code: string; detail: string };

const send = async (kind: ItemList, body: Body): Promise<Changed[]> => {
  // The three paths differ only in the fields of their items.
  const path = `/v1/bulk/${kind}` as '/v1/bulk/tasks';
  const { data } = await dataOrThrow(api.POST(path, { body: body as never }));
  return data as Changed[];
};

/** Changes all items, unless one of them has changed since it was read: then none. Returns those that were changed. */
export async function changeAll(kind: ItemList, items: readonly BulkItem[], changes: Changes) {
  const changed = await send(kind, { items: items.map(({ id, version }) => ({ id, version })), changes });
  return changed.filter(({ previous }) => Object.keys(previous).length > 0);
}

export type ItemChange = { id: string; version: number; changes: Changes };

/** Gives each item its own values, unless one of them has changed since it was read: then none. */
export const changeEach = (kind: ItemList, items: readonly ItemChange[]) => send(kind, { items: [...items] });

/** The items that made the service refuse a bulk change; undefined for any other error. */
export function failuresOf(error: unknown): { listed: Failure[]; count: number } | undefined {
  if (!(error instanceof ApiError) || error.code !== 'bulk_refused') return undefined;
  const { results, failed } = error.body as unknown as { results: Failure[]; failed: number };
  return { listed: results, count: failed };
}

export const whyNot = ({ code, detail }: Failure) =>
  code === 'stale' ? 'Someone else changed it meanwhile.' : withoutIds(withLabels(detail));

/** Restores the former values, except of items that someone has changed since. Throws an error that names those. */
export async function restore(kind: ItemList, changed: readonly Changed[]): Promise<void> {
  const body = (items: readonly Changed[]): Body => ({
    items: items.map(({ id, version, previous }) => ({ id, version, changes: previous })),
    changes: { reason: 'Undo' },
  });
  try {
    await send(kind, body(changed));
  } catch (error) {
    const failures = failuresOf(error);
    if (!failures) throw error;
    const { listed, count } = failures;
    const left = changed.filter(({ id }) => !listed.some((one) => one.id === id));
    if (count > listed.length || left.length === 0) {
      throw new Error(`Nothing was restored. ${reasonOf(listed)}`);
    }
    await send(kind, body(left));
    const total = formatNumber(changed.length);
    throw new Error(`Restored ${formatNumber(left.length)} of ${total}. ${reasonOf(listed)}`);
  }
}

function reasonOf(failures: readonly Failure[]): string {
  const other = failures.find(({ code }) => code !== 'stale');
  if (other) return whyNot(other);
  return `Changed since: ${nameKeys(failures.map(({ key, id }) => key ?? id))}.`;
}

/** The first keys, and the number of the others. */
export function nameKeys(keys: readonly string[]): string {
  const first = keys.slice(0, 3).join(', ');
  return keys.length > 3 ? `${first} and ${formatNumber(keys.length - 3)} more` : first;
}
