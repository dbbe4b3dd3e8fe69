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
  if (!opened || isPlaceholderData || isShort || rows.length === 0) return undefined;
  const found = rows.findIndex(({ id }) => id === opened.id);
  const index = found === -1 ? Math.min(opened.index, rows.length - 1) : found;
  return { index, onFocused: () => setOpened(undefined) };
}
