import type { ReactNode } from 'react';
import type { Rows } from '../api/queries.ts';
import type { Selection } from '../bulk/use-selection.ts';
import { ErrorNotice } from './error-notice.tsx';
import { Loading } from './loading.tsx';
import type { Sort } from './sort-button.tsx';
import { type Column, Table, type TableProps } from './table.tsx';

type Props<Row> = {
  label: string;
  list: Rows<Row>;
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string;
  sort?: Sort;
  minWidth?: number | undefined;
  selection?: Selection<Row> | undefined;
  focus?: TableProps<Row>['focus'];
  current?: string | undefined;
  editCell?: TableProps<Row>['editCell'];
  /** The count, shown above the rows. */
  summary?: ReactNode;
  /** Beside the count: the menu of columns. */
  menu?: ReactNode;
  /** Shown in place of the rows when there are none. */
  empty: ReactNode;
};

/** A paged list with its loading, error and empty states. Scrolling loads more. */
export const List = <Row,>({
  label,
  list,
  columns,
  rowKey,
  sort,
  minWidth,
  selection,
  focus,
  current,
  editCell,
  summary,
  menu,
  empty,
}: Props<Row>) => (
  <>
    {list.isError && <ErrorNotice error={list.error} retry={() => list.refetch()} />}
    {list.isPending && <Loading />}
    {list.firstPage && list.rows.length === 0 && !list.isPlaceholderData && empty}
    {list.rows.length > 0 && (
      <div className={list.isPlaceholderData ? 'updating' : undefined} aria-busy={list.isPlaceholderData}>
        {summary !== undefined && (
          <ListHead menu={menu}>{list.isPlaceholderData ? 'Updating…' : summary || 'Counting…'}</ListHead>
        )}
        <Table
          label={label}
          columns={columns}
          rows={list.rows}
          rowKey={rowKey}
          total={list.total}
          hasMore={list.hasNextPage}
          sort={sort}
          minWidth={minWidth}
          selection={selection}
          isUpdating={list.isPlaceholderData}
          focus={focus}
          current={current}
          editCell={list.isPlaceholderData ? undefined : editCell}
          onVisible={list.showRows}
          loadMore={list.hasNextPage && !list.isFetchingNextPage ? list.fetchNextPage : undefined}
        />
      </div>
    )}
    {list.isPlaceholderData && list.rows.length === 0 && <Loading />}
  </>
);

/** The line above the rows: their number and the menu of columns. */
export const ListHead = ({ menu, children }: { menu?: ReactNode; children: ReactNode }) => (
  <div className="list-head">
    <p className="summary-line" role="status">
      {children}
    </p>
    {menu}
  </div>
);
