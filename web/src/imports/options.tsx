import { Toggle } from '../components/filters.tsx';
import { humanize } from '../format.ts';
import type { Settings } from './settings.ts';
import type { ImportTarget } from './targets.ts';

type TargetProps = {
  targets: readonly ImportTarget[];
  target: ImportTarget;
  onChange: (target: ImportTarget) => void;
};

/** Shown where a page can import several kinds of items. */
export const TargetSwitch = ({ targets, target, onChange }: TargetProps) =>
  targets.length > 1 && (
    <fieldset className="button-row">
      <legend className="visually-hidden">Import as</legend>
      {targets.map((one) => (
        <Toggle key={one.path} isOn={one.plural === target.plural} onPress={() => onChange(one)}>
          {humanize(one.plural)}
        </Toggle>
      ))}
    </fieldset>
  );

type OptionsProps = { settings: Settings; target: ImportTarget; onChange: (settings: Settings) => void };

export const ImportOptions = ({ settings, target, onChange }: OptionsProps) => (
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
export const Progress = ({ progress, message }: { progress: number; message: string }) => (
  <div className="import-progress" role="status">
    <p>{progress < 1 ? 'Uploading…' : message}</p>
    {progress < 1 ? (
      <progress aria-label="Upload" max={1} value={progress} />
    ) : (
      <progress aria-label="Processing" />
    )}
  </div>
);
