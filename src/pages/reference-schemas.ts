import { prefixes } from '../core/ids.ts';
import { breakable, codes, type Fragment, html, prose, separated, shown } from './html.ts';
import { type Schema, type SchemaUses, schemaName } from './openapi-document.ts';

/** One row of a table: a parameter, or a field of a request body, a response or a schema. */
type Field = {
  name: string;
  schema: Schema;
  note?: string;
  description?: string;
  preset?: unknown;
  example?: unknown;
  constraints?: Fragment[];
};

export const schemaEntry = (name: string, schema: Schema, uses: SchemaUses | undefined) => html`
<section class="entry" id="schema-${name}"><h3><a href="#schema-${name}">${name}</a></h3>
${schema.description && html`<p>${prose(schema.description)}</p>`}${usedBy(name, uses)}
${fieldTable(uses?.isRequestBody ? requestFields(schema) : responseFields(schema))}${readOnlyFields(schema)}
</section>`;

/** Links to the operations and events that use a schema, except for `Problem`, which every operation uses. */
function usedBy(name: string, uses: SchemaUses | undefined): Fragment {
  if (name === 'Problem' || !uses) return undefined;
  const links = uses.names.map((id) => html`<a href="#${id}">${id}</a>`);
  return html`<p class="facts">Used by ${separated(links, ', ')}.</p>`;
}

export const readOnlyFields = ({ 'x-set-by-service': names = [] }: Schema) =>
  names.length > 0 &&
  html`<details class="more"><summary>Read-only fields, rejected in this body</summary><p>${codes(names, ' ')}</p></details>`;

export const fieldTable = (
  fields: Field[],
  row: (field: Field) => Fragment = fullRow,
) => html`<table class="fields">
<thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Description</th></tr></thead>
<tbody>
${fields.map((field) => html`<tr><th scope="row">${nameCell(field)}</th>${row(field)}</tr>\n`)}</tbody></table>`;

/** Type, constraints, description, allowed values, default and example. */
function fullRow(field: Field): Fragment {
  const { schema, description = schema.description, constraints = constraintsOf(schema) } = field;
  const { preset = schema.default, example = schema.examples?.[0] } = field;
  const values = schema.enum ?? schema.items?.enum ?? schema.anyOf?.[0]?.enum ?? [];
  const remarks = [
    preset !== undefined && html`Default <code>${shown(preset)}</code>`,
    example !== undefined && html`Example <code>${shown(example)}</code>`,
  ].filter((remark) => remark !== false);
  return html`<td>${typeOf(schema, schemaLink)}${
    constraints.length > 0 && html` <small>${separated(constraints, ', ')}</small>`
  }</td><td>${description && html`<p>${prose(description)}</p>`}${
    values.length > 0 && html`<p>${codes(values, ' ')}</p>`
  }${remarks.length > 0 && html`<p class="quiet">${separated(remarks, ' · ')}</p>`}</td>`;
}

/** Type and description only, because constraints matter only in requests. */
export const briefRow = ({ schema }: Field) =>
  html`<td>${typeOf(schema, schemaLink)}</td><td>${prose(schema.description ?? '')}</td>`;

const nameCell = ({ name, note }: Field) =>
  html`<code>${breakable(name)}</code>${note && html` <small>${note}</small>`}`;

export const requestFields = (schema: Schema) =>
  fieldsOf(schema, (isRequired) => (isRequired ? 'required' : ''));

export const responseFields = (schema: Schema) =>
  fieldsOf(schema, (isRequired) => (isRequired ? '' : 'optional'));

/** The fields of an object, each followed by its nested fields, unless their schema has a name. */
function fieldsOf(schema: Schema, noteOf: (isRequired: boolean) => string, parent = ''): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, property]) => {
    const name = `${parent}${key}`;
    const inner = property.items?.properties ? property.items : property;
    return [
      { name, schema: property, note: noteOf(schema.required?.includes(key) ?? false) },
      ...fieldsOf(inner, noteOf, inner === property ? `${name}.` : `${name}[].`),
    ];
  });
}

/** Describes a type; `refer` renders a reference to a named schema. */
export function typeOf(schema: Schema, refer: (name: string) => Fragment): Fragment {
  if (schema.$ref) return refer(schemaName(schema.$ref));
  if (schema.const !== undefined) return html`<code>${shown(schema.const)}</code>`;
  const types = schema.anyOf?.map((one) => typeOf(one, refer)) ?? [schema.type ?? 'anything'].flat();
  return separated(
    types.map((type) => {
      if (type === 'array') return ['list of ', typeOf(schema.items ?? {}, refer)];
      return type === 'object' && schema.patternProperties ? 'map of string' : type;
    }),
    ' or ',
  );
}

export const schemaLink = (name: string) => html`<a href="#schema-${name}">${name}</a>`;

export function constraintsOf(schema: Schema): Fragment[] {
  return [
    schema.format && (formatNames[schema.format] ?? schema.format),
    schema.pattern && describePattern(schema.pattern),
    range(schema.minLength, schema.maxLength, ' characters'),
    range(schema.minimum, schema.maximum),
    range(schema.minItems, schema.maxItems, ' values'),
    range(undefined, schema.maxProperties, ' members'),
    schema.uniqueItems && 'unique values',
    ...(schema.items ? constraintsOf(schema.items) : []),
  ].filter((part) => part !== undefined && part !== false && part !== '');
}

const formatNames: Record<string, string> = {
  date: 'a date',
  'date-time': 'a time',
  email: 'an email address',
  uri: 'a URL',
  'time-zone': 'a time zone',
  charset: 'an encoding',
};

function describePattern(pattern: string): Fragment {
  const [, prefix] = /\^([a-z]{3})_/.exec(pattern) ?? [];
  const [kind] = Object.entries(prefixes).find(([, known]) => known === prefix) ?? [];
  if (kind) return `${kind} id${pattern.includes('|') ? ' or key' : ''}`;
  if (pattern === '^[^\\n\\t]*$') return 'one line';
  if (pattern === '^https?://') return 'http or https';
  return html`matches <code>${pattern}</code>`;
}

function range(min: number | undefined, max: number | undefined, unit = ''): string | undefined {
  if (max === undefined) return min === undefined || unit !== '' ? undefined : `${min} or more`;
  return min === undefined || (min === 1 && unit !== '')
    ? `at most ${max.toLocaleString('en')}${unit}`
    : `${min} to ${max.toLocaleString('en')}${unit}`;
}
