import { useId } from 'react';
import type { ImportSummary } from '../api/openapi.ts';
import { useHasScope, useIsLimited } from '../api/session.ts';
import { OwnerPicker, RosterPicker } from '../components/picker.tsx';
import { formatNumber, pluralize } from '../format.ts';
import { Mapping } from './mapping.tsx';
import { createdItem, type PeoplePolicy, type PersonChoice, type Settings } from './settings.ts';

type People = Pick<Settings, 'people' | 'unknown_people'>;

type Props = { summary: ImportSummary; settings: Settings; onChange: (people: People) => void };

const outcomes = { failed: 'Not found', left_empty: 'Left empty', created: 'New placeholder' } as const;

/** Asks once for each name that matches nobody who it is. */
export function People({ summary, settings, onChange }: Props) {
  const { people, unknown_people } = settings;
  const id = useId();
  const canCreate = useCanCreate();
  const open = summary.unknown_people.filter(({ text }) => !Object.hasOwn(people, text));
  const names = [
    ...Object.entries(people).map(([text, choice]) => ({ text, choice, outcome: undefined })),
    ...open.map(({ text, result, ...choice }) => ({ text, choice, outcome: outcomes[result] })),
  ].toSorted((a, b) => a.choice.line - b.choice.line);
  if (names.length === 0) return null;
  const missing = open.filter(({ result }) => result === 'failed').length;
  const choose = (text: string, choice: PersonChoice | undefined) => {
    const { [text]: _, ...others } = people;
    onChange({ unknown_people, people: choice ? { ...others, [text]: choice } : others });
  };
  return (
    <Mapping
      title="People"
      counts={[
        missing > 0 && `${formatNumber(missing)} not found`,
        names.length > missing && `${formatNumber(names.length - missing)} decided`,
      ]}
      isForcedOpen={missing > 0}
    >
      {(open.length > 1 || unknown_people !== 'error') && (
        <p className="import-choice">
          <label htmlFor={id}>All names without a choice</label>
          <select
            id={id}
            value={unknown_people}
            onChange={({ target }) => onChange({ people, unknown_people: target.value as PeoplePolicy })}
          >
            <option value="error">Report as errors</option>
            {canCreate && <option value="create">Create as placeholders</option>}
            <option value="leave_empty">Leave empty</option>
          </select>
        </p>
      )}
      <ul>
        {names.map(({ text, choice, outcome }) => (
          <NameChoice
            key={text}
            text={text}
            choice={choice}
            outcome={outcome}
            canCreate={canCreate}
            // An owner can be a group.
            canBeGroup={choice.columns.some((column) => summary.columns[column] === 'owner_name')}
            onChange={(next) => choose(text, next)}
          />
        ))}
      </ul>
    </Mapping>
  );
}

/** Whoever creates people needs access to all of them. */
function useCanCreate(): boolean {
  const isLimited = useIsLimited();
  return useHasScope()('personnel.manage') && !isLimited;
}

type NameProps = {
  text: string;
  choice: PersonChoice;
  /** What happens to it without a choice. */
  outcome: string | undefined;
  canCreate: boolean;
  canBeGroup: boolean;
  onChange: (choice: PersonChoice | undefined) => void;
};

function NameChoice({ text, choice, outcome, canCreate, canBeGroup, onChange }: NameProps) {
  const canSearch = useHasScope()('personnel.read');
  const { columns, cells, line, value, name } = choice;
  const place = { columns, cells, line };
  const isPicking = outcome === undefined && value !== '' && value !== createdItem;
  const Picker = canBeGroup ? OwnerPicker : RosterPicker;
  const select = (action: string) => {
    if (action === 'none') onChange(undefined);
    else onChange(action === 'pick' ? place : { ...place, value: action === 'create' ? createdItem : '' });
  };
  return (
    <li>
      <label>
        <span>
          <bdi>{text}</bdi>{' '}
          <span className="quiet">
            <bdi>{columns.join(', ')}</bdi>, {pluralize(cells, 'cell')}
          </span>
        </span>
        <select
          value={outcome ? 'none' : isPicking ? 'pick' : value === createdItem ? 'create' : 'empty'}
          onChange={({ target }) => select(target.value)}
        >
          <option value="none">{outcome ?? 'No choice'}</option>
          {canSearch && (
            <option value="pick">{canBeGroup ? 'Choose person or group' : 'Choose person'}</option>
          )}
          {canCreate && <option value="create">Create as placeholder</option>}
          <option value="empty">Leave empty</option>
        </select>
      </label>
      {isPicking && (
        <Picker
          label={`Person for ${text}`}
          value={value ?? ''}
          name={name ?? ''}
          autoFocus={value === undefined}
          onChange={(id, chosen) => onChange(id ? { ...place, value: id, name: chosen } : place)}
        />
      )}
    </li>
  );
}
