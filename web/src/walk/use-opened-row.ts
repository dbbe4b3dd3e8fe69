import { useEffect, useState } from 'react';
import type { Rows } from '../api/queries.ts';
import { findOpenedRow, type ListSource } from './source.ts';

/** After a step back to a list: the row that was opened, or the one that took its place. It gets the focus. */
export function useOpenedRow(source: ListSource, list: Rows<{ id: string }>) {
  const [opened, setOpened] = useState(() => findOpenedRow(source));
  const { rows, hasNextPage, isFetching, isError, isPlaceholderData, fetchNextPage } = list;
  const isShort = opened !== undefined && rows.length <= opened.index && hasNextPage;
  useEffect(() => {
    if (isShort && !isFetching && !isError) void fetchNextPage();
  }, [isShort, isFetching, isError, fetchNextPage]);
  if (!opened || isPlaceholderData || isShort) return undefined;
  const isListed = rows.some(({ id }) => id === opened.id);
  const key = isListed ? opened.id : rows[Math.min(opened.index, rows.length - 1)]?.id;
  return key === undefined ? undefined : { key, onFocused: () => setOpened(undefined) };
}
