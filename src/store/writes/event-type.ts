import { type EventType, type SubjectType, subjects } from '../../resources/events/schema.ts';
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
  const actions = whole === undefined ? (subjects[subject].actions?.(differences) ?? []) : [whole];
  const types = actions.flatMap((action): EventType[] =>
    action === undefined ? [] : [`${subject}.${action}` as EventType],
  );
  const type = given ?? types[0] ?? `${subject}.updated`;
  return { type, also: types.filter((other) => other !== type) };
}
