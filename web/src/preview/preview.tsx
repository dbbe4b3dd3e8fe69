import type { ItemList } from '../api/items.ts';
import type { Issue, Risk, Task } from '../api/openapi.ts';
import type { Keys } from './frame.tsx';
import { IssuePreview } from './issue-preview.tsx';
import { RiskPreview } from './risk-preview.tsx';
import { TaskPreview } from './task-preview.tsx';

type Props = Keys & { list: ItemList; item: object };

/** The main facts of a row beside its list, with its most used actions. */
export function Preview({ list, item, ...keys }: Props) {
  if (list === 'risks') return <RiskPreview risk={item as Risk} {...keys} />;
  if (list === 'issues') return <IssuePreview issue={item as Issue} {...keys} />;
  return <TaskPreview task={item as Task} {...keys} />;
}
