import type { ReactNode } from 'react';
import { formatDayOrText } from '../format.ts';

type Kind =
  | 'line'
  | 'text'
  | 'day'
  | 'number'
  | 'choice'
  | 'list'
  | 'person'
  | 'group'
  | 'project'
  | 'projects'
  | 'risk'
  | 'issue'
  | 'scopes'
  | 'event-types';

export type Field = {
  name: string;
  label: string;
  kind: Kind;
  required?: boolean;
  hint?: string;
  /** What a required field asks for while it is blank, where its label does not say it. */
  missing?: string;
  /** For the kinds `choice`, `scopes` and `event-types`. */
  options?: readonly (readonly [value: string | number, label: string])[];
  min?: number | string;
  max?: number | string;
  /** For the kind `line`: texts to choose from. Others can be typed. */
  suggestions?: readonly string[];
  /** The heading above this field, which starts a section. */
  section?: string;
  /** Takes half of the form's width. */
  half?: boolean;
  /** Edited only on the page of the item, not in its form. */
  isOnPageOnly?: boolean;
  /** In the form of a new item it is under "More". */
  isMore?: boolean;
  /** What of it depends on the other fields; `null` while it is not asked for. */
  given?: (draft: Draft, field: Field) => Partial<Field> | null;
  /** An input of its own, which can set several fields. */
  input?: (draft: Draft, change: (values: Draft) => void) => ReactNode;
  /** Set by the input of another field. */
  isSetBeside?: boolean;
  /** For the kinds `risk` and `issue`: the project that has them, unless the form has a field for it. */
  project?: string | undefined;
  /** For the kind `person`: the ids of people who are not offered. */
  excluded?: readonly string[];
  /** For the kind `person`: opens the list at once, with the person who was chosen last at the top. */
  offersLast?: boolean;
  /** The name of the item whose id is the initial value. */
  selectedName?: string | null;
};

export const isPersonOrGroup = ({ kind }: Field) => kind === 'person' || kind === 'group';

export const isRiskOrIssue = (field: Field): field is Field & { kind: 'risk' | 'issue' } =>
  field.kind === 'risk' || field.kind === 'issue';

/** Whether the value is an id, which is shown as the name of its item. */
export const isReference = (field: Field) => isPersonOrGroup(field) || isRiskOrIssue(field);

/** The kinds of field that can produce a value of this type. */
type KindFor<Value> = Value extends readonly unknown[]
  ? 'list' | 'scopes' | 'projects' | 'event-types'
  : Value extends number
    ? 'number' | 'choice'
    : Value extends string
      ? string extends Value
        ? 'line' | 'text' | 'day' | 'choice' | 'person' | 'group' | 'project' | 'risk' | 'issue'
        : 'choice'
      : never;

type OptionFor<Value> = Value extends readonly (infer Item)[] ? Item : Value;

/** A field of a form that fills in `Input`, a request body of the API. Name, kind and options must fit its type. */
export type FieldOf<Input> = {
  [Name in keyof Input & string]-?: Field & {
    name: Name;
    kind: KindFor<NonNullable<Input[Name]>>;
    options?: readonly (readonly [value: OptionFor<NonNullable<Input[Name]>>, label: string])[];
  };
}[keyof Input & string];

type More = Omit<Partial<Field>, 'name' | 'label' | 'kind' | 'options' | 'selectedName'>;

/** A field whose value is one of the options. */
export const choiceField = <Name extends string, Value extends string | number>(
  name: Name,
  label: string,
  options: readonly (readonly [value: Value, label: string])[],
  more: More = {},
) => ({ name, label, kind: 'choice' as const, options, ...more });

/** A field whose value is the id of another item, which has this name. */
export const referenceField = <Name extends string, To extends 'person' | 'group' | 'risk' | 'issue'>(
  name: Name,
  label: string,
  kind: To,
  selectedName: string | null = null,
  more: More = {},
) => ({ name, label, kind, selectedName, ...more });

/** The fields of the form, without those that are edited only on the page. */
export const inForm = <F extends Field>(fields: readonly F[]): F[] =>
  fields.filter(({ isOnPageOnly }) => !isOnPageOnly);

/** The fields that a form asks for while its inputs contain this. */
export const shownFields = <F extends Field>(fields: readonly F[], draft: Draft): F[] =>
  fields.flatMap((field) => {
    const differences = field.given ? field.given(draft, field) : {};
    return differences ? [{ ...field, ...differences }] : [];
  });

/** What the inputs of a form contain: text, or several texts. */
export type Draft = Record<string, string | string[]>;

type Values = Record<string, unknown>;

export const toDraft = (fields: readonly Field[], initial: object = {}): Draft =>
  Object.fromEntries(fields.map((field) => [field.name, draftValue(field, (initial as Values)[field.name])]));

function draftValue({ kind, required, options = [] }: Field, value: unknown): string | string[] {
  if (['scopes', 'projects', 'event-types'].includes(kind))
    return Array.isArray(value) ? value.map(String) : [];
  if (kind === 'list') return Array.isArray(value) ? value.map(quoted).join(', ') : '';
  if (value !== null && value !== undefined) return String(value);
  return required && kind === 'choice' ? String(options[0]?.[0] ?? '') : '';
}

/** A value of an item as text. Ids are shown by the name beside them, such as `owner_name`. */
export const showValue = (field: Field, item: object): string =>
  showDraft(field, toDraft([field], item)[field.name], item);

export function showDraft(field: Field, value: string | string[] = '', item: object = {}): string {
  const { name, kind, options = [] } = field;
  if (value.length === 0) return '';
  if (isPersonOrGroup(field))
    return String((item as Values)[name.replace(/_(user|group)_id$/, '_name')] ?? '');
  // An item has only the ids of these.
  if (isRiskOrIssue(field)) return '';
  if (kind === 'day') return formatDayOrText(String(value));
  return options.find(([option]) => String(option) === value)?.[1] ?? String(value);
}

export const isSameDraft = (one: Draft, other: Draft) => JSON.stringify(one) === JSON.stringify(other);

/** The body of a new item. Blank fields are left out: the service has the defaults. */
export const createdValues = <Input>(fields: readonly FieldOf<Input>[], draft: Draft): Input =>
  pick(toValues(fields, draft), (_, value) => value !== null) as Input;

/** The fields that differ from the initial values. */
export function changedValues<Input>(
  fields: readonly FieldOf<Input>[],
  draft: Draft,
  initial: object,
): Input {
  const before = toValues(fields, toDraft(fields, initial));
  const isChanged = (name: string, value: unknown) => JSON.stringify(value) !== JSON.stringify(before[name]);
  return pick(toValues(fields, draft), isChanged) as Input;
}

/** The owner is a person or a group, so setting the one clears the other. */
export function withOneOwner<Input>(values: Input): Input {
  const { owner_user_id, owner_group_id } = values as { owner_user_id?: string; owner_group_id?: string };
  return {
    ...(owner_user_id && { owner_group_id: null }),
    ...(owner_group_id && { owner_user_id: null }),
    ...values,
  };
}

const pick = (values: Values, isPicked: (name: string, value: unknown) => boolean): Values =>
  Object.fromEntries(Object.entries(values).filter(([name, value]) => isPicked(name, value)));

const toValues = (fields: readonly Field[], draft: Draft): Values =>
  Object.fromEntries(fields.map((field) => [field.name, apiValue(field, draft[field.name] ?? '')]));

function apiValue({ kind, options = [] }: Field, draft: string | string[]): unknown {
  if (kind === 'projects' && draft.length === 0) return null;
  if (typeof draft !== 'string') return draft;
  if (kind === 'list') return splitList(draft);
  if (draft.trim() === '') return null;
  if (kind === 'number') return Number(draft);
  // The value of an option can be a number, which the draft has as text.
  if (kind === 'choice') return options.find(([value]) => String(value) === draft)?.[0] ?? null;
  return draft;
}

/** An item with a comma is in quotes: `"Planning, budgets", Law`. */
const quoted = (item: string) => (/,|^"/.test(item) ? `"${item.replaceAll('"', '""')}"` : item);

const splitList = (text: string) =>
  [...text.matchAll(/\s*(?:"((?:[^"]|"")*)"\s*(?=,|$)|([^,]*))(?:,|$)/g)]
    .map(([, inQuotes, plain = '']) => (inQuotes?.replaceAll('""', '"') ?? plain).trim())
    .filter(Boolean);
