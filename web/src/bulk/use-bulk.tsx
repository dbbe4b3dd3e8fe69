import type { ReactNode } from 'react';
import { useHasScope } from '../api/session.ts';
import type { Filters } from '../components/filters.tsx';
import { lazy } from '../components/lazy.tsx';
import type { BulkItem, BulkKind } from './kinds.ts';
import { type Selection, useSelection } from './use-selection.ts';

const BulkBar = lazy(() => import('./bulk-bar.tsx').then((module) => module.BulkBar));

/** The selection of a list and the bar with what can be done with it; nothing for a key that cannot write. */
export function useBulk<Row extends BulkItem>(
  kind: BulkKind,
  rows: readonly Row[],
  filters: Filters,
): { selection?: Selection<Row>; bar?: ReactNode } {
  const hasScope = useHasScope();
  const { selection, clear, deselect } = useSelection(rows, JSON.stringify(filters));
  // A list of a past day shows former states.
  if (!hasScope('projects.manage') || filters.as_of) return {};
  const bar = selection.rows.length > 0 && (
    <BulkBar kind={kind} items={selection.rows} clear={clear} deselect={deselect} />
  );
  return { selection, bar };
}
