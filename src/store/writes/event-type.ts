import type { EventType, SubjectType } from '../../resources/events/schema.ts';
import type { Differences } from './change.ts';

/**
 * The types that apply to a change. The event has the first one, or `given` if the caller knows better; the others are
 * its `also`.
 */
export function eventTypesOf(
  subject: SubjectType,
  differences: Differences,
  given?: string,
): { type: string; also: string[] } {
  const whole = ['deleted', 'created'].find((field) => field in differences);
  const actions = whole === undefined ? (specific[subject]?.(differences) ?? []) : [whole];
  const types = actions.flatMap((action): EventType[] =>
    action === undefined ? [] : [`${subject}.${action}` as EventType],
  );
  const type = given ?? types[0] ?? `${subject}.updated`;
  return { type, also: types.filter((other) => other !== type) };
}

/** The specific types of changed fields, in the order of preference; undefined for any other change. */
const specific: Partial<Record<SubjectType, (differences: Differences) => (string | undefined)[]>> = {
  webhook: ({ status }) => [status && String(status.to)],
  person: ({ status }) => [status && (status.to === 'inactive' ? 'deactivated' : 'reactivated')],
  project: ({ archived_at }) => [archived_at && (archived_at.to === null ? 'unarchived' : 'archived')],
  risk: ({ status, score, level }) => [
    actionOf(status, ['accepted', 'materialized', 'closed'], ['materialized', 'closed']),
    level && level.from !== null && level.to !== null
      ? rank(level.to) > rank(level.from)
        ? 'level_raised'
        : 'level_lowered'
      : score && 'score_changed',
  ],
  issue: ({ status }) => [actionOf(status, ['resolved', 'closed'], ['resolved', 'closed'])],
  task: ({ status }) => {
    const action = actionOf(status, ['done', 'cancelled'], ['done', 'cancelled']);
    return [action === 'done' ? 'completed' : action];
  },
};

/** The new status if it has a type of its own, or `reopened` if the status was one of an inactive item. */
function actionOf(
  status: Differences[string] | undefined,
  own: readonly string[],
  inactive: readonly string[],
): string | undefined {
  if (!status) return undefined;
  if (own.includes(String(status.to))) return String(status.to);
  return inactive.includes(String(status.from)) ? 'reopened' : undefined;
}

const rank = (level: unknown) => ['low', 'medium', 'high', 'critical'].indexOf(String(level));
