import { formatDayOrText, humanize, labelOf } from '../format.ts';
import { Button } from './button.tsx';
import { type Draft, type Field, showDraft, toDraft } from './form-values.ts';
import { type Names, pickedName } from './picked-names.ts';

type Change = { name: string; label: string; theirs: string; mine: string | undefined };

type Props = {
  isPending: boolean;
  /** What the other person changed, once it has been reviewed. */
  changes: readonly Change[] | undefined;
  onReview: () => void;
  onOverwrite: () => void;
};

/** Shown when someone else has saved the item meanwhile. */
export const ConflictNotice = ({ isPending, changes, onReview, onOverwrite }: Props) => (
  <div className="dialog-notice">
    <div className="notice" role="alert">
      {changes ? (
        <div>
          <p>{changes.length > 0 ? 'Changed by someone else:' : 'Their changes are kept. Save yours now.'}</p>
          <ChangeList changes={changes} />
        </div>
      ) : (
        <>
          <p>Someone else changed this while you were editing.</p>
          <span className="button-row">
            <Button small onPress={onReview}>
              Review
            </Button>
            <Button small isPending={isPending} onPress={onOverwrite}>
              Overwrite
            </Button>
          </span>
        </>
      )}
    </div>
  </div>
);

const ChangeList = ({ changes }: { changes: readonly Change[] }) => (
  <ul className="conflict">
    {changes.map(({ name, label, theirs, mine }) => (
      <li key={name}>
        <strong>{label}</strong>: <bdi>{theirs}</bdi>
        {mine !== undefined && (
          <>
            {' '}
            (yours: <bdi>{mine}</bdi>)
          </>
        )}
      </li>
    ))}
  </ul>
);

type TheirsProps<Item> = {
  /** Both from `useOpened`. */
  item: Item;
  former: Item | undefined;
  /** What was chosen in the dialog, by field. */
  mine?: Readonly<Record<string, unknown>>;
  show?: (name: string, value: unknown) => string;
};

/** What someone else has changed while a dialog was open whose fields are not those of the item. */
export function Theirs<Item extends object>({
  item,
  former,
  mine = {},
  show = showPlain,
}: TheirsProps<Item>) {
  if (!former) return null;
  const before = former as Record<string, unknown>;
  const changes = Object.entries(item)
    .filter(([name, value]) => !isDerived(name) && show(name, value) !== show(name, before[name]))
    .map(([name, value]) => ({
      name,
      label: labelOf(name.replace(/_name$/, '_id')),
      theirs: show(name, value) || '–',
      mine: name in mine ? show(name, mine[name]) || '–' : undefined,
    }));
  if (changes.length === 0) return null;
  return (
    <div className="notice">
      <div>
        <p>Changed by someone else:</p>
        <ChangeList changes={changes} />
      </div>
    </div>
  );
}

/** Names are shown in place of ids. */
const isDerived = (name: string) =>
  /_id$|_at$|_active$|^version$|^rank$|score$|level$|^tasks_|^days_/.test(name);

const showPlain = (name: string, value: unknown): string => {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return '';
  return /_on$|_until$/.test(name)
    ? formatDayOrText(value)
    : /^[a-z_]+$/.test(value)
      ? humanize(value)
      : value;
};

type Versions = { base: object; latest: object; draft: Draft; mine: readonly string[]; names: Names };

/** The fields of the form that differ between two versions of the item. */
export function theirChanges(
  fields: readonly Field[],
  { base, latest, draft, mine, names }: Versions,
): Change[] {
  const before = toDraft(fields, base);
  const now = toDraft(fields, latest);
  const isChanged = (name: string) => String(before[name]) !== String(now[name]);
  return fields
    .filter(({ name }) => isChanged(name))
    .map((field) => ({
      name: field.name,
      label: field.label,
      theirs: describe(field, now[field.name], names),
      mine: mine.includes(field.name) ? describe(field, draft[field.name], names) : undefined,
    }));
}

const describe = (field: Field, value: string | string[] = '', names: Names) =>
  value.length === 0 ? '–' : pickedName(field, value, names) || showDraft(field, value) || 'changed';
