import { limits } from '../core/schemas.ts';
import { scopes } from '../resources/keys/schema.ts';
import { codes } from './fragments.ts';
import { type Fragment, html, prose, type Site } from './html.ts';
import { groupsOf, type OpenApi, schemasOf } from './openapi-document.ts';
import { methodLabel, operationEntry } from './reference-operations.ts';
import { schemaEntry } from './reference-schemas.ts';

/** The table of contents. */
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
      '`application/problem+json` with a `code` that never changes its meaning. All errors are in `errors` at once.',
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

const tagTitle = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;

const tagAnchor = (name: string) => `#tag-${name}`;
