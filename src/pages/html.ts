import { hash } from 'node:crypto';
import { version } from '../core/version.ts';

/** Safe markup. Templates escape every value that is not an instance of this class. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

export type Fragment = Html | string | number | undefined | false | readonly Fragment[];

export const html = (texts: TemplateStringsArray, ...values: Fragment[]) =>
  new Html(String.raw({ raw: texts }, ...values.map(markupOf)));

function markupOf(value: Fragment): string {
  if (value instanceof Html) return value.markup;
  if (value === undefined || value === false) return '';
  if (typeof value === 'object') return value.map(markupOf).join('');
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Renders `backticks` in a text as code. */
export const prose = (text: string): Fragment =>
  text.split(/`([^`]+)`/).map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));

export const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

/** A value as written in a URL: items of a list are separated by commas. */
export const inUrl = (value: unknown) => (Array.isArray(value) ? value.map(shown).join(',') : value);

export const codes = (values: readonly unknown[], by: string) =>
  separated(
    values.map((value) => html`<code>${shown(value)}</code>`),
    by,
  );

/** Long names and paths may wrap between their parts. */
export const breakable = (text: string, at = /(?<=[_.])|(?=\/)/) => separated(text.split(at), html`<wbr>`);

export const separated = (parts: readonly Fragment[], by: Fragment): Fragment[] =>
  parts.flatMap((part, index) => (index === 0 ? [part] : [by, part]));

/** The base URL for clients, a function for links that work on any host, and the style sheet of the pages. */
export type Site = { baseUrl: string; link(path: string): string; style: string };

/** `fontFaces` are the rules of the console's fonts, with URLs relative to its assets. */
export function siteAt(baseUrl: string, fontFaces = ''): Site {
  const basePath = (URL.parse(baseUrl)?.pathname ?? '').replace(/\/$/, '');
  const link = (path: string) => `${basePath}${path}`;
  const fonts = fontFaces.replace(/url\(\.?\/?([^)]+)\)/g, (_, name) => `url(${link(`/assets/${name}`)})`);
  return { baseUrl, link, style: `${fonts}${stylesheet}` };
}

type Page = { title: string; path: string; main: Fragment; contents?: Fragment; script?: string };

/** Wraps a page in the common layout: head, navigation and stylesheet. */
export const framed = (site: Site, { title, path, main, contents, script }: Page) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title === 'Muster' ? title : `${title} · Muster`}</title>
<link rel="icon" href="${icon}">
<style>${new Html(site.style)}</style>
${script && html`<script defer src="${site.link(script)}"></script>`}
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="top">
<a class="brand" href="${site.link('/')}">
<img src="${icon}" alt="" width="22" height="22">Muster <small>${version}</small></a>
<nav aria-label="Pages">${destinations.map(
  ([target, name]) =>
    html`<a href="${site.link(target)}"${
      path.startsWith(target) && html` aria-current="${path === target ? 'page' : 'true'}"`
    }>${name}</a>`,
)}</nav>
</header>
<div class="${contents ? 'body with-contents' : 'body'}">${contents}
<main id="main" tabindex="-1">${main}</main></div>
</body>
</html>
`;

const destinations = [
  ['/docs', 'API reference'],
  ['/problems', 'Errors'],
  ['/v1/openapi.json', 'OpenAPI'],
] as const;

const icon = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">' +
    '<rect width="16" height="16" rx="4" fill="#4353d0"/>' +
    '<path d="M4 12V7M8 12V4M12 12V9" stroke="#fff" stroke-width="2" stroke-linecap="round"/></svg>',
)}`;

/** The colors, the font and the logo are those of the console (`web/src/styles/tokens.css`). */
const stylesheet = `
:root {
  color-scheme: light dark;
  --text: light-dark(#1a1d24, #e7e9ee); --quiet: light-dark(#565d6b, #a1aab9);
  --line: light-dark(#e3e6ec, #272c35); --field: light-dark(#868d9b, #6b7484); --paper: light-dark(#fcfcfd, #0f1115);
  --panel: light-dark(#f3f4f7, #1b1f26); --code: light-dark(#eef0f4, #20252d);
  --link: light-dark(#3b49b8, #a3aeff); --glow: light-dark(#eceefb, #232848);
  --mark: light-dark(#9a3d05, #ffb180);
  --get: light-dark(#176648, #7fd6ae); --get-back: light-dark(#dcf2e8, #16352b);
  --post: light-dark(#3b49b8, #a3aeff); --post-back: light-dark(#eceefb, #232848);
  --put: light-dark(#735500, #ecc75f); --put-back: light-dark(#faf0c9, #37300f);
  --patch: light-dark(#662bad, #cdaaf7); --patch-back: light-dark(#f0e6fc, #2d2143);
  --delete: light-dark(#a8101f, #ff9d9f); --delete-back: light-dark(#fde2e3, #4a181d);
  --mono: ui-monospace, 'SF Mono', 'Cascadia Code', Menlo, Consolas, 'Liberation Mono', monospace;
}
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; scroll-padding-top: 1rem; }
body {
  margin: 0; color: var(--text); background: var(--paper); overflow-wrap: break-word;
  font: 1rem/1.55 'Inter Variable', system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial,
    'Liberation Sans', sans-serif;
}
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: .18em; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px; }
main:focus { outline: none; }
.skip { position: absolute; left: -999rem; padding: .5rem 1rem; background: var(--paper); }
.skip:focus { left: .5rem; top: .5rem; z-index: 1; }

.top {
  display: flex; flex-wrap: wrap; gap: .25rem 1.75rem; align-items: center;
  padding: .7rem 1.5rem; border-bottom: 1px solid var(--line);
}
.top a { color: var(--quiet); text-decoration: none; }
.top a:hover, .top a[aria-current] { color: var(--text); }
.top a[aria-current] { box-shadow: 0 2px var(--link); }
.top nav { display: flex; gap: 1.25rem; font-size: .9rem; }
.top .brand { display: inline-flex; gap: .55rem; align-items: center; color: var(--text); font-weight: 650; }
.brand small { color: var(--quiet); font-weight: 400; font-size: .8rem; }

[hidden] { display: none !important; }
.body { max-width: 46rem; margin: 0 auto; padding: 2rem 1.5rem 5rem; }
.with-contents { display: grid; grid-template-columns: minmax(0, 1fr); max-width: 92rem; padding: 0; }
.with-contents main { padding: 2rem 1.5rem 5rem; }

h1, h2, h3, h4 { line-height: 1.25; margin: 0; text-wrap: balance; }
h1 { font-size: 1.9rem; letter-spacing: -.02em; }
h2 { font-size: 1.4rem; letter-spacing: -.01em; margin-top: 2.75rem; }
h3 { font-size: 1.12rem; }
h4 { font-size: .88rem; margin: 1.6rem 0 .25rem; }
p, ol, ul, dl, pre, table, details { margin: .6rem 0; }
.lead { font-size: 1.1rem; color: var(--quiet); max-width: 42rem; }
.lead + table { margin-top: 1.5rem; }
.quiet { color: var(--quiet); }
ol { padding-left: 1.4rem; }
li { margin: .4rem 0; }

code, pre { font-family: var(--mono); font-size: .855em; font-variant-ligatures: none; }
code { padding: .1em .32em; border-radius: 4px; background: var(--code); overflow-wrap: anywhere; }
pre {
  padding: .8rem 1rem; border: 1px solid var(--line); border-radius: 8px; background: var(--panel);
  white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.6;
}
pre code { padding: 0; background: none; font-size: 1em; }
.unbroken { white-space: pre; }
.once code { display: block; -webkit-user-select: all; user-select: all; }

table { width: 100%; border-collapse: collapse; font-size: .9rem; }
th, td {
  padding: .5rem 1rem .5rem 0; border-bottom: 1px solid var(--line);
  text-align: left; vertical-align: top; font-weight: 400;
}
thead th { padding: .25rem 1rem .25rem 0; color: var(--quiet); font-size: .78rem; }
th:last-child, td:last-child { padding-right: 0; }

.conventions { display: grid; grid-template-columns: 10rem minmax(0, 1fr); gap: .55rem 1.5rem; }
.conventions dt { font-weight: 600; }
.conventions dd { margin: 0; }

.method { font: 600 .72rem/1.5 var(--mono); letter-spacing: .03em; }
.badge { padding: .16rem .5rem; border-radius: 5px; }
.get { color: var(--get); } .badge.get { background: var(--get-back); }
.post { color: var(--post); } .badge.post { background: var(--post-back); }
.put { color: var(--put); } .badge.put { background: var(--put-back); }
.patch { color: var(--patch); } .badge.patch { background: var(--patch-back); }
.delete { color: var(--delete); } .badge.delete { background: var(--delete-back); }

.contents { padding: .25rem 1.5rem; border-bottom: 1px solid var(--line); font-size: .88rem; }
.contents ul { list-style: none; margin: 0 0 1rem; padding: 0; }
.contents li { margin: 0; }
.contents a {
  display: flex; gap: .55rem; align-items: baseline; margin: 0 -.5rem; padding: .17rem .5rem;
  border-radius: 5px; color: var(--quiet); text-decoration: none;
}
.contents a:hover { color: var(--text); background: var(--code); }
.contents .group { color: var(--text); font-weight: 600; }
.contents .method { flex: none; width: 2.9rem; font-size: .66rem; }
.contents summary { font-weight: 600; }
.filter { margin: .5rem 0; }
.filter label { display: block; margin-bottom: .3rem; font-weight: 600; }
.filter div { position: relative; }
.filter input {
  width: 100%; padding: .4rem 2.2rem .4rem .6rem; border: 1px solid var(--field); border-radius: 6px;
  color: inherit; background: var(--paper); font: inherit; font-size: 1rem;
}
.filter input::placeholder { color: var(--quiet); opacity: 1; }
.filter kbd {
  position: absolute; right: .5rem; top: 50%; translate: 0 -50%; padding: 0 .4rem; border: 1px solid var(--line);
  border-radius: 4px; color: var(--quiet); font: .78rem var(--mono); pointer-events: none;
}
.filter input:not(:placeholder-shown) + kbd, .filter input:focus + kbd { display: none; }
.filter p { min-height: 1.55em; margin: .2rem 0 0; }

summary { padding: .35rem 0; cursor: pointer; }
summary > code { margin-right: .25em; }
section.tag { margin-top: 3.5rem; padding-top: 1.5rem; border-top: 2px solid var(--line); }
section.tag > h2 { margin-top: 0; }
.intro[hidden] ~ section.tag { margin-top: 2rem; }
.entry { margin-top: 2rem; padding-top: 1.6rem; border-top: 1px solid var(--line); }
h2 a, h3 a { color: inherit; text-decoration: none; }
h2 a:hover, h3 a:hover { text-decoration: underline; }
.entry:target h3, section.tag:target > h2 {
  width: fit-content; border-radius: 2px; background: var(--glow); box-shadow: 0 0 0 .35rem var(--glow);
}
.request { display: flex; flex-wrap: wrap; gap: .35rem .6rem; align-items: baseline; margin: .5rem 0; }
.request .path { padding: 0; background: none; font-size: .92rem; }
.path var { color: var(--mark); font-style: normal; }
.facts { color: var(--quiet); font-size: .88rem; }
.example h4 { margin-top: .6rem; }
.example pre { margin-top: .35rem; padding: .7rem .85rem; font-size: .79rem; }
.more { font-size: .9rem; border-bottom: 1px solid var(--line); margin: 0; }
.more:first-of-type { margin-top: 1.2rem; }
.more table { margin: 0 0 .8rem; font-size: 1em; }
.more tr:last-child > * { border-bottom: 0; }

.event { margin-top: 1rem; padding-top: 1rem; }
.event .more { border: 0; margin-top: 0; }
.event p { margin: .2rem 0; }

.problems code { overflow-wrap: normal; }
.fields tbody th { width: 27%; }
.fields td:nth-child(2) { width: 27%; }
.fields th code { padding: 0; background: none; font-weight: 600; font-size: .9em; }
.fields small { display: block; color: var(--quiet); font-size: .86em; }
.fields th small { color: var(--mark); }
.fields p { margin: 0; }
.fields p + p { margin-top: .2rem; }
.fields .quiet code { color: inherit; }

@media (min-width: 62rem) {
  .with-contents { grid-template-columns: 17rem minmax(0, 1fr); }
  .with-contents main { padding: 2rem 2.5rem 6rem; }
  .contents {
    position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto;
    padding: 1.75rem 1.5rem; border: 0;
  }
  .with-contents main { border-left: 1px solid var(--line); }
  /* Always open on wide screens. Browsers without ::details-content keep the toggle. */
  @supports selector(::details-content) {
    .contents summary { display: none; }
    .contents details::details-content { content-visibility: visible; display: block; block-size: auto; }
  }
}
@media (min-width: 80rem) {
  .operation { display: grid; grid-template: auto 1fr / minmax(0, 1fr) 25rem; column-gap: 2.5rem; }
  .operation > * { grid-column: 1; }
  .operation > .example { grid-area: 1 / 2 / span 2; position: sticky; top: 1rem; align-self: start; }
  .intro, .schemas, .event { max-width: 56rem; }
}
@media (min-width: 96rem) { .operation { grid-template-columns: minmax(0, 1fr) 28rem; } }
@media (max-width: 40rem) {
  .top { padding: .7rem 1rem; }
  .body:not(.with-contents), .with-contents main { padding: 1.5rem 1rem 4rem; }
  .contents { padding: .25rem 1rem; }
  h1 { font-size: 1.6rem; }
  .conventions { grid-template-columns: minmax(0, 1fr); gap: 0; }
  .conventions dd { margin-bottom: .7rem; }
  .fields thead { position: absolute; left: -999rem; }
  .fields, .fields tbody, .fields tr, .fields td, .fields tbody th { display: block; width: auto; }
  .fields tr { padding: .55rem 0; border-bottom: 1px solid var(--line); }
  .fields td, .fields tbody th { padding: 0; border: 0; }
  .fields td:nth-child(2) { width: auto; }
  .fields small { display: inline; margin-left: .35em; }
}
@media print {
  :root { color-scheme: only light; }
  body { font-size: 10pt; }
  .contents, .top nav, .skip { display: none; }
  .body, .with-contents main { max-width: none; padding: 0; border: 0; }
  .with-contents, .operation { display: block; }
  .operation > .example { position: static; }
  details::details-content { content-visibility: visible; display: block; block-size: auto; }
  h2, h3, h4, summary { break-after: avoid; }
  tr, pre { break-inside: avoid; }
}
`;

/** Allows this style sheet, its fonts, inline images and scripts of this host: no inline scripts, no other hosts, no frames. */
export const pageHeaders = ({ style }: Site) => ({
  'content-security-policy':
    `default-src 'none'; script-src 'self'; style-src 'sha256-${hash('sha256', style, 'base64')}'; font-src 'self'; ` +
    'img-src data:; ' +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
});
