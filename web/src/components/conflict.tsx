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
