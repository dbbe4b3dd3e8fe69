import { useState } from 'react';
import { fetchFrom } from '../api/client.ts';
import { today } from '../format.ts';
import { Button } from './button.tsx';
import type { Filters } from './filters.tsx';
import { toast } from './toast.tsx';

/** All rows of what is on screen, under its filters, as CSV. */
export function ExportButton({ path, filters, name }: { path: string; filters: Filters; name: string }) {
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      const response = await fetchFrom(`${path}?${new URLSearchParams(filters)}`, {
        headers: { accept: 'text/csv' },
      });
      saveFile(await response.blob(), `${name}-${today()}.csv`);
    } catch (error) {
      toast((error as Error).message);
    }
    setBusy(false);
  };
  return (
    <Button icon="export" isDisabled={isBusy} onPress={save}>
      Export
    </Button>
  );
}

function saveFile(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Fetches what is not there yet, and prints all of it. */
export function PrintButton({ more }: { more: (() => Promise<{ hasNextPage: boolean }>) | undefined }) {
  const [isBusy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    try {
      // A register on paper ends somewhere; the page says so when it does.
      for (let pages = 0; more && pages < 10; pages++) if (!(await more()).hasNextPage) break;
      await new Promise(requestAnimationFrame);
      print();
    } catch (error) {
      toast((error as Error).message);
    }
    setBusy(false);
  };
  return (
    <Button icon="print" isDisabled={isBusy} onPress={run}>
      Print
    </Button>
  );
}
