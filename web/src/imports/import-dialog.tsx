import { useCallback, useState } from 'react';
import { FileTrigger } from 'react-aria-components';
import { ApiProblem } from '../api/client.ts';
import type { ImportAnswer, ImportSummary } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { Button, ButtonLink } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { ProblemNotice } from '../components/problem.tsx';
import { number, plural, words } from '../format.ts';
import { Columns } from './columns.tsx';
import type { Importable } from './importables.ts';
import { Results } from './results.tsx';
import { endings, runImport, type Settings, useDryRun } from './run.ts';

type Props = {
  among: readonly [Importable, ...Importable[]];
  file: File | undefined;
  setFile: (file: File) => void;
  /** While the rows are written the dialog stays, and takes no other file. */
  hold: (isHeld: boolean) => void;
  onClose: () => void;
};

const untouched: Settings = { mode: 'create', atomic: false, map: {} };

/** From a file to what would become of it, and then to what became of it. */
export function ImportDialog({ among, file, setFile, hold, onClose }: Props) {
  const [of, setOf] = useState(among[0]);
  const [settings, setSettings] = useState(untouched);
  const [running, setRunning] = useState<{ sent: number }>();
  const [done, setDone] = useState<{ answer: ImportAnswer; file: File }>();
  const [failure, setFailure] = useState<Error>();
  const refresh = useRefresh();
  const [seen, setSeen] = useState({ file, of });
  // What was said of the columns of one file, or of one kind of things, says nothing of another.
  if (seen.file !== file || seen.of !== of) {
    setSeen({ file, of });
    setSettings((now) => ({ ...now, map: {} }));
    setFailure(undefined);
  }
  const outcome = done && done.file === file ? done.answer : undefined;
  const run = file && { path: of.path, file, settings };
  const dryRun = useDryRun(outcome ? undefined : run);

  const start = async () => {
    if (!run) return;
    hold(true);
    setFailure(undefined);
    setRunning({ sent: 0 });
    try {
      const { signal } = new AbortController();
      const answer = await runImport(run, { dryRun: false, signal, onSent: (sent) => setRunning({ sent }) });
      setDone({ answer, file: run.file });
    } catch (error) {
      setFailure(error as Error);
    }
    setRunning(undefined);
    hold(false);
    await refresh();
  };
  const title = `Import ${of.many}`;
  if (!run) {
    return (
      <Dialog title={among.length === 1 ? title : 'Import'} wide onClose={onClose}>
        <div className="dialog-body">
          <Kind among={among} of={of} onChange={setOf} />
          <div className="import-drop">
            <p>Drop a file here: CSV, an Excel workbook (.xlsx) or NDJSON.</p>
            <FileButton choose={setFile} primary>
              Choose a file
            </FileButton>
          </div>
          <p className="hint">
            Its first line names the columns, such as {Object.values(of.fields).slice(0, 3).join(', ')}. You
            see what would become of each row before anything is changed.
          </p>
        </div>
        <footer>
          <Button onPress={onClose}>Cancel</Button>
        </footer>
      </Dialog>
    );
  }
  if (outcome) {
    return (
      <Dialog title={title} wide onClose={onClose}>
        <div className="dialog-body">
          <Told summary={outcome.summary} of={of} isEnd />
          <Results answer={outcome} of={of} />
        </div>
        <footer>
          <FileButton choose={setFile}>Import another file</FileButton>
          <ButtonLink primary href={of.list} onClick={onClose}>
            See the {of.many}
          </ButtonLink>
        </footer>
      </Dialog>
    );
  }
  const { answer, error, columns, undecided, isPending, sent, retry } = dryRun;
  const count = answer ? answer.summary.created + answer.summary.updated : 0;
  return (
    <Dialog title={title} wide isHeld={running !== undefined} onClose={onClose}>
      <div className="dialog-body">
        <p className="import-file">
          <strong>
            <bdi>{run.file.name}</bdi>
          </strong>
          {!running && (
            <FileButton small choose={setFile}>
              Choose another
            </FileButton>
          )}
        </p>
        {!running && (
          <>
            <Kind among={among} of={of} onChange={setOf} />
            <Choices settings={settings} of={of} onChange={setSettings} />
            <Columns
              columns={columns}
              undecided={undecided}
              of={of}
              map={settings.map}
              isNeeded={error !== undefined}
              onChange={(map) => setSettings({ ...settings, map })}
            />
          </>
        )}
        {running ? (
          <Progress sent={running.sent} then="The rows are written. Leave this page open." />
        ) : (
          isPending && <Progress sent={sent} then="The rows are checked; nothing is changed." />
        )}
        {failure && !running && <ProblemNotice error={failure} />}
        {error && !running && !isPending && <Refusal error={error} retry={retry} />}
        {answer && !running && (
          <div className={isPending ? 'import-outdated' : undefined}>
            <Told summary={answer.summary} of={of} />
            <Results answer={answer} of={of} />
          </div>
        )}
      </div>
      <footer>
        <Button onPress={onClose} isDisabled={running !== undefined}>
          Cancel
        </Button>
        <Button
          primary
          isPending={running !== undefined}
          isDisabled={isPending || !answer || count === 0}
          onPress={start}
        >
          {count > 0 ? `Import ${plural(count, 'row')}` : 'Import'}
        </Button>
      </footer>
    </Dialog>
  );
}

type FileButtonProps = {
  choose: (file: File) => void;
  children: string;
  primary?: boolean;
  small?: boolean;
};

const FileButton = ({ choose, children, ...look }: FileButtonProps) => (
  <FileTrigger
    acceptedFileTypes={endings}
    onSelect={(files) => {
      if (files?.[0]) choose(files[0]);
    }}
  >
    <Button {...look}>{children}</Button>
  </FileTrigger>
);

type KindProps = { among: readonly Importable[]; of: Importable; onChange: (of: Importable) => void };

/** Where a page can take in several kinds of things. */
const Kind = ({ among, of, onChange }: KindProps) =>
  among.length > 1 && (
    <fieldset className="moves">
      <legend className="visually-hidden">What is in the file</legend>
      {among.map((one) => (
        <button
          key={one.path}
          type="button"
          className={one.path === of.path ? 'filter set' : 'filter'}
          aria-pressed={one.path === of.path}
          onClick={() => onChange(one)}
        >
          {words(one.many)}
        </button>
      ))}
    </fieldset>
  );

type ChoicesProps = { settings: Settings; of: Importable; onChange: (settings: Settings) => void };

const Choices = ({ settings, of, onChange }: ChoicesProps) => (
  <div className="import-choices">
    <label>
      <input
        type="checkbox"
        checked={settings.mode === 'upsert'}
        onChange={({ target }) => onChange({ ...settings, mode: target.checked ? 'upsert' : 'create' })}
      />
      Change {of.many} that are there already
    </label>
    <label>
      <input
        type="checkbox"
        checked={settings.atomic}
        onChange={({ target }) => onChange({ ...settings, atomic: target.checked })}
      />
      All rows or none
    </label>
  </div>
);

/** How much has been sent is known; how far the service has come with it is not. */
const Progress = ({ sent, then }: { sent: number; then: string }) => (
  <div className="import-progress" role="status">
    <p>{sent < 1 ? 'The file is sent.' : then}</p>
    {sent < 1 ? (
      <progress aria-label="Sent" max={1} value={sent} />
    ) : (
      <progress aria-label="The service is at work" />
    )}
  </div>
);

/** Why the file cannot be read as it is. Of a column that is unknown, the list of columns says so itself. */
function Refusal({ error, retry }: { error: Error; retry: () => void }) {
  const faults = error instanceof ApiProblem ? error.faults : [];
  const others = faults.filter(({ code }) => code !== 'unknown_column');
  if (faults.length === 0 || faults.some(({ parameter }) => parameter))
    return <ProblemNotice error={error} retry={retry} />;
  const unknown = faults.length - others.length;
  return (
    <div className="notice bad" role="alert">
      <div>
        {unknown > 0 && (
          <p>
            {plural(unknown, 'column')} of the file {unknown === 1 ? 'is' : 'are'} not known here. Say above
            what {unknown === 1 ? 'it is' : 'they are'}, or leave {unknown === 1 ? 'it' : 'them'} out.
          </p>
        )}
        {others.map(({ detail }) => (
          <p key={detail}>{detail.replace('with `map`', 'above')}</p>
        ))}
      </div>
    </div>
  );
}

/** The whole in a sentence. */
function Told({ summary, of, isEnd = false }: { summary: ImportSummary; of: Importable; isEnd?: boolean }) {
  // The button that had the focus is gone.
  const focus = useCallback((told: HTMLElement | null) => void (isEnd && told?.focus()), [isEnd]);
  const { rows, created, updated, unchanged, failed, atomic, dry_run } = summary;
  const isRefused = atomic && failed > 0;
  const parts = [
    created > 0 && `${number(created)} new`,
    updated > 0 && `${number(updated)} changed`,
    unchanged > 0 && `${number(unchanged)} as ${unchanged === 1 ? 'it is' : 'they are'}`,
    failed > 0 && `${number(failed)} with faults`,
  ].filter(Boolean);
  const counts = `${plural(rows, 'row')}${parts.length > 0 ? `: ${parts.join(', ')}` : ''}.`;
  const look = failed > 0 ? 'notice' : 'notice good';
  if (isRefused) {
    return (
      <p ref={focus} tabIndex={-1} className="notice bad" role="status">
        {counts} All or none: {dry_run ? 'nothing can be imported' : 'nothing was changed'}. Mend what is said
        of them, or import the others without “All rows or none”.
      </p>
    );
  }
  return (
    <p ref={focus} tabIndex={-1} className={look} role="status">
      {dry_run ? `${counts} Nothing is changed yet.` : `Done. ${counts}`}
      {dry_run && failed > 0 && ` The ${of.many} with faults would be left out.`}
    </p>
  );
}
