import type { Moment } from '../../core/clock.ts';
import { isDay } from '../../core/time-zones.ts';
import type { Importable, ItemProject } from '../../import/importable.ts';
import { inAllLanguages } from '../../import/languages/all.ts';
import { readDate } from '../../import/languages/dates.ts';
import { importOf } from '../project-items/import.ts';
import { taskList, taskWrites } from './queries.ts';
import { type Task, TaskInput, TaskPatch } from './schema.ts';

/** Reads a percentage of progress, or the day on which a task was completed. Whether `1` is a hundredth or all is open. */
function statusOfProgress(cell: unknown): TaskInput['status'] {
  const text = String(cell).trim();
  const [, number, sign] = /^(\d{1,3}(?:\.\d+)?)\s*(%?)$/.exec(text) ?? [];
  if (number === undefined) return isDay(readDate(text, undefined, 'UTC')) ? 'done' : undefined;
  const percent = Number(number);
  if (sign === '' && percent === 1) return undefined;
  return percent >= 100 ? 'done' : percent > 0 ? 'in_progress' : 'todo';
}

const recognized = inAllLanguages('task');

export const taskImport = (
  project: ItemProject,
  moment: Moment,
): Importable<Task, typeof TaskInput, typeof TaskPatch> => ({
  ...importOf(taskWrites, project, moment),
  input: TaskInput,
  patch: TaskPatch,
  existing: taskList({ project: [project.id], status: ['all'] }, moment),
  ...recognized,
  interpret: { status: statusOfProgress },
});
