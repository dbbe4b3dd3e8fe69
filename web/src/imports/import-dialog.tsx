import { useState } from 'react';
import { FileTrigger } from 'react-aria-components';
import { ApiError } from '../api/client.ts';
import { useRefresh } from '../api/queries.ts';
import { Button, ButtonLink } from '../components/button.tsx';
import { Dialog, useUnsavedChanges } from '../components/dialog.tsx';
import { ErrorNotice } from '../components/error-notice.tsx';
import { pluralize } from '../format.ts';
import { Columns } from './columns.tsx';
import { ConstantValues } from './constants.tsx';
import { peopleInUse, projectsInUse, valuesInUse } from './corrected-file.ts';
import { FileOptions } from './file-options.tsx';
import { ImportOptions, Progress, TargetSwitch } from './options.tsx';
import { OtherProjects } from './other-projects.tsx';
import { People } from './people.tsx';
import { isProjectField, Projects, useOnlyProject } from './projects.tsx';
import { Results } from './results.tsx';
import { errorInConsole } from './row-errors.ts';
import {
  type ColumnMap,
  countArrived,
  fileExtensions,
  type ImportReport,
  isLost,
  runImport,
  useAttempts,
  useDryRun,
} from './run-import.ts';
import { SavedMappings } from './saved-mappings.tsx';
import { columnParameters, defaults, type Settings } from './settings.ts';
import { FileError, hasInvalidBytes, ImportSummary } from './summary.tsx';
import type { ImportTarget } from './targets.ts';
import { useCorrections } from './use-corrections.ts';
import { Values } from './values.tsx';

type Props = {
  targets: readonly [ImportTarget, ...ImportTarget[]];
  file: File | undefined;
  setFile: (file: File) => void;
  /** While an import runs, the dialog can't be closed and takes no other file. */
  setLocked: (isLocked: boolean) => void;
  onClose: () => void;
};

/** Dry-runs a file, shows what would happen to each row, and imports it. */
export function ImportDialog({ targets, file, setFile, setLocked, onClose }: Props) {
  const [target, setTarget] = useState(targets[0]);
  const [settings, setSettings] = useState(() => initialSettings(target));
  const [running, setRunning] = useState<{ progress: number }>();
  const [done, setDone] = useState<{ report: ImportReport; file: File }>();
  const [failure, setFailure] = useState<Error>();
  const corrections = useCorrections();
  const { edits, corrected } = corrections;
  const refresh = useRefresh();
  const [previous, setPrevious] = useState({ file, target });
  // The mappings, the order of dates and the corrections of one file or target do not apply to another.
  if (previous.file !== file || previous.target !== target) {
    setPrevious({ file, target });
    setSettings(({ mode, atomic }) => ({ ...initialSettings(target), mode, atomic }));
    setFailure(undefined);
    corrections.reset();
  }
  const result = done && done.file === file ? done.report : undefined;
  const run = file && { path: target.path, file, settings, ...corrected };
  const dryRun = useDryRun(result ? undefined : run);
  // A file that names no project can only be about the one that there is. The choice is shown, and can be removed.
  const onlyProject = useOnlyProject(target.isAcross === true && isProjectMissing(dryRun.error));
  const [presetFor, setPresetFor] = useState<File>();
  if (onlyProject && file && presetFor !== file) {
    setPresetFor(file);
    setSettings({ ...settings, set: { ...settings.set, project: onlyProject } });
  }
  const attemptOf = useAttempts();
  const [arrived, setArrived] = useState<number>();

  const start = async () => {
    if (!run || !file) return;
    const attempt = attemptOf(run);
    setLocked(true);
    setFailure(undefined);
    setArrived(undefined);
    setRunning({ progress: 0 });
    try {
      if (attempt.lostSince !== undefined && arrived === undefined) {
        const count = await countArrived(run, attempt.lostSince);
        if (count > 0) {
          setArrived(count);
          setRunning(undefined);
          setLocked(false);
          return;
        }
      }
      const { signal } = new AbortController();
      const onProgress = (progress: number) => setRunning({ progress });
      const { idempotencyKey } = attempt;
      const report = await runImport(run, { dryRun: false, signal, onProgress, idempotencyKey });
      setDone({ report: withData(report, dryRun.report), file });
    } catch (error) {
      setFailure(error as Error);
      const { started_at } = dryRun.report?.summary ?? {};
      if (!attempt.idempotencyKey && isLost(error) && started_at) attempt.lostSince ??= started_at;
    }
    setRunning(undefined);
    setLocked(false);
    await refresh();
  };
  const checkAgain = async () => {
    if (!run || !dryRun.report) return dryRun.retry();
    setFailure(undefined);
    const { report } = dryRun;
    await corrections.apply(run, report).catch(setFailure);
    setSettings((former) => ({
      ...former,
      map_values: valuesInUse(former.map_values, report, edits),
      people: peopleInUse(former.people, report, edits),
      projects: projectsInUse(former.projects, report, edits),
    }));
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
            One line must contain column names, such as {Object.values(target.fields).slice(0, 3).join(', ')}.
            You can review every row before anything is imported.
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
          <ImportSummary summary={result.summary} takesFocus />
          <Results report={result} target={target} />
        </div>
        <footer>
          <FileButton onSelect={setFile}>Import another file</FileButton>
          <ImportedLink report={result} target={target} onClick={onClose} />
        </footer>
      </Dialog>
    );
  }
  const { report, error, columns, table, unmapped, isPending, progress, retry } = dryRun;
  const count = report ? report.summary.created + report.summary.updated : 0;
  return (
    <Dialog title={title} wide isLocked={running !== undefined} onClose={onClose}>
      <div className="dialog-body">
        <p className="import-file">
          <strong>
            <bdi>{file?.name}</bdi>
          </strong>
          {corrected && <span className="quiet">With your corrections</span>}
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
            {!corrected && (
              <FileOptions
                table={table}
                hasInvalidBytes={hasInvalidBytes(error)}
                settings={settings}
                onChange={setSettings}
              />
            )}
            <SavedMappings target={target} settings={settings} onChange={setSettings} />
            <ImportOptions settings={settings} target={target} onChange={setSettings} />
            <Columns
              columns={columns}
              unmapped={unmapped}
              target={target}
              map={settings.map}
              hasError={error !== undefined}
              onChange={(map) => setSettings(withColumns(settings, columns, map))}
            />
            {(report || Object.keys(columns).length > 0) && (
              <ConstantValues
                target={target}
                columns={columns}
                constants={settings.set}
                isProjectMissing={isProjectMissing(error)}
                onChange={(set) => setSettings({ ...settings, set })}
              />
            )}
            {report && (
              <>
                {target.isAcross && (
                  <Projects
                    report={report}
                    settings={settings}
                    onChange={(projects) => setSettings({ ...settings, ...projects })}
                  />
                )}
                <Values
                  summary={report.summary}
                  map={settings.map_values}
                  onChange={(map_values) => setSettings({ ...settings, map_values })}
                />
                <People
                  summary={report.summary}
                  settings={settings}
                  onChange={(people) => setSettings({ ...settings, ...people })}
                />
              </>
            )}
            {isPending && <Progress progress={progress} message="Checking… Nothing has been imported yet." />}
            {failure && <ErrorNotice error={errorInConsole(failure)} />}
            {arrived !== undefined && (
              <p className="notice" role="alert">
                The response to the last attempt was lost, and {pluralize(arrived, 'row')} here{' '}
                {arrived === 1 ? 'has' : 'have'} been added or changed since the file was checked. Look at{' '}
                {target.plural} first: importing again can add the same rows twice.
              </p>
            )}
            {error && !isPending && (
              <FileError
                error={error}
                target={target}
                retry={retry}
                onDateOrder={(date_order) => setSettings({ ...settings, date_order })}
                onScale={(column, scale) =>
                  setSettings({ ...settings, scales: { ...settings.scales, [column]: scale } })
                }
                onOneProject={(column) =>
                  setSettings(withColumns(settings, columns, { ...settings.map, [column]: 'external_id' }))
                }
                onProjectsOfFile={
                  target.ofProject && (() => target.ofProject && setTarget(target.ofProject.across))
                }
                onLeaveOut={() =>
                  setSettings(withColumns(settings, columns, withoutOthers(settings, columns)))
                }
                onReset={() => setSettings({ ...initialSettings(target), mode: settings.mode })}
              />
            )}
            {report && (
              <div className={isPending ? 'import-outdated' : undefined}>
                <ImportSummary summary={report.summary} takesFocus={corrected !== undefined} />
                <OtherProjects report={report} target={target} onSwitch={setTarget} />
                <Results report={report} target={target} edits={edits} onEdit={corrections.edit} />
              </div>
            )}
          </>
        )}
      </div>
      <footer>
        <CancelButton
          isDirty={edits.size > 0 || corrected !== undefined || isChanged(settings, target)}
          isDisabled={running !== undefined}
          onClose={onClose}
        />
        {(edits.size > 0 || (corrected && !report)) && (
          <Button primary isPending={corrections.isBusy || isPending} onPress={checkAgain}>
            Check again
          </Button>
        )}
        <Button
          primary={edits.size === 0}
          isPending={running !== undefined}
          isDisabled={isPending || !report || count === 0 || edits.size > 0}
          onPress={start}
        >
          {arrived !== undefined
            ? 'Import again'
            : count > 0
              ? `Import ${pluralize(count, 'row')}`
              : 'Import'}
        </Button>
      </footer>
    </Dialog>
  );
}

/** Another mapping of columns. The service rejects values and scales of fields that no column is mapped to any more. */
function withColumns(settings: Settings, columns: ColumnMap, map: Settings['map']): Settings {
  const fields = new Set(Object.values({ ...columns, ...map }));
  const map_values = Object.fromEntries(
    Object.entries(settings.map_values).filter(([field]) => fields.has(field)),
  );
  const projects = [...fields].some((field) => isProjectField(field ?? '')) ? settings.projects : {};
  const isMoved = (column: string) => map[column] !== settings.map[column];
  const scales = Object.fromEntries(Object.entries(settings.scales).filter(([column]) => !isMoved(column)));
  return { ...settings, map, map_values, projects, scales };
}

/** Skips the columns that have no field. */
const withoutOthers = ({ map }: Settings, columns: ColumnMap): Settings['map'] => ({
  ...Object.fromEntries(
    Object.entries(columns).flatMap(([column, field]) => (field === null ? [[column, '']] : [])),
  ),
  ...map,
});

const initialSettings = ({ set = {} }: ImportTarget): Settings => ({ ...defaults, set });

/** Whether closing the dialog would lose choices of the user. */
const isChanged = (settings: Settings, target: ImportTarget) =>
  JSON.stringify(columnParameters(settings)) !== JSON.stringify(columnParameters(initialSettings(target)));

const isProjectMissing = (error: Error | undefined) =>
  error instanceof ApiError &&
  error.fieldErrors.some(({ code, detail }) => code === 'missing_column' && /names the project/.test(detail));

/** The rows with the cells of the dry run, which the import does not send again. */
function withData(report: ImportReport, dryRun: ImportReport | undefined): ImportReport {
  const data = new Map(dryRun?.results.map((row) => [row.line, row.data]));
  const results = report.results.map((row) => {
    const cells = row.data ?? data.get(row.line);
    return cells ? { ...row, data: cells } : row;
  });
  return { ...report, results };
}

type LinkProps = { report: ImportReport; target: ImportTarget; onClick: () => void };

/** Links to what was imported: the item, or the list of what has changed since the import began. */
function ImportedLink({ report: { summary, results }, target, onClick }: LinkProps) {
  const written = results.filter(({ status }) => status === 'created' || status === 'updated');
  const [only] = written;
  const href = written.length === 1 && only ? target.hrefOf(only) : undefined;
  const since = target.isAcross || target.ofProject ? `&updated_since=${summary.started_at}` : '';
  return (
    <ButtonLink primary href={href ?? target.list + (written.length > 0 ? since : '')} onClick={onClick}>
      View {(href && (only?.key ?? 'it')) ?? target.plural}
    </ButtonLink>
  );
}

type CancelProps = { isDirty: boolean; isDisabled: boolean; onClose: () => void };

/** Asks first if corrections or mappings would be lost. */
function CancelButton({ isDirty, isDisabled, onClose }: CancelProps) {
  const requestClose = useUnsavedChanges(isDirty);
  return (
    <Button onPress={requestClose ?? onClose} isDisabled={isDisabled}>
      Cancel
    </Button>
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
