import { type ProblemCode, problems } from '../errors.ts';
import { prefixes } from '../ids.ts';
import { scopes } from '../keys/scopes.ts';
import { limits } from '../schemas.ts';
import { type Fragment, html, prose, type Site } from './html.ts';

/** As much of an OpenAPI document as is shown. */
export type OpenApi = {
  info: { version: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema> };
};

type Described = {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
  security?: unknown[];
  'x-scope'?: string;
};

type Operation = Described & { method: string; path: string };

type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  example?: unknown;
  schema: Schema;
};

type Content = Record<string, { schema?: Schema }>;

type Schema = {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  default?: unknown;
  examples?: unknown[];
  description?: string;
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  maxProperties?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  required?: string[];
  'x-set-by-service'?: string[];
};

/** One row of a table: a parameter, or a field of a body, of an answer or of a schema. */
type Field = {
  name: string;
  schema: Schema;
  note?: string;
  description?: string;
  preset?: unknown;
  example?: unknown;
  constraints?: Fragment[];
};

const operationsOf = ({ paths }: OpenApi): Operation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ ...described, method, path })),
  );

/** The tags, each with its operations: the order of the whole page. */
const groupsOf = (document: OpenApi) =>
  document.tags.map((tag) => ({
    ...tag,
    operations: operationsOf(document).filter(({ tags }) => tags[0] === tag.name),
  }));

const schemasOf = ({ components }: OpenApi) =>
  Object.entries(components.schemas).sort(([one], [other]) => one.localeCompare(other));

const tagTitle = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;

const tagAnchor = (name: string) => `#tag-${name}`;

const schemaName = (reference: string) => reference.slice(reference.lastIndexOf('/') + 1);

/** The way around the page, beside it or above it. */
export const referenceContents = (document: OpenApi) => html`<nav class="contents" aria-label="On this page">
<details><summary>Contents</summary>
<ul>${['Introduction', 'Authentication', 'Conventions'].map(
  (title, index) =>
    html`<li><a${index === 0 && html` class="group"`} href="#${title.toLowerCase()}">${title}</a></li>`,
)}</ul>
${groupsOf(document).map(
  ({ name, operations }) => html`<ul><li><a class="group" href="${tagAnchor(name)}">${tagTitle(name)}</a></li>
${operations.map(
  ({ operationId, method, summary }) =>
    html`<li><a href="#${operationId}" title="${summary}">${methodLabel(method)} ${operationId}</a></li>`,
)}</ul>`,
)}
<ul><li><a class="group" href="#schemas">Schemas</a></li>
${schemasOf(document).map(([name]) => html`<li><a href="#schema-${name}">${name}</a></li>`)}</ul>
</details></nav>`;

/** The whole API on one page. */
export const referenceMain = (document: OpenApi, site: Site) => html`${introduction(document, site)}
${groupsOf(document).map(
  ({ name, description, operations }) => html`
<section class="tag" id="tag-${name}"><h2><a href="${tagAnchor(name)}">${tagTitle(name)}</a></h2>
<p>${prose(description)}</p>
${operations.map((operation) => operationEntry(document, operation, site))}
</section>`,
)}
<section class="tag schemas" id="schemas"><h2><a href="#schemas">Schemas</a></h2>
<p>What bodies and answers are made of.</p>
${schemasOf(document).map(([name, schema]) => schemaEntry(document, name, schema))}
</section>`;

const introduction = ({ info }: OpenApi, site: Site) => html`<div class="intro">
<h1 id="introduction">API reference</h1>
<p class="lead">${prose(info.description)}</p>
<p>All paths start at <code>${site.baseUrl}</code>. This is version ${info.version}. For tools, the same is in
<a href="${site.link('/v1/openapi.json')}">openapi.json</a>.</p>
<h2 id="authentication">Authentication</h2>
<p>Send an API key with each request: <code>Authorization: Bearer &lt;API_KEY&gt;</code>. Keys start with
<code>mst_</code>. The first start of the service prints one; whoever runs it makes others with
<code>muster keys create</code>. The examples below take yours from the shell:</p>
<pre><code>API_KEY=mst_…</code></pre>
<p>A key carries scopes, and each operation names the one it needs. A <code>.manage</code> scope also
grants the <code>.read</code> scope of the same area; nothing else is implied.
<a href="#getMe">GET /v1/me</a> shows what a key may do. The scopes are ${codes(scopes, ', ')}.</p>
<h2 id="conventions">Conventions</h2>
<dl class="conventions">
${conventions(site).map(([title, text]) => html`<dt>${title}</dt><dd>${text}</dd>`)}</dl>
</div>`;

const conventions = (site: Site): [string, Fragment][] => [
  [
    'Complete by default',
    prose(
      'A list without `limit` is the whole list, as it stood at one moment. Nothing is cut off silently.',
    ),
  ],
  [
    'Paged on request',
    prose(
      `With \`limit\` (1 to ${limits.page_rows}) an answer is one page. Send its \`page.next_cursor\` as ` +
        '`cursor`, or follow `Link: <…>; rel="next"`, until `page.has_more` is false. No row is skipped or ' +
        'doubled on the way.',
    ),
  ],
  [
    'Strict',
    prose(
      'An unknown query parameter or field is refused, and the answer says which name may have been meant. ' +
        `A parameter that is a list takes up to ${limits.filter_values} values, separated by commas.`,
    ),
  ],
  [
    'Formats',
    prose(
      'JSON. Lists also come as `Accept: text/csv` and `Accept: application/x-ndjson`. A list in JSON is ' +
        '`{"data": […], "page": {…}, "meta": {…}}`; `meta.filters` says what was applied, defaults included.',
    ),
  ],
  [
    'Errors',
    html`${prose(
      '`application/problem+json` with a `code` that never changes its meaning. All faults are in `errors` at once.',
    )}
<a href="${site.link('/problems')}">Each code has a page</a> that says what to do.`,
  ],
  [
    'Unchanged answers',
    prose(
      'Resources and lists carry an `ETag`. Send it back as `If-None-Match`: what has not changed is answered ' +
        'with `304` and no body.',
    ),
  ],
  [
    'Rate limits',
    prose(
      'A key may send so many requests a minute; `RateLimit` in an answer says how many are left. Too many are ' +
        'answered with `429` and `Retry-After`. A `304` costs nothing.',
    ),
  ],
  [
    'Values',
    prose(
      'Times are UTC such as `2026-11-15T09:30:00.000Z`, days such as `2026-11-15`. Unknown is `null`, never an ' +
        'empty text. Ids are opaque and never used again; projects, risks and issues also have a key such as ' +
        '`APOLLO-R7`.',
    ),
  ],
];

const operationEntry = (document: OpenApi, operation: Operation, site: Site) => {
  const { operationId, method, path, summary, description } = operation;
  return html`
<section class="entry operation" id="${operationId}">
<div class="about"><h3><a href="#${operationId}">${summary}</a></h3>
<p class="request">${methodBadge(method)} <code class="path">${pathMarkup(path)}</code></p>
${description && html`<p>${prose(description)}</p>`}
<p class="facts">${prose(accessInWords(operation))}</p></div>
<div class="example"><h4>Example</h4>
<pre class="once"><code>${commandMarkup(curlExample(document, operation, site))}</code></pre></div>
<div class="detail">${parameterTables(operation)}${bodyTable(document, operation)}
${answers(document, operation)}${errors(operation, site)}</div>
</section>`;
};

/** A backslash at the end of a line stays with what is before it. */
const commandMarkup = (command: string) =>
  command
    .split(/([^\s/?&]* \\\n)/)
    .map((part, index) =>
      index % 2 === 1 ? html`<span class="unbroken">${part}</span>` : breakable(part, /(?=[/?&])/),
    );

const methodLabel = (method: string) => html`<span class="method ${method}">${shortMethod(method)}</span>`;

const methodBadge = (method: string) =>
  html`<span class="method badge ${method}">${method.toUpperCase()}</span>`;

const shortMethod = (method: string) => (method === 'delete' ? 'DEL' : method.toUpperCase());

/** What is to be filled in stands out. */
const pathMarkup = (path: string) =>
  path
    .split(/(\{\w+\})/)
    .map((part) => (part.startsWith('{') ? html`<var>${breakable(part)}</var>` : breakable(part)));

function accessInWords(operation: Operation): string {
  const name = `\`${operation.operationId}\``;
  if (operation['x-scope']) return `${name} needs the scope \`${operation['x-scope']}\`.`;
  return isPublic(operation) ? `${name} is public: it needs no key.` : `${name} needs any valid key.`;
}

const isPublic = ({ security }: Operation) => security?.length === 0;

const parameterTitles = { path: 'In the path', query: 'Query parameters', header: 'Headers' };

const parameterTables = ({ parameters = [] }: Operation) =>
  (['path', 'query', 'header'] as const).map((place) => {
    const fields = parameters
      .filter((parameter) => parameter.in === place)
      .map((parameter) => ({
        ...parameter,
        note: parameter.required && place !== 'path' ? 'required' : '',
        preset: inUrl(parameter.schema.default),
        example: inUrl(exampleOf(parameter)),
        // How many values a list takes is the same for all, and said once at the top.
        constraints: constraintsOf(parameter.schema.items ?? parameter.schema),
      }));
    return fields.length > 0 && html`<h4>${parameterTitles[place]}</h4>${fieldTable(fields)}`;
  });

function bodyTable(document: OpenApi, { requestBody }: Operation): Fragment {
  const schema = jsonSchema(requestBody?.content);
  if (!schema) return undefined;
  const body = resolved(document, schema);
  return html`<h4>Body: ${typeOf(schema, schemaLink)}</h4>${fieldTable(sentFields(body))}${notTaken(body)}`;
}

const notTaken = ({ 'x-set-by-service': names = [] }: Schema) =>
  names.length > 0 &&
  html`<details class="more"><summary>Not taken in this body</summary><p>${codes(names, ' ')}</p></details>`;

const answers = (document: OpenApi, { responses }: Operation) =>
  Object.entries(responses)
    .filter(([status]) => Number(status) < 400)
    .map(([status, { content = {} }]) => {
      const schema = jsonSchema(content);
      if (!schema) return html`<p class="facts">Answers <code>${status}</code> without a body.</p>`;
      const formats = Object.keys(content);
      return html`<details class="more"><summary>Answer <code>${status}</code> ${answerInWords(schema)}</summary>
${schema.$ref && html`<p class="facts">More about each field is at ${typeOf(schema, schemaLink)}.</p>`}
${formats.length > 1 && html`<p class="facts">Also as ${separated(formats.slice(1), ' and ')}, rows only.</p>`}
${fieldTable(answeredFields(resolved(document, schema)), briefRow)}</details>`;
    });

const answerInWords = (schema: Schema) => typeOf(schema.properties?.data ?? schema, (name) => name);

const errors = ({ responses }: Operation, site: Site) => {
  const failures = Object.entries(responses).filter(([status]) => Number(status) >= 400);
  return html`<details class="more"><summary>Errors ${codes(
    failures.map(([status]) => status),
    ' ',
  )}</summary>
${problemTable(
  failures.flatMap(([, { description }]) => codesIn(description)),
  site,
)}</details>`;
};

const codesIn = (description: string) =>
  Array.from(description.matchAll(/`(\w+)`/g), ([, code]) => code as ProblemCode).filter((code) =>
    Object.hasOwn(problems, code),
  );

export const problemTable = (codes: ProblemCode[], site: Site) => html`<table class="problems">
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Meaning</th></tr></thead>
<tbody>${codes.map(
  (code) => html`<tr><td>${problems[code].status}</td>
<td><a href="${site.link(`/problems/${code}`)}"><code>${breakable(code)}</code></a></td>
<td>${problems[code].title}</td></tr>`,
)}</tbody></table>`;

const schemaEntry = (document: OpenApi, name: string, schema: Schema) => html`
<section class="entry" id="schema-${name}"><h3><a href="#schema-${name}">${name}</a></h3>
${schema.description && html`<p>${prose(schema.description)}</p>`}${usedBy(document, name)}
${fieldTable(isSent(document, name) ? sentFields(schema) : answeredFields(schema))}${notTaken(schema)}
</section>`;

/** Which operations name a schema. Errors are everywhere, so that is not said. */
function usedBy(document: OpenApi, name: string): Fragment {
  if (name === 'Problem') return undefined;
  const users = operationsOf(document).filter((operation) =>
    JSON.stringify(operation).includes(`"#/components/schemas/${name}"`),
  );
  const links = users.map(({ operationId }) => html`<a href="#${operationId}">${operationId}</a>`);
  return links.length > 0 && html`<p class="facts">Used by ${separated(links, ', ')}.</p>`;
}

const isSent = (document: OpenApi, name: string) =>
  operationsOf(document).some(({ requestBody }) =>
    jsonSchema(requestBody?.content)?.$ref?.endsWith(`/${name}`),
  );

const fieldTable = (fields: Field[], row: (field: Field) => Fragment = fullRow) => html`<table class="fields">
<thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Description</th></tr></thead>
<tbody>
${fields.map((field) => html`<tr><th scope="row">${nameCell(field)}</th>${row(field)}</tr>\n`)}</tbody></table>`;

/** All that is known of a field. */
function fullRow(field: Field): Fragment {
  const { schema, description = schema.description, constraints = constraintsOf(schema) } = field;
  const { preset = schema.default, example = schema.examples?.[0] } = field;
  const values = (schema.enum ?? schema.items?.enum ?? []).filter((value) => value !== null);
  const remarks = [
    preset !== undefined && html`Default <code>${shown(preset)}</code>`,
    example !== undefined && html`Such as <code>${shown(example)}</code>`,
  ].filter((remark) => remark !== false);
  return html`<td>${typeOf(schema, schemaLink)}${
    constraints.length > 0 && html` <small>${separated(constraints, ', ')}</small>`
  }</td><td>${description && html`<p>${prose(description)}</p>`}${
    values.length > 0 && html`<p>${codes(values, ' ')}</p>`
  }${remarks.length > 0 && html`<p class="quiet">${separated(remarks, ' · ')}</p>`}</td>`;
}

/** What a reader of an answer needs: not what may be sent. */
const briefRow = ({ schema }: Field) =>
  html`<td>${typeOf(schema, schemaLink)}</td><td>${prose(schema.description ?? '')}</td>`;

const nameCell = ({ name, note }: Field) =>
  html`<code>${breakable(name)}</code>${note && html` <small>${note}</small>`}`;

const sentFields = (schema: Schema) => fieldsOf(schema, (isRequired) => (isRequired ? 'required' : ''));

const answeredFields = (schema: Schema) =>
  fieldsOf(schema, (isRequired) => (isRequired ? '' : 'not always there'));

/** The fields of an object, each followed by those inside it, unless what is inside has a name of its own. */
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

/** The type in words; `refer` shows a schema that has a name. */
function typeOf(schema: Schema, refer: (name: string) => Fragment): Fragment {
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

const schemaLink = (name: string) => html`<a href="#schema-${name}">${name}</a>`;

function constraintsOf(schema: Schema): Fragment[] {
  return [
    schema.format && (formatNames[schema.format] ?? schema.format),
    schema.pattern && patternInWords(schema.pattern),
    range(schema.minLength, schema.maxLength, ' characters'),
    range(schema.minimum, schema.maximum),
    range(schema.minItems, schema.maxItems, ' values'),
    range(undefined, schema.maxProperties, ' members'),
    schema.uniqueItems && 'no value twice',
    ...(schema.items ? constraintsOf(schema.items) : []),
  ].filter((part) => part !== undefined && part !== false && part !== '');
}

const formatNames: Record<string, string> = {
  date: 'a day',
  'date-time': 'a time',
  email: 'an e-mail address',
  uri: 'an address',
  'time-zone': 'a time zone',
};

function patternInWords(pattern: string): Fragment {
  const [, prefix] = /\^([a-z]{3})_/.exec(pattern) ?? [];
  const [kind] = Object.entries(prefixes).find(([, known]) => known === prefix) ?? [];
  if (kind) return `${kind} id${pattern.includes('|') ? ' or key' : ''}`;
  if (pattern === '^[^\\n\\t]*$') return 'one line';
  if (pattern === '^https?://') return 'http or https';
  return html`matches <code>${pattern}</code>`;
}

function range(least: number | undefined, most: number | undefined, unit = ''): string | undefined {
  if (most === undefined) return least === undefined || unit !== '' ? undefined : `${least} or more`;
  return least === undefined || (least === 1 && unit !== '')
    ? `at most ${most.toLocaleString('en')}${unit}`
    : `${least} to ${most.toLocaleString('en')}${unit}`;
}

const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

/** As it stands in a URL: a list is separated by commas. */
const inUrl = (value: unknown) => (Array.isArray(value) ? value.map(shown).join(',') : value);

const codes = (values: readonly unknown[], by: string) =>
  separated(
    values.map((value) => html`<code>${shown(value)}</code>`),
    by,
  );

/** Long names and addresses may break where their parts do. */
const breakable = (text: string, at = /(?<=[_.])|(?=\/)/) => separated(text.split(at), html`<wbr>`);

const separated = (parts: readonly Fragment[], by: Fragment): Fragment[] =>
  parts.flatMap((part, index) => (index === 0 ? [part] : [by, part]));

const resolved = ({ components }: OpenApi, schema: Schema): Schema =>
  schema.$ref ? (components.schemas[schemaName(schema.$ref)] ?? {}) : schema;

/** Of JSON in any of its kinds, such as merge patch. */
const jsonSchema = (content: Content = {}) =>
  Object.entries(content).find(([type]) => /[/+]json$/.test(type))?.[1].schema;

/** A command that works when pasted into a shell that has `API_KEY` set. */
function curlExample(document: OpenApi, operation: Operation, { baseUrl }: Site): string {
  const { method, path, parameters = [], requestBody } = operation;
  const filled = path.replace(/\{(\w+)\}/g, (_, name) =>
    encoded(exampleOf(parameters.find((parameter) => parameter.name === name)) ?? name),
  );
  const [mediaType] = Object.keys(requestBody?.content ?? {});
  const isImplied = method === 'get' || (method === 'post' && mediaType !== undefined);
  return [
    `curl ${isImplied ? '' : `-X ${method.toUpperCase()} `}${quoted(baseUrl + filled + exampleQuery(parameters))}`,
    ...(isPublic(operation) ? [] : ['-H "Authorization: Bearer $API_KEY"']),
    ...(mediaType ? [`-H ${quoted(`Content-Type: ${mediaType}`)}`] : []),
    ...(mediaType ? [exampleBody(document, requestBody?.content)] : []),
  ].join(' \\\n  ');
}

/** One filter, so that the example says something, and a page of few rows. */
function exampleQuery(parameters: Parameter[]): string {
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const filter = query.find((parameter) => tellingValue(parameter) !== undefined);
  const pairs = [
    ...(filter ? [`${filter.name}=${encoded(tellingValue(filter))}`] : []),
    ...(query.some(({ name }) => name === 'limit') ? ['limit=50'] : []),
  ];
  return pairs.length > 0 ? `?${pairs.join('&')}` : '';
}

/** A value that a reader understands: one of those allowed, or an example that is not an opaque id. */
function tellingValue(parameter: Parameter): unknown {
  const { schema } = parameter;
  if (schema.default !== undefined) return undefined;
  const example = exampleOf(parameter) ?? (schema.enum ?? schema.items?.enum)?.[0];
  return typeof example === 'string' && /^[a-z]{3}_/.test(example) ? undefined : example;
}

function exampleOf(parameter: Parameter | undefined): unknown {
  if (!parameter) return undefined;
  const { example, schema } = parameter;
  const [, prefix] = /\^([a-z]{3})_/.exec(schema.pattern ?? '') ?? [];
  return (
    example ??
    schema.examples?.[0] ??
    schema.items?.examples?.[0] ??
    (prefix && `${prefix}_01jd3k9m5vqs8h2n6r4t0c7e1b`)
  );
}

function exampleBody(document: OpenApi, content: Content | undefined): string {
  const schema = jsonSchema(content);
  if (!schema) return '--data-binary @file';
  const { examples, properties = {}, required = [] } = resolved(document, schema);
  const fallback = () => Object.fromEntries(required.map((name) => [name, properties[name]?.examples?.[0]]));
  return `-d ${quoted(JSON.stringify(examples?.[0] ?? fallback(), null, 2).replaceAll('\n', '\n  '))}`;
}

/** For a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Colons and commas may stand in a URL as they are, and read better. */
const encoded = (value: unknown) =>
  encodeURIComponent(shown(inUrl(value))).replace(/%(3A|2C)/g, decodeURIComponent);
