import { useEffect, useState } from 'react';
import { Button } from '../components/button.tsx';
import { later } from '../components/later.tsx';
import { toast } from '../components/toast.tsx';
import type { Importable } from './importables.ts';
import './imports.css';

const ImportDialog = later(async () => (await import('./import-dialog.tsx')).ImportDialog);

/** Takes a file that is dropped anywhere on the page, or is chosen; what would become of it is shown first. */
export function ImportButton({ among }: { among: readonly [Importable, ...Importable[]] }) {
  const [isOpen, setOpen] = useState(false);
  const [file, setFile] = useState<File>();
  const [isHeld, setHeld] = useState(false);
  const take = (dropped: File) => {
    if (isHeld) return;
    setFile(dropped);
    setOpen(true);
  };
  const isOver = useDrop(take);
  const close = () => {
    setOpen(false);
    setFile(undefined);
    setHeld(false);
  };
  const what = among.length === 1 ? among[0].many : among.map(({ many }) => many).join(', ');
  return (
    <>
      <Button icon="import" onPress={() => setOpen(true)}>
        Import
      </Button>
      {isOver && !isHeld && (
        <div className="drop-veil" aria-hidden="true">
          <p>Drop the file to import {what}</p>
        </div>
      )}
      {isOpen && <ImportDialog among={among} file={file} setFile={setFile} hold={setHeld} onClose={close} />}
    </>
  );
}

/** Whether a file is held over the page; one that is let go is given to `take`. */
function useDrop(take: (file: File) => void): boolean {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const ending = new AbortController();
    const listen = (name: 'dragover' | 'dragleave' | 'drop', act: (event: DragEvent) => void) => {
      const ofFiles = (event: DragEvent) => {
        if (!event.dataTransfer?.types.includes('Files')) return;
        // Else the browser would leave the page for the file.
        event.preventDefault();
        act(event);
      };
      addEventListener(name, ofFiles, { signal: ending.signal });
    };
    listen('dragover', () => setOver(true));
    listen('dragleave', ({ relatedTarget }) => relatedTarget === null && setOver(false));
    listen('drop', ({ dataTransfer }) => {
      setOver(false);
      const [first, ...more] = dataTransfer?.items ?? [];
      const file = first?.webkitGetAsEntry()?.isDirectory ? null : first?.getAsFile();
      if (file && more.length === 0) take(file);
      else toast('Drop one file: CSV, Excel (.xlsx) or NDJSON.');
    });
    return () => ending.abort();
  });
  return isOver;
}
