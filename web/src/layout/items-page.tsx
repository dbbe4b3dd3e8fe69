import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, dataOrThrow } from '../api/client.ts';
import type { ItemList } from '../api/items.ts';
import type { Rows } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import type { BulkItem } from '../bulk/kinds.ts';
import type { RowAction } from '../bulk/row-menu.tsx';
import { useBulk } from '../bulk/use-bulk.tsx';
import { useCells } from '../cells/use-cells.tsx';
import type { ColumnChoice } from '../columns/use-columns.tsx';
import { CreateButton } from '../components/create-button.tsx';
import { ExportButton, PrintButton } from '../components/export.tsx';
import { type FilterState, type Filters, NoMatches } from '../components/filters.tsx';
import { List } from '../components/list.tsx';
import { Loading } from '../components/loading.tsx';
import type { Sort } from '../components/sort-button.tsx';
import { useIsPhone } from '../components/use-is-phone.ts';
import { humanize, pluralize } from '../format.ts';
import { ImportButton } from '../imports/import-button.tsx';
import { itemImport } from '../imports/targets.ts';
import { usePreview } from '../preview/use-preview.tsx';
import { ViewsMenu } from '../views/views-menu.tsx';
import { SourceContext } from '../walk/source.ts';
import { useOpenedRow } from '../walk/use-opened-row.ts';
import { Title } from './title.tsx';

/** What the list needs to know of its items. */
export type ListedItem = BulkItem & { title: string; project_key: string; version: number };

type TableProps<Row> = {
  list: ItemList;
  /** What the rows are called. */
  noun: string;
  state: FilterState;
  /** By default those in the URL. */
  filters?: Filters;
  sort: Sort;
  rows: Rows<Row>;
  choice: ColumnChoice<Row>;
  /** What a menu on each row offers on a phone, besides assigning. */
  action: RowAction<Row>;
  isReadOnly?: boolean;
  /** Follows the number of rows. */
  summary?: ReactNode;
  /** Shown without rows and without filters. */
  empty: ReactNode;
};

/** The risks, issues or tasks that match the filters, and what can be done with the selected ones. */
export function ItemsTable<Row extends ListedItem>(props: TableProps<Row>) {
  const {
    list,
    noun,
    state,
    filters = state.filters,
    sort,
    choice,
    action,
    isReadOnly,
    summary,
    empty,
  } = props;
  const isPhone = useIsPhone();
  const source = { list, filters };
  const preview = usePreview(list, JSON.stringify(filters), props.rows);
  const rows = { ...props.rows, rows: preview.rows };
  const bulk = useBulk(list, rows, filters, { action, isReadOnly });
  const opened = useOpenedRow(source, rows);
  const cells = useCells(list, filters, rows, { isReadOnly: isReadOnly ?? false });
  const positions = new Map(rows.rows.map(({ id, key }, index) => [key, { id, index }]));
  return (
    <SourceContext value={{ source, rows: positions }}>
      {bulk.bar}
      {cells.dialog}
      <div className={preview.panel ? 'with-preview' : undefined}>
        <div>
          <List
            label={humanize(list)}
            menu={choice.menu}
            list={rows}
            columns={isPhone && bulk.menu ? [...choice.columns, bulk.menu] : choice.columns}
            minWidth={choice.minWidth}
            rowKey={({ id }) => id}
            sort={sort}
            selection={bulk.selection}
            focus={preview.focus ?? opened}
            current={preview.current}
            editCell={cells.editCell}
            summary={
              rows.total !== null && (
                <>
                  {pluralize(rows.total, noun)}
                  {summary}
                </>
              )
            }
            empty={
              state.isFiltered ? (
                <NoMatches
                  title={`No ${noun}s match these filters`}
                  clear={state.clear}
                  searchAll={
                    state.filters.q && !state.filters.search ? () => state.set({ search: 'all' }) : undefined
                  }
                />
              ) : (
                empty
              )
            }
          />
        </div>
        {preview.panel}
      </div>
    </SourceContext>
  );
}

type PageProps<Row> = TableProps<Row> & {
  exportPath: string;
  createLabel: string;
  /** The form of a new item, in the project that the list is filtered by. */
  createDialog: (project: string | undefined, onClose: () => void) => ReactNode;
  /** The controls of the filters. */
  controls: ReactNode;
  /** Between the filters and the list. */
  above?: ReactNode;
};

/** The risks, issues or tasks of all projects. */
export function ItemsPage<Row extends ListedItem>(props: PageProps<Row>) {
  const { exportPath, createLabel, createDialog, controls, above, ...table } = props;
  const { list, state, rows, choice } = table;
  const { filters } = state;
  // Nothing is created while the page shows an earlier day.
  const canCreate = useHasScope()('projects.manage') && !filters.as_of;
  const project = filters.project?.includes(',') ? undefined : filters.project;
  const isBare = rows.firstPage !== undefined && rows.rows.length === 0 && !rows.isPlaceholderData;
  const isEmpty = useIsEmpty(list, isBare && !state.isFiltered && !filters.as_of);
  return (
    <>
      <Title title={humanize(list)}>
        <ViewsMenu list={list} filters={filters} columns={choice.value} />
        <PrintButton loadMore={rows.hasNextPage ? rows.fetchNextPage : undefined} />
        <ExportButton
          path={exportPath}
          filters={table.filters ?? filters}
          name={list}
          columns={choice.columns}
          canImport={canCreate}
        />
        {canCreate && <ImportButton targets={[itemImport(list, project)]} className="not-on-phone" />}
        {canCreate && (
          <CreateButton dialog={(onClose) => createDialog(project, onClose)}>{createLabel}</CreateButton>
        )}
      </Title>
      {isEmpty || controls}
      {isEmpty || above}
      {/* A new one where the filters were, so that nothing moves. */}
      <ItemsTable
        key={String(isEmpty === true)}
        {...table}
        empty={isEmpty === undefined ? <Loading /> : table.empty}
      />
    </>
  );
}

/** Whether there are no items of any status, so that there is nothing to filter. Undefined until that is known. */
function useIsEmpty(list: ItemList, hasNoRows: boolean): boolean | undefined {
  const path = (list === 'issues' ? '/v1/issues/all' : `/v1/${list}`) as '/v1/tasks';
  const { data, isError } = useQuery({
    queryKey: [list, 'any'],
    enabled: hasNoRows,
    queryFn: () => dataOrThrow(api.GET(path, { params: { query: { status: ['all'], limit: 1 } } })),
  });
  if (!hasNoRows || isError) return false;
  return data && data.data.length === 0;
}
