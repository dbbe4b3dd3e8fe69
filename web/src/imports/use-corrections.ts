import { useState } from 'react';
import { type CorrectedFile, correctFile, type Edits } from './corrected-file.ts';
import type { ImportReport, Run } from './run-import.ts';

const noEdits: Edits = new Map();

/** The cells that the user has changed, and the file with those that were checked again. */
export function useCorrections() {
  const [edits, setEdits] = useState(noEdits);
  const [corrected, setCorrected] = useState<CorrectedFile>();
  const [isBusy, setBusy] = useState(false);
  return {
    edits,
    corrected,
    isBusy,
    edit: (line: number, column: string, text: string) =>
      setEdits((former) => new Map(former).set(line, { ...former.get(line), [column]: text })),
    /** Puts the edits into the file, which starts a dry run of it. */
    async apply(run: Run, report: ImportReport) {
      setBusy(true);
      try {
        setCorrected(await correctFile(run, report, edits));
        setEdits(noEdits);
      } finally {
        setBusy(false);
      }
    },
    reset() {
      setEdits(noEdits);
      setCorrected(undefined);
    },
  };
}
