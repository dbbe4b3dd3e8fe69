import { ApiError } from '../api/client.ts';
import { labelOf } from '../format.ts';
import type { Field } from './form-values.ts';

type FieldError = ApiError['fieldErrors'][number];

/** The service's texts quote the names of fields: `due_on` becomes Due. */
export const withLabels = (text: string, label: (name: string) => string = labelOf) =>
  text.replace(/`(\w+)`/g, (_, name: string) => label(name));

/** The service's texts add ids to names, which most readers do not know. */
export const withoutIds = (text: string) => text.replace(/ \([a-z]{3}_[0-9a-v]{26}\)/g, '');

/** The first validation error of each field. An error that is not about a field has the name ''. */
export function errorsByField(error: Error | undefined, fields: readonly Field[]): Map<string, string> {
  const errors = error instanceof ApiError ? error.fieldErrors : [];
  return new Map(errors.toReversed().map((one) => [nameOf(one), textOf(one, fields)]));
}

export const missingText = ({ kind, label, missing }: Field) =>
  kind === 'scopes' || kind === 'event-types'
    ? `Select at least one ${label.toLowerCase().replace(/s$/, '')}.`
    : (missing ?? `${label} is required.`);

/** All that an error reports, for a place that is not beside its fields. */
export function errorMessages(error: unknown, fields: readonly Field[] = []): string[] {
  if (!(error instanceof Error)) return [String(error)];
  // A part of the console that fails to load is a TypeError of the browser, in its own words.
  if (error instanceof TypeError && /module|script/i.test(error.message))
    return ["Can't reach the service. Check your connection and try again."];
  if (!(error instanceof ApiError) || error.fieldErrors.length === 0)
    return [withoutIds(withLabels(error.message))];
  const messages = error.fieldErrors.map((one) => {
    const name = one.parameter ?? nameOf(one);
    const text = isInvalidFilter(one) ? filterText(one) : textOf(one, fields);
    return name !== '' && text.startsWith('This ') ? `${labelIn(fields)(name)}: ${text}` : text;
  });
  return [...new Set(messages)];
}

/** The filters in the URL that the service rejects, for example from an old link. */
export const invalidFilters = (error: unknown): string[] =>
  error instanceof ApiError
    ? error.fieldErrors.filter(isInvalidFilter).map(({ parameter = '' }) => parameter)
    : [];

/** Requests also have parameters that are no filters, such as the sheet of an import. */
const isInvalidFilter = ({ parameter, code }: FieldError) =>
  parameter !== undefined &&
  code !== 'unknown_parameter' &&
  new URLSearchParams(location.search).has(parameter);

/** A shared view can be about whoever has signed in, which a key is not. */
const filterText = ({ parameter = '' }: FieldError) =>
  new URLSearchParams(location.search).get(parameter)?.split(',').includes('me')
    ? 'This filter is “Me”, but you signed in with a key. Choose a person instead.'
    : "This filter isn't valid.";

/** For a message of one line. */
export const errorLine = (error: unknown) => errorMessages(error).join(' ');

const nameOf = ({ pointer = '' }: FieldError) => pointer.slice(2).split('/')[0] ?? '';

const labelIn = (fields: readonly Field[]) => (name: string) =>
  fields.find((one) => one.name === name)?.label ?? labelOf(name);

function textOf(error: FieldError, fields: readonly Field[]): string {
  const { code, detail } = error;
  const field = fields.find(({ name }) => name === nameOf(error));
  // A blank required field is sent as null.
  if (field?.required && code === 'type' && field.kind !== 'number') return missingText(field);
  if (field && code === 'minItems') return missingText(field);
  return withoutIds(withLabels(detail, labelIn(fields)));
}
