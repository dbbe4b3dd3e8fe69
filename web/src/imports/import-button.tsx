import { useEffect, useState } from 'react';
import { Button } from '../components/button.tsx';
import { DialogLoading } from '../components/dialog.tsx';
import { lazy } from '../components/lazy.tsx';
import { toast } from '../components/toast.tsx';
import { useOpenParam } from '../components/use-open-param.ts';
import type { ImportTarget } from './targets.ts';
import './imports.css';

const ImportDialog = lazy(() => import('./import-dialog.tsx'), 'ImportDialog', DialogLoading);

type Props = { targets: readonly [ImportTarget, ...ImportTarget[]]; className?: string };

/** Imports a file that the user selects or drops anywhere on the page. For links, `?import=true` opens the dialog. */
export function ImportButton({ targets, className = 'icon-on-phone' }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [file, setFile] = useState<File>();
  const [isLocked, setLocked] = useState(false);
  useOpenParam('import', setOpen);
  const openFile = (dropped: File) => {
    if (isLocked) return;
    setFile(dropped);
    setOpen(true);
  };
  const isOver = useFileDrop(openFile);
  const close = () => {
    setOpen(false);
    setFile(undefined);
    setLocked(false);
  };
  const what = targets.map(({ plural }) => plural).join(', ');
  return (
    <>
      <Button icon="import" className={className} onPress={() => setOpen(true)}>
        <span>Import</span>
      </Button>
      {isOver && !isLocked && (
        <div className="drop-veil" aria-hidden="true">
          <p>Drop file to import {what}</p>
        </div>
      )}
      {isOpen && (
        <ImportDialog targets={targets} file={file} setFile={setFile} setLocked={setLocked} onClose={close} />
      )}
    </>
  );
}

/** Whether a file is dragged over the page. A dropped file is passed to `openFile`. */
function useFileDrop(openFile: (file: File) => void): boolean {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const controller = new AbortController();
    const listen = (name: 'dragover' | 'dragleave' | 'drop', act: (event: DragEvent) => void) => {
      const onFiles = (event: DragEvent) => {
        if (!event.dataTransfer?.types.includes('Files')) return;
        // By default the browser would open the file in place of the page.
        event.preventDefault();
        act(event);
      };
      addEventListener(name, onFiles, { signal: controller.signal });
    };
    listen('dragover', () => setOver(true));
    listen('dragleave', ({ relatedTarget }) => relatedTarget === null && setOver(false));
    listen('drop', ({ dataTransfer }) => {
      setOver(false);
      const [first, ...more] = dataTransfer?.items ?? [];
      const file = first?.webkitGetAsEntry()?.isDirectory ? null : first?.getAsFile();
      if (file && more.length === 0) openFile(file);
      else toast("Couldn't open that. Drop a single CSV, Excel (.xlsx) or NDJSON file.");
    });
    return () => controller.abort();
  });
  return isOver;
}
