import { useState } from 'react';
import { FileTrigger } from 'react-aria-components';
import { useRefresh } from '../api/queries.ts';
import { Button, ButtonLink } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { ErrorNotice } from '../components/error-notice.tsx';
import { humanize, pluralize } from '../format.ts';
import { Columns } from './columns.tsx';
import { Results } from './results.tsx';
import { fileExtensions, type ImportReport, runImport, type Settings, useDryRun } from './run-import.ts';
import { FileError, ImportSummary } from './summary.tsx';
import type { ImportTarget } from './targets.ts';
import { Values } from './values.tsx';

type Props = {
  targets: readonly [ImportTarget, ...ImportTarget[]];
  file: File | undefined;
  setFile: (file: File) => void;
  /** While an import runs, the dialog can't be closed and takes no other file. */
  setLocked: (isLocked: boolean) => void;
  onClose: () => void;
};

const defaults: Settings = { mode: 'create', atomic: false, map: {}, map_values: {} };

/** Dry-runs a file, shows what would happen to each row, and imports it. */
export function ImportDialog({ targets, file, setFile, setLocked, onClose }: Props) {
  const [target, setTarget] = useState(targets[0]);
  const [settings, setSettings] = useState(defaults);
  const [running, setRunning] = useState<{ progress: number }>();
  const [done, setDone] = useState<{ report: ImportReport; file: File }>();
  const [failure, setFailure] = useState<Error>();
  const refresh = useRefresh();
  const [previous, setPrevious] = useState({ file, target });
  // The mappings and the order of dates of one file or target do not apply to another.
  if (previous.file !== file || previous.target !== target) {
    setPrevious({ file, target });
    setSettings(({ mode, atomic }) => ({ ...defaults, mode, atomic }));
    setFailure(undefined);
  }
  const result = done && done.file === file ? done.report : undefined;
  const run = file && { path: target.path, file, settings };
  const dryRun = useDryRun(result ? undefined : run);

  const start = async () => {
    if (!run) return;
    setLocked(true);
    setFailure(undefined);
    setRunning({ progress: 0 });
    try {
      const { signal } = new AbortController();
      const onProgress = (progress: number) => setRunning({ progress });
      const report = await runImport(run, { dryRun: false, signal, onProgress });
      setDone({ report, file: run.file });
    } catch (error) {
      setFailure(error as Error);
    }
    setRunning(undefined);
    setLocked(false);
    await refresh();
  };
  const title = `Import ${target.plural}`;
  if (!run) {
    return (
      <Dialog title={targets.length === 1 ? title : 'Import'} wide onClose={onClose}>
        <div className="dialog-body">
          <TargetSwitch targets={targets} target={target} onChange={setTarget} />
          <div className="import-drop">
            <p>Drop a CSV, Excel (.xlsx) or NDJSON file here.</p>
            <FileButton onSelect={setFile} primary>
              Choose file
            </FileButton>
          </div>
          <p className="hint">
            The first line must contain column names, such as{' '}
            {Object.values(target.fields).slice(0, 3).join(', ')}. You can review every row before anything is
            imported.
          </p>
        </div>
        <footer>
          <Button onPress={onClose}>Cancel</Button>
        </footer>
      </Dialog>
    );
  }
  if (result) {
    return (
      <Dialog title={title} wide onClose={onClose}>
        <div className="dialog-body">
          <ImportSummary summary={result.summary} isFinal />
          <Results report={result} target={target} />
        </div>
        <footer>
          <FileButton onSelect={setFile}>Import another file</FileButton>
          <ButtonLink primary href={target.list} onClick={onClose}>
            View {target.plural}
          </ButtonLink>
        </footer>
      </Dialog>
    );
  }
  const { report, error, columns, unmapped, isPending, progress, retry } = dryRun;
  const count = report ? report.summary.created + report.summary.updated : 0;
  return (
    <Dialog title={title} wide isLocked={running !== undefined} onClose={onClose}>
      <div className="dialog-body">
        <p className="import-file">
          <strong>
            <bdi>{run.file.name}</bdi>
          </strong>
          {!running && (
            <FileButton small onSelect={setFile}>
              Choose another file
            </FileButton>
          )}
        </p>
        {running ? (
          <Progress progress={running.progress} message="Importing… Keep this page open." />
        ) : (
          <>
            <TargetSwitch targets={targets} target={target} onChange={setTarget} />
            <ImportOptions settings={settings} target={target} onChange={setSettings} />
            <Columns
              columns={columns}
              unmapped={unmapped}
              target={target}
              map={settings.map}
              hasError={error !== undefined}
              onChange={(map) => setSettings({ ...settings, map })}
            />
            {report && (
              <Values
                summary={report.summary}
                map={settings.map_values}
                onChange={(map_values) => setSettings({ ...settings, map_values })}
              />
            )}
            {isPending && <Progress progress={progress} message="Checking… Nothing has been imported yet." />}
            {failure && <ErrorNotice error={failure} />}
            {error && !isPending && (
              <FileError
                error={error}
                target={target}
                retry={retry}
                onDateOrder={(date_order) => setSettings({ ...settings, date_order })}
              />
            )}
            {report && (
              <div className={isPending ? 'import-outdated' : undefined}>
                <ImportSummary summary={report.summary} />
                <Results report={report} target={target} />
              </div>
            )}
          </>
        )}
      </div>
      <footer>
        <Button onPress={onClose} isDisabled={running !== undefined}>
          Cancel
        </Button>
        <Button
          primary
          isPending={running !== undefined}
          isDisabled={isPending || !report || count === 0}
          onPress={start}
        >
          {count > 0 ? `Import ${pluralize(count, 'row')}` : 'Import'}
        </Button>
      </footer>
    </Dialog>
  );
}

type FileButtonProps = {
  onSelect: (file: File) => void;
  children: string;
  primary?: boolean;
  small?: boolean;
};

const FileButton = ({ onSelect, children, ...variant }: FileButtonProps) => (
  <FileTrigger
    acceptedFileTypes={fileExtensions}
    onSelect={(files) => {
      if (files?.[0]) onSelect(files[0]);
    }}
  >
    <Button {...variant}>{children}</Button>
  </FileTrigger>
);

type TargetProps = {
  targets: readonly ImportTarget[];
  target: ImportTarget;
  onChange: (target: ImportTarget) => void;
};

/** Shown where a page can import several kinds of items. */
const TargetSwitch = ({ targets, target, onChange }: TargetProps) =>
  targets.length > 1 && (
    <fieldset className="button-row">
      <legend className="visually-hidden">Import as</legend>
      {targets.map((one) => (
        <button
          key={one.path}
          type="button"
          className={one.path === target.path ? 'filter set' : 'filter'}
          aria-pressed={one.path === target.path}
          onClick={() => onChange(one)}
        >
          {humanize(one.plural)}
        </button>
      ))}
    </fieldset>
  );

type OptionsProps = { settings: Settings; target: ImportTarget; onChange: (settings: Settings) => void };

const ImportOptions = ({ settings, target, onChange }: OptionsProps) => (
  <div className="import-options">
    <label>
      <input
        type="checkbox"
        checked={settings.mode === 'upsert'}
        onChange={(event) => onChange({ ...settings, mode: event.target.checked ? 'upsert' : 'create' })}
      />
      Update existing {target.plural}
    </label>
    <label>
      <input
        type="checkbox"
        checked={settings.atomic}
        onChange={(event) => onChange({ ...settings, atomic: event.target.checked })}
      />
      Import only if every row is valid
    </label>
  </div>
);

/** The upload has a known progress; the work of the service after it has not. */
const Progress = ({ progress, message }: { progress: number; message: string }) => (
  <div className="import-progress" role="status">
    <p>{progress < 1 ? 'Uploading…' : message}</p>
    {progress < 1 ? (
      <progress aria-label="Upload" max={1} value={progress} />
    ) : (
      <progress aria-label="Processing" />
    )}
  </div>
);
