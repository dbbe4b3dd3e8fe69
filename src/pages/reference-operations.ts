import { type ProblemCode, problems } from '../core/errors.ts';
import { breakable, codes, type Fragment, html, inUrl, prose, type Site, separated } from './html.ts';
import {
  isForPeople,
  isPublic,
  jsonSchema,
  type OpenApi,
  type Operation,
  resolved,
  type Schema,
  type WebhookEvent,
} from './openapi-document.ts';
import { curlExample, exampleEvent, exampleOf, exampleValue } from './reference-examples.ts';
import {
  briefRow,
  constraintsOf,
  fieldTable,
  readOnlyFields,
  requestFields,
  responseFields,
  schemaLink,
  typeOf,
} from './reference-schemas.ts';

export const operationEntry = (document: OpenApi, operation: Operation, site: Site) => {
  const { operationId, method, path, summary, description } = operation;
  return html`
<section class="entry operation" id="${operationId}" data-filter="${method} ${path} ${operationId} ${summary}">
<div class="about"><h3><a href="#${operationId}">${summary}</a></h3>
<p class="request">${methodBadge(method)} <code class="path">${pathMarkup(path)}</code></p>
${description && html`<p>${prose(description)}</p>`}
<p class="facts">${prose(describeAccess(operation))}</p></div>
<div class="example"><h4>Example</h4>
<pre class="once"><code>${commandMarkup(curlExample(document, operation, site))}</code></pre></div>
<div class="detail">${parameterTables(operation)}${bodyTable(document, operation)}
${responseTables(document, operation)}${errors(operation, site)}</div>
</section>`;
};

/** Keeps the backslash at the end of a line on the same line as the word before it. */
const commandMarkup = (command: string) =>
  command
    .split(/([^\s/?&]* \\\n)/)
    .map((part, index) =>
      index % 2 === 1 ? html`<span class="unbroken">${part}</span>` : breakable(part, /(?=[/?&])/),
    );

export const methodLabel = (method: string) =>
  html`<span class="method ${method}">${shortMethod(method)}</span>`;

const methodBadge = (method: string) =>
  html`<span class="method badge ${method}">${method.toUpperCase()}</span>`;

const shortMethod = (method: string) => (method === 'delete' ? 'DEL' : method.toUpperCase());

/** Highlights path parameters. */
const pathMarkup = (path: string) =>
  path
    .split(/(\{\w+\})/)
    .map((part) => (part.startsWith('{') ? html`<var>${breakable(part)}</var>` : breakable(part)));

function describeAccess(operation: Operation): string {
  const name = `\`${operation.operationId}\``;
  if (operation['x-scope']) return `${name} requires the scope \`${operation['x-scope']}\`.`;
  if (isForPeople(operation)) return `${name} is for a person who has signed in, not for a key.`;
  return isPublic(operation) ? `${name} is public and requires no key.` : `${name} requires any valid key.`;
}

const parameterTitles = { path: 'Path parameters', query: 'Query parameters', header: 'Headers' };

const parameterTables = ({ parameters = [] }: Operation) =>
  (['path', 'query', 'header'] as const).map((place) => {
    const fields = parameters
      .filter((parameter) => parameter.in === place)
      .map((parameter) => ({
        ...parameter,
        note: parameter.required && place !== 'path' ? 'required' : '',
        preset: inUrl(parameter.schema.default),
        example: inUrl(exampleOf(parameter)),
        // The limit on list values is the same everywhere; "Conventions" states it once.
        constraints: constraintsOf(parameter.schema.items ?? parameter.schema),
      }));
    return fields.length > 0 && html`<h4>${parameterTitles[place]}</h4>${fieldTable(fields)}`;
  });

function bodyTable(document: OpenApi, { requestBody }: Operation): Fragment {
  const schema = jsonSchema(requestBody?.content);
  if (!schema) return undefined;
  const body = resolved(document, schema);
  return html`<h4>Body: ${typeOf(schema, schemaLink)}</h4>${fieldTable(requestFields(body))}${readOnlyFields(body)}`;
}

const responseTables = (document: OpenApi, { responses }: Operation) =>
  Object.entries(responses)
    .filter(([status]) => Number(status) < 400)
    .map(([status, { content = {}, 'x-media-types': formats = [] }]) => {
      const schema = jsonSchema(content);
      if (!schema) return html`<p class="facts">Returns <code>${status}</code> without a body.</p>`;
      return html`<details class="more"><summary>Response <code>${status}</code> ${describeBody(schema)}</summary>
${schema.$ref && html`<p class="facts">See ${typeOf(schema, schemaLink)} for details of each field.</p>`}
${formats.length > 0 && html`<p class="facts">Also available as ${separated(formats, ' and ')}, rows only.</p>`}
${exampleBlock(exampleValue(document, schema))}
${fieldTable(responseFields(resolved(document, schema)), briefRow)}</details>`;
    });

/** An event that a webhook receives. */
export const eventEntry = (document: OpenApi, event: WebhookEvent) => html`
<section class="entry event" id="${event.id}" data-filter="webhook event ${event.type} ${event.id} ${event.summary}">
<div class="about"><h3><a href="#${event.id}">${breakable(event.type)}</a></h3>
<p>${prose(event.summary)}</p>
<details class="more"><summary>Body ${typeOf(event.body, (name) => name)}</summary>
<p class="facts">See ${typeOf(event.body, schemaLink)} for details of each field.</p>
${exampleBlock(exampleEvent(document, event))}</details></div>
</section>`;

const exampleBlock = (value: unknown) =>
  html`<h4>Example</h4><pre><code>${JSON.stringify(value, null, 2)}</code></pre>`;

const describeBody = (schema: Schema) => typeOf(schema.properties?.data ?? schema, (name) => name);

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
