import { Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { useSearchParams } from 'wouter';
import { fetchFrom } from '../api/client.ts';
import { today } from '../format.ts';
import { useAction } from './action-button.tsx';
import { Button } from './button.tsx';
import type { Filters } from './filters.tsx';
import type { Column } from './table.tsx';

const formats = { csv: 'CSV', xlsx: 'Excel workbook' } as const;
type Format = keyof typeof formats;

/** The fields of the API that a column of a list shows, if not one of its own name. The others are not exported. */
const fieldsOf: Readonly<Record<string, string | Readonly<Record<string, string>>>> = {
  rank: 'rank',
  score: 'score',
  status: 'status',
  owner: 'owner_name',
  assignee: 'assignee_name',
  due: 'due_on',
  start: 'start_on',
  raised: 'raised_on',
  review: 'review_on',
  updated: 'updated_at',
  project: 'project_name',
  category: 'category',
  kind: 'kind',
  residual: 'residual_score',
  strategy: 'strategy',
  severity: 'severity',
  priority: 'priority',
  age: { age_days: 'Age in days' },
  tasks: { tasks_done: 'Tasks done', tasks_total: 'Tasks' },
};

type Shown = Pick<Column<never>, 'name' | 'header' | 'label'>;

/** The columns of a list as the service exports them: `key=Key,title=Risk`. */
const columnsOf = (shown: readonly Shown[]) =>
  shown
    .flatMap(({ name, header, label = header }) => {
      if (name === 'title') return [`key=Key`, `title=${header}`];
      const fields = fieldsOf[name] ?? {};
      if (typeof fields === 'string') return [`${fields}=${label}`];
      return Object.entries(fields).map(([field, text]) => `${field}=${text}`);
    })
    .join(',');

type ExportProps = {
  path: string;
  filters: Filters;
  name: string;
  /** The columns of the list, to export it as it is shown. */
  columns?: readonly Shown[];
  /** Whether the menu also has the import on a phone, which has no room for another button. */
  canImport?: boolean;
};

/** Exports all rows that match the filters, not only the ones loaded so far. */
export function ExportButton({ path, filters, name, columns, canImport = false }: ExportProps) {
  const [, setParams] = useSearchParams();
  const hasImport = canImport && matchMedia('(width <= 52rem)').matches;
  const { isBusy, run } = useAction();
  const save = async (format: Format, isAsShown: boolean) => {
    // By the byte order mark, Excel reads the letters of CSV right.
    const parameters = {
      ...filters,
      format,
      ...(format === 'csv' && { bom: 'true' }),
      ...(isAsShown && columns && { columns: columnsOf(columns), words: 'true' }),
    };
    const response = await fetchFrom(`${path}?${new URLSearchParams(parameters)}`);
    saveFile(await response.blob(), `${name}-${today()}.${format}`);
  };
  const openImport = () =>
    setParams((current) => new URLSearchParams([...current, ['import', 'true']]), { replace: true });
  return (
    <MenuTrigger>
      <Button icon="export" className="icon-on-phone" isPending={isBusy}>
        <span>Export</span>
      </Button>
      <Popover className="popover" placement="bottom end">
        <Menu
          className="options"
          aria-label="Export as"
          onAction={(action) => {
            const [format, extent] = String(action).split(' ');
            if (action === importId) openImport();
            else run(() => save(format as Format, extent === 'shown'));
          }}
        >
          {(columns ? (['shown', 'all'] as const) : ([undefined] as const)).map((extent) =>
            Object.entries(formats).map(([format, label]) => (
              <MenuItem key={`${format} ${extent}`} id={`${format} ${extent}`} className="option">
                {extent ? `${label}, ${extents[extent]}` : label}
              </MenuItem>
            )),
          )}
          {hasImport && (
            <MenuItem id={importId} className="option">
              Import…
            </MenuItem>
          )}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

const importId = 'import';
const extents = { shown: 'as shown', all: 'all fields' };

export function saveFile(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Loads up to ten more pages, then prints. The printout says when rows are missing. */
export function PrintButton({
  loadMore,
}: {
  loadMore: (() => Promise<{ hasNextPage: boolean }>) | undefined;
}) {
  const { isBusy, run } = useAction();
  const loadAndPrint = async () => {
    for (let pages = 0; loadMore && pages < 10; pages++) if (!(await loadMore()).hasNextPage) break;
    // React Query tells the list about new rows in a timer.
    await new Promise((resolve) => setTimeout(resolve));
    await new Promise(requestAnimationFrame);
    print();
  };
  return (
    <Button
      icon="print"
      className="not-on-phone print-button"
      isPending={isBusy}
      onPress={() => run(loadAndPrint)}
    >
      Print
    </Button>
  );
}
