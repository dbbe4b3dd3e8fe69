import type { ItemList } from '../api/items.ts';
import { issueStatusValues, riskStatusValues, taskStatusValues } from '../api/openapi.ts';
import type { Field } from '../components/form-values.ts';
import { resolutionField } from '../issues/issue-form.tsx';
import { useRiskModel } from '../risks/model.ts';
import { transitionForms } from '../risks/transition-forms.ts';
import type { BulkItem } from './kinds.ts';

/** A risk occurs one by one: each becomes an issue. */
const statuses: Record<ItemList, readonly string[]> = {
  risks: riskStatusValues.filter((status) => status !== 'materialized'),
  issues: issueStatusValues,
  tasks: taskStatusValues,
};

type IsAllowed = (from: string, to: string) => boolean;

/** Whether an item can go from one status to another. Until the rules are loaded, the service decides. */
export function useIsAllowed(kind: ItemList): IsAllowed {
  const { data: model } = useRiskModel();
  const transitions: Record<string, readonly string[]> | undefined =
    kind === 'tasks' ? undefined : model?.transitions[kind];
  return (from, to) => from === to || !transitions || (transitions[from] ?? []).includes(to);
}

/** The statuses that at least one of the items can go to. */
export const offeredStatuses = (kind: ItemList, items: readonly BulkItem[], isAllowed: IsAllowed) =>
  statuses[kind].filter((to) => items.some(({ status }) => status !== to && isAllowed(status, to)));

const reason: Field = { name: 'reason', label: 'Reason', kind: 'text', required: true };

/** What a status requires, as fields of a form. */
export function statusFields(
  kind: ItemList,
  to: string,
  items: readonly BulkItem[],
  isPerson: boolean,
): Field[] {
  if (to === 'open' && kind !== 'tasks' && items.some(({ status }) => status === 'closed')) return [reason];
  if (kind === 'risks' && (to === 'accepted' || to === 'closed'))
    return transitionForms[to]({ isPerson }).fields;
  if (kind === 'issues' && to === 'resolved') return [resolutionField];
  return [];
}
