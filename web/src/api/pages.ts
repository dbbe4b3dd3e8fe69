import { type InfiniteData, keepPreviousData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { type RefObject, useEffect } from 'react';

export type ListPage = { data: unknown[]; page: { next_cursor: string | null; total: number | null } };

export type Paging = { limit: number; cursor?: string; count?: boolean };

type RowIds = ReadonlySet<string>;

/**
 * The indexes of the first and the last visible row, and the ids of others that are about to be changed, by what for, which
 * are kept as fresh. Undefined if the list does not report them.
 */
export type VisibleRows = RefObject<
  { first: number; last: number; kept?: Readonly<Record<string, RowIds>> } | undefined
>;

type Options<Page> = {
  queryKey: readonly unknown[];
  /** The rows of the first page. */
  limit: number;
  read: (paging: Paging) => Promise<Page>;
  visible: VisibleRows;
  enabled?: boolean;
  /** Shows the pages of the previous key until the new ones arrive. */
  keepsPrevious?: boolean;
  refetchInterval?: (pages: readonly Page[]) => number | false;
};

/** The largest page of the API. */
export const maxLimit = 1000;

/** Pages that were not read again after a change, because none of their rows was visible. */
const outdated = new WeakSet<ListPage>();

export const isOutdated = (page: ListPage) => outdated.has(page);

export const hasRow = ({ data }: ListPage, ids: RowIds) =>
  data.some((row) => ids.has((row as { id: string }).id));

/**
 * Reads a list page by page. Each page is as long as all before it, so that the end of a list of 100,000 rows is about a
 * hundred requests away. After a change only the visible pages are read again, and the others when they become visible.
 */
export function usePages<Page extends ListPage>({
  queryKey,
  limit,
  read,
  visible,
  enabled = true,
  keepsPrevious = false,
  refetchInterval,
}: Options<Page>) {
  const client = useQueryClient();
  const query = useInfiniteQuery({
    queryKey,
    enabled,
    initialPageParam: { limit } as Paging,
    getNextPageParam({ page: { next_cursor } }: Page, pages: readonly Page[]): Paging | undefined {
      const rows = pages.reduce((sum, { data }) => sum + data.length, 0);
      return next_cursor ? { limit: Math.min(rows, maxLimit), cursor: next_cursor } : undefined;
    },
    queryFn: ({ pageParam }) => readPage(client.getQueryData(queryKey), pageParam, read, visible),
    ...(keepsPrevious && { placeholderData: keepPreviousData }),
    refetchInterval: ({ state }) => refetchInterval?.(state.data?.pages ?? []) ?? false,
  });
  const refreshVisible = () => {
    const pages = query.data?.pages ?? [];
    const isDue = pages.some((page, i) => outdated.has(page) && isVisible(pages, i, visible));
    if (isDue && !query.isFetching && !query.isError) void query.refetch();
  };
  useEffect(refreshVisible);
  return { ...query, refreshVisible };
}

/** Reads a page, unless it is loaded and not visible. */
async function readPage<Page extends ListPage>(
  loaded: InfiniteData<Page, Paging> | undefined,
  paging: Paging,
  read: (paging: Paging) => Promise<Page>,
  visible: VisibleRows,
): Promise<Page> {
  const i = loaded?.pageParams.findIndex(({ cursor }) => cursor === paging.cursor) ?? -1;
  const page = loaded?.pages[i];
  if (!loaded || !page) return read(paging);
  if (!isVisible(loaded.pages, i, visible)) {
    outdated.add(page);
    return page;
  }
  const { limit } = loaded.pageParams[i] ?? paging;
  const current = await readUpTo(loaded.pages[i + 1], page, { ...paging, limit }, read);
  outdated.delete(page);
  return current;
}

/**
 * Reads a page again up to where the next one begins, so that the next one needs not be read. Rows that were added or
 * removed make it longer or shorter. If the beginning of the next page is gone, all pages after this one are read again.
 */
async function readUpTo<Page extends ListPage>(
  next: Page | undefined,
  page: Page,
  paging: Paging,
  read: (paging: Paging) => Promise<Page>,
): Promise<Page> {
  let current = await read(paging);
  if (next === undefined) return current;
  const [first, second] = next.data.map(idOf);
  const last = idOf(page.data.at(-1));
  const findEnd = () => {
    const ids = current.data.map(idOf);
    if (ids.at(-1) === last) return ids.length;
    // A row that has moved here from the next page is followed by another one than there.
    return ids.findIndex((id, at) => id === first && (at === ids.length - 1 || ids[at + 1] === second));
  };
  if (findEnd() === -1 && current.page.next_cursor) {
    const more = await read({ ...paging, cursor: current.page.next_cursor });
    current = { ...more, data: [...current.data, ...more.data] };
  }
  const end = findEnd();
  if (end === -1) return current;
  const { next_cursor } = page.page;
  return { ...current, data: current.data.slice(0, end), page: { ...current.page, next_cursor } };
}

/** An empty page is visible too: rows can be added to it. */
function isVisible(pages: readonly ListPage[], i: number, { current }: VisibleRows): boolean {
  const page = pages[i];
  const length = page?.data.length ?? 0;
  if (!current || !page || length === 0) return true;
  if (Object.values(current.kept ?? {}).some((ids) => hasRow(page, ids))) return true;
  const start = pages.slice(0, i).reduce((sum, { data }) => sum + data.length, 0);
  return start <= current.last && current.first < start + length;
}

/** The rows of all pages. A row that has moved between pages is only in the one that was read last. */
export function rowsOf<Page extends ListPage>(pages: readonly Page[]): Page['data'][number][] {
  if (pages.length <= 1) return pages[0]?.data ?? [];
  const seen = new Set<string>();
  const unseen = ({ data }: Page) =>
    data.filter((row) => {
      const id = idOf(row);
      return !seen.has(id) && seen.add(id);
    });
  const current = new Map(pages.filter((page) => !outdated.has(page)).map((page) => [page, unseen(page)]));
  return pages.flatMap((page) => current.get(page) ?? unseen(page));
}

/** An assignment is identified by its role too. */
function idOf(row: unknown): string {
  const { user_id, id, role } = row as Record<string, unknown>;
  return `${id ?? user_id} ${role ?? ''}`;
}
