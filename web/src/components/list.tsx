import type { ReactNode } from 'react';
import type { Rows } from '../api/queries.ts';
import { Loading } from './loading.tsx';
import { ProblemNotice } from './problem.tsx';
import { type Column, Table } from './table.tsx';

type Props<Row> = {
  label: string;
  list: Rows<Row>;
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string;
  /** How many they are, in words. */
  summary?: ReactNode;
  /** What is said instead when there is none. */
  empty: ReactNode;
};

/** A long list, page by page as it is scrolled, or why it could not be read. */
export const List = <Row,>({ label, list, columns, rowKey, summary, empty }: Props<Row>) => (
  <>
    {list.isError && <ProblemNotice error={list.error} retry={() => list.refetch()} />}
    {list.isPending && <Loading />}
    {list.first && list.rows.length === 0 && empty}
    {list.rows.length > 0 && (
      <>
        {summary !== undefined && (
          <p className="summary-line" role="status">
            {summary}
          </p>
        )}
        <Table
          label={label}
          columns={columns}
          rows={list.rows}
          rowKey={rowKey}
          total={list.total}
          more={list.hasNextPage && !list.isFetchingNextPage ? list.fetchNextPage : undefined}
        />
      </>
    )}
  </>
);
