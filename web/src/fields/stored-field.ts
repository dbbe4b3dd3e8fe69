import { tabStorage } from '../api/storage.ts';
import { type Field, toDraft } from '../components/form-values.ts';
import type { OpenField } from './inline-editor.tsx';

export const valueIn = (field: Field, item: object) => toDraft([field], item)[field.name] ?? '';

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** Keeps a change that is not saved while its input is not shown, or the page is left or loaded again. */
export function storeField<Item extends object>(
  storageKey: string,
  field: Field,
  next: OpenField<Item> | undefined,
): void {
  if (next && !isSame(next.value, valueIn(field, next.base)))
    tabStorage.setItem(storageKey, JSON.stringify(next));
  else tabStorage.removeItem(storageKey);
}

export function readStored<Item extends object>(
  storageKey: string,
  field: Field,
  item: Item,
): OpenField<Item> | undefined {
  const stored = JSON.parse(tabStorage.getItem(storageKey) ?? 'null') as OpenField<Item> | null;
  if (!stored) return undefined;
  // It is saved, but the page was loaded again before the field was closed, for example because the key is in the URL.
  if (isSame(stored.value, valueIn(field, item))) {
    tabStorage.removeItem(storageKey);
    return undefined;
  }
  return { ...stored, isFocused: false };
}
