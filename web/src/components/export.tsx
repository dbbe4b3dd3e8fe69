import { Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { useSearchParams } from 'wouter';
import { fetchFrom } from '../api/client.ts';
import { today } from '../format.ts';
import { useAction } from './action-button.tsx';
import { Button } from './button.tsx';
import type { Filters } from './filters.tsx';

const formats = { csv: 'CSV', xlsx: 'Excel workbook' } as const;
type Format = keyof typeof formats;

type ExportProps = {
  path: string;
  filters: Filters;
  name: string;
  /** Whether the menu also has the import on a phone, which has no room for another button. */
  canImport?: boolean;
};

/** Exports all rows that match the filters, not only the ones loaded so far. */
export function ExportButton({ path, filters, name, canImport = false }: ExportProps) {
  const [, setParams] = useSearchParams();
  const hasImport = canImport && matchMedia('(width <= 52rem)').matches;
  const { isBusy, run } = useAction();
  const save = async (format: Format) => {
    // By the byte order mark, Excel reads the letters of CSV right.
    const parameters = { ...filters, format, ...(format === 'csv' && { bom: 'true' }) };
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
          onAction={(action) => (action === importId ? openImport() : run(() => save(action as Format)))}
        >
          {Object.entries(formats).map(([format, label]) => (
            <MenuItem key={format} id={format} className="option">
              {label}
            </MenuItem>
          ))}
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
