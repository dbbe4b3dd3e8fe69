/** From this ratio on, the largest bar would leave nothing to see of the others. */
const maxRatio = 8;

/** Says why a bar has a mark. */
export const notToScale = 'Longer than shown: this bar is not to scale.';

/** The scale of a bar chart. One bar that is far larger than the others is cut, so that it does not flatten them. */
export function scaleOf(counts: readonly number[]) {
  const [largest = 1, second = 0] = counts.toSorted((a, b) => b - a);
  const isOutlier = second > 0 && largest >= maxRatio * second;
  const max = Math.max(1, isOutlier ? 2 * second : largest);
  return { max, isCut: (count: number) => count > max };
}
