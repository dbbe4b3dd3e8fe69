import { writeCell } from '../formats/cells.ts';

type Property = { enum?: readonly unknown[]; items?: { enum?: readonly unknown[] } };

/** Writes the values of a field as people say them: `In progress` for `in_progress`, `Yes` for `true`. */
export function wordWriter({ enum: values, items }: Property) {
  const accepted = values ?? items?.enum;
  const wordFor = (value: unknown) =>
    typeof value === 'string' && accepted?.includes(value) ? inWords(value) : value;
  return (value: unknown) => {
    if (typeof value === 'boolean') return value ? 'Yes' : 'No';
    return writeCell(Array.isArray(value) ? value.map(wordFor) : wordFor(value));
  };
}

/** Values whose words are not the value itself with spaces, as in the console. */
const words: Readonly<Record<string, string>> = {
  todo: 'To do',
  cancelled: 'Canceled',
  materialized: 'Occurred',
  wont_fix: "Won't fix",
  unassessed: 'Not assessed',
  unowned: 'No owner',
  due_overdue: 'Past due',
  stale_90d: 'No update in 90 days',
};

function inWords(value: string): string {
  const text = value.replaceAll('_', ' ');
  return words[value] ?? text.charAt(0).toUpperCase() + text.slice(1);
}
