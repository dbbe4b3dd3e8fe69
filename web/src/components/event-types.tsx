import { subjectOf } from '../api/event-types.ts';
import { humanize } from '../format.ts';
import type { Field } from './form-values.ts';

type Props = {
  options: NonNullable<Field['options']>;
  checked: string[];
  onChange: (checked: string[]) => void;
};

/** Boxes for all events, for all events about one kind of resource, and for single event types. */
export function EventTypes({ options, checked, onChange }: Props) {
  const types = options.map(([type]) => String(type));
  const box = (pattern: string, label: string, covers: (type: string) => boolean) => (
    <label key={pattern} className="event-type">
      <input
        type="checkbox"
        checked={checked.includes(pattern)}
        onChange={({ target }) => {
          const others = checked.filter((one) => one !== pattern && !covers(one));
          onChange(target.checked ? [...others, pattern] : others);
        }}
      />
      {label}
    </label>
  );
  return (
    <div className="event-types">
      {box('*', eventLabel('*'), () => true)}
      {!checked.includes('*') &&
        [...Map.groupBy(types, subjectOf)].map(([subject, ofSubject]) => {
          const all = `${subject}.*`;
          const selected = checked.filter((one) => subjectOf(one) === subject);
          return (
            <details key={subject}>
              <summary>
                {humanize(subject)}
                {selected.length > 0 && (
                  <span className="chip">{selected.includes(all) ? 'All' : selected.length}</span>
                )}
              </summary>
              <div>
                {box(all, eventLabel(all), (type) => subjectOf(type) === subject)}
                {!selected.includes(all) && ofSubject.map((type) => box(type, eventLabel(type), () => false))}
              </div>
            </details>
          );
        })}
    </div>
  );
}

/** `risk.level_raised` → `Risk level raised`, `risk.*` → `All risk events`. */
export function eventLabel(pattern: string): string {
  if (pattern === '*') return 'All events';
  if (pattern.endsWith('.*')) return `All ${subjectOf(pattern)} events`;
  return humanize(pattern.replace('.', '_'));
}
