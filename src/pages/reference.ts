import { limits } from '../core/schemas.ts';
import { scopes } from '../core/scopes.ts';
import { capitalized } from '../core/text.ts';
import { codes, type Fragment, html, prose, type Site } from './html.ts';
import { eventsOf, groupsOf, type OpenApi, schemasOf, usesOfSchemas } from './openapi-document.ts';
import { eventEntry, methodLabel, operationEntry } from './reference-operations.ts';
import { schemaEntry } from './reference-schemas.ts';

/** The table of contents, and the filter, which the script shows. */
export const referenceContents = (
  document: OpenApi,
) => html`<nav class="contents" aria-label="On this page" tabindex="0">
<search class="filter" hidden><label for="filter">Filter operations and events</label>
<div><input id="filter" type="search" autocomplete="off" spellcheck="false" placeholder="POST risks" aria-describedby="filter-count">
<kbd aria-hidden="true">/</kbd></div>
<p id="filter-count" class="quiet" role="status"></p></search>
<details><summary>Contents</summary>
<ul class="unfiltered">${['Introduction', 'Authentication', 'Conventions'].map(
  (title, index) =>
    html`<li><a${index === 0 && html` class="group"`} href="#${title.toLowerCase()}">${title}</a></li>`,
)}</ul>
${groupsOf(document).map(
  ({ name, operations }) => html`<ul><li><a class="group" href="#tag-${name}">${capitalized(name)}</a></li>
${operations.map(
  ({ operationId, method, summary }) =>
    html`<li><a href="#${operationId}" title="${summary}">${methodLabel(method)} ${operationId}</a></li>`,
)}</ul>`,
)}
<ul><li><a class="group" href="#webhook-events">Webhook events</a></li>
${eventsOf(document).map(
  ({ id, type, summary }) => html`<li><a href="#${id}" title="${summary}">${type}</a></li>`,
)}</ul>
<ul class="unfiltered"><li><a class="group" href="#schemas">Schemas</a></li>
${schemasOf(document).map(([name]) => html`<li><a href="#schema-${name}">${name}</a></li>`)}</ul>
</details></nav>`;

/** The whole API on one page, in pieces: rendering all of it takes too long for one turn of the event loop. */
export function* referenceMain(document: OpenApi, site: Site): Generator<Fragment> {
  yield introduction(document, site);
  yield html`<p id="no-match" class="lead" hidden></p>`;
  for (const { name, description, operations } of groupsOf(document)) {
    yield sectionStart(`tag-${name}`, capitalized(name), description);
    for (const operation of operations) yield operationEntry(document, operation, site);
    yield sectionEnd;
  }
  yield sectionStart('webhook-events', 'Webhook events', webhookIntroduction);
  for (const event of eventsOf(document)) yield eventEntry(document, event);
  yield sectionEnd;
  const uses = usesOfSchemas(document);
  yield sectionStart(
    'schemas',
    'Schemas',
    'The objects in request and response bodies.',
    'tag schemas unfiltered',
  );
  for (const [name, schema] of schemasOf(document)) yield schemaEntry(name, schema, uses.get(name));
  yield sectionEnd;
}

const sectionStart = (id: string, title: string, description: string, className = 'tag') => html`
<section class="${className}" id="${id}"><h2><a href="#${id}">${title}</a></h2>
<p>${prose(description)}</p>`;
const sectionEnd = html`
</section>`;

const webhookIntroduction =
  'The requests that a webhook receives: a `POST` to its URL for each event of its types, signed as Standard Webhooks ' +
  'defines. Respond with any status from 200 to 299 to confirm an event.';

const introduction = ({ info }: OpenApi, site: Site) => html`<h1 id="introduction">API reference</h1>
<div class="intro unfiltered">
<p class="lead">${prose(info.description)}</p>
<p>All paths start at <code>${site.baseUrl}</code>. This is version ${info.version}. The same
specification for tools: <a href="${site.link('/v1/openapi.json')}">openapi.json</a>.</p>
<h2 id="authentication">Authentication</h2>
<p>Send an API key with each request: <code>Authorization: Bearer &lt;API_KEY&gt;</code>. Keys start with
<code>mst_</code>. The service prints one when it first starts; its operator creates more with
<code>muster keys create</code>. The examples below read your key from a shell variable:</p>
<pre><code>API_KEY=mst_…</code></pre>
<p>A key has scopes, and each operation lists the one it requires. A <code>.manage</code> scope also
grants the <code>.read</code> scope of the same area; nothing else is implied.
<a href="#getMe">GET /v1/me</a> returns the scopes of a key. The scopes are ${codes(scopes, ', ')}.</p>
<h2 id="conventions">Conventions</h2>
<dl class="conventions">
${Object.entries(conventions(site)).map(
  ([title, text]) => html`<dt>${title}</dt><dd>${typeof text === 'string' ? prose(text) : text}</dd>`,
)}</dl>
</div>`;

/** Texts in which backticks are code, by title. */
const conventions = (site: Site): Record<string, Fragment> => ({
  'Complete by default':
    'A list without `limit` contains all rows of one snapshot. Nothing is truncated silently.',
  'Paged on request':
    `With \`limit\` (1 to ${limits.page_rows}) the response is one page. Send its \`page.next_cursor\` as ` +
    '`cursor`, or follow `Link: <…>; rel="next"`, until `page.has_more` is false. No row is skipped or ' +
    'repeated.',
  Strict:
    'Unknown query parameters and fields are rejected with a suggestion for the right name. ' +
    `A list parameter accepts up to ${limits.filter_values} values, separated by commas.`,
  Formats:
    'JSON. Lists are also available with `Accept: text/csv` and `Accept: application/x-ndjson`. A list in JSON is ' +
    '`{"data": […], "page": {…}, "meta": {…}}`; `meta.filters` contains the applied filters, including defaults.',
  Errors: html`${prose('`application/problem+json` with a stable `code`. `errors` contains all validation errors at once.')}
<a href="${site.link('/problems')}">Each code has a page</a> that explains what to do.`,
  Caching:
    'Resources and lists have an `ETag`. Send it back as `If-None-Match` to get `304` without a body if nothing ' +
    'has changed.',
  'Rate limits':
    'Each key has a number of requests per minute; the `RateLimit` header contains the rest. Further requests get ' +
    '`429` with `Retry-After`. A `304` does not count.',
  Values:
    'Times are UTC such as `2026-11-15T09:30:00.000Z`, dates such as `2026-11-15`. Today is the day in the time ' +
    'zone of the organization, which `GET /v1/me` returns. A missing value is `null`, never an empty string. IDs ' +
    'are opaque and never reused; projects, risks and issues also have keys such as `APOLLO-R7`.',
});
