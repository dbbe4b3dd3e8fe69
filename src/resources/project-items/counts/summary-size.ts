import type { LargestGroups } from './groups.ts';

/** A summary is at most 64 kB long, whatever the data: this is left for its arrays, without the filters in `meta`. */
const maxArrayBytes = 61_000;

type Bounded<Row> = { rows: readonly Row[]; of: LargestGroups };

type Rest = { groups: number; count: number };

type BoundedFields<Arrays> = {
  [Name in keyof Arrays]: Arrays[Name] extends Bounded<infer Row> ? Row[] : never;
} & { [Name in keyof Arrays as `${string & Name}_rest`]: Rest };

/**
 * The arrays of a summary and, for each, what it leaves out. If they would be too long together, because of long names, the
 * longest arrays end earlier. `filters` is in the response too.
 */
export function boundArrays<Arrays extends Record<string, Bounded<{ count: number }>>>(
  filters: unknown,
  arrays: Arrays,
): BoundedFields<Arrays> {
  const sized = Object.entries(arrays).map(([name, { rows, of }]) => {
    const sizes = rows.map(bytesOf);
    return { name, rows, of, sizes, bytes: sizes.reduce((sum, size) => sum + size, 0) };
  });
  let left = maxArrayBytes - bytesOf(filters);
  const fields: Record<string, unknown> = {};
  // A short array leaves its share to the longer ones.
  const byLength = sized.toSorted((a, b) => a.bytes - b.bytes);
  for (const [i, { name, rows, of, sizes }] of byLength.entries()) {
    const share = left / (byLength.length - i);
    let [length, bytes] = [0, 0];
    while (length < rows.length && bytes + (sizes[length] as number) <= share)
      bytes += sizes[length++] as number;
    left -= bytes;
    const shown = rows.slice(0, length);
    fields[name] = shown;
    fields[`${name}_rest`] = {
      groups: of.groups - shown.length,
      count: of.count - shown.reduce((sum, { count }) => sum + count, 0),
    };
  }
  return fields as BoundedFields<Arrays>;
}

/** With the comma after it. */
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value)) + 1;
