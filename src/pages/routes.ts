import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { Problem, type ProblemCode, problems } from '../errors.ts';
import { contentTag, sendUnlessKnown } from '../http/conditions.ts';
import type { App } from '../http/fastify.ts';
import { Strict } from '../schemas.ts';
import { framed, type Html, html, pageHeaders, prose, type Site, siteAt } from './html.ts';
import {
  commandMarkup,
  type OpenApi,
  problemTable,
  quoted,
  referenceContents,
  referenceMain,
  tagAnchor,
  tagTitle,
} from './reference.ts';

const config = { access: 'public' } as const;

/** The pages people see in a browser: welcome, reference, and what each error means. */
export function pageRoutes(app: App): void {
  const send = pageSender();
  const site = () => siteAt(app.baseUrl);
  const document = () => app.swagger() as unknown as OpenApi;

  app.get('/', { config, schema: { hide: true } }, (request, reply) =>
    send(request, reply, '/', () => welcomePage(document(), site())),
  );

  app.get('/docs', { config, schema: { hide: true } }, (request, reply) =>
    send(request, reply, '/docs', () => docsPage(document(), site())),
  );

  app.get('/problems', { config, schema: { hide: true } }, (request, reply) =>
    send(request, reply, '/problems', () => problemsPage(site())),
  );

  app.get(
    '/problems/:code',
    { config, schema: { hide: true, params: Strict({ code: Type.String() }) } },
    (request, reply) => {
      const { code } = request.params;
      if (!isProblemCode(code)) {
        throw new Problem(
          'not_found',
          `There is no error code ${code}. All are listed at ${app.baseUrl}/problems.`,
        );
      }
      return send(request, reply, `/problems/${code}`, () => problemPage(code, site()));
    },
  );
}

/** Pages change only with the program, so each is made once, when it is first asked for. */
function pageSender() {
  const made = new Map<string, { text: string; tag: string }>();
  return (request: FastifyRequest, reply: FastifyReply, path: string, make: () => Html) => {
    const page = made.get(path) ?? withTag(make());
    made.set(path, page);
    reply.headers(pageHeaders).header('cache-control', 'no-cache').type('text/html; charset=utf-8');
    return sendUnlessKnown(request, reply, page.tag, page.text);
  };
}

const withTag = ({ markup }: Html) => ({ text: markup, tag: contentTag(markup) });

const isProblemCode = (code: string): code is ProblemCode => Object.hasOwn(problems, code);

const welcomePage = ({ info, tags }: OpenApi, site: Site) =>
  framed(site, {
    title: 'Muster',
    path: '/',
    main: html`<h1>Muster</h1>
<p class="lead">${prose(info.description)}</p>
<h2>Make the first call</h2>
<ol>
<li>Get a key. The first start of the service prints one. Whoever runs the service makes others:
<pre class="once"><code>muster keys create --name me --scopes all</code></pre></li>
<li>Keep it in your shell, and ask for everyone on the roster:
<pre><code>API_KEY=mst_…
${commandMarkup(firstCall(site))}</code></pre></li>
<li>Go on with the <a href="${site.link('/docs')}">API reference</a>, where every operation has an example
to paste, or give <a href="${site.link('/v1/openapi.json')}">openapi.json</a> to a tool.</li>
</ol>
<h2>What is here</h2>
<dl class="conventions">${tags.map(
      ({ name, description }) =>
        html`<dt><a href="${site.link(`/docs${tagAnchor(name)}`)}">${tagTitle(name)}</a></dt>
<dd>${prose(description)}</dd>`,
    )}</dl>
<p>A request that is refused says why and what to do; <a href="${site.link('/problems')}">every error</a> has a
page of its own.</p>`,
  });

const firstCall = ({ baseUrl }: Site) =>
  `curl ${quoted(`${baseUrl}/v1/personnel`)} \\\n  -H "Authorization: Bearer $API_KEY"`;

const docsPage = (document: OpenApi, site: Site) =>
  framed(site, {
    title: 'API reference',
    path: '/docs',
    contents: referenceContents(document),
    main: referenceMain(document, site),
  });

const problemsPage = (site: Site) =>
  framed(site, {
    title: 'Errors',
    path: '/problems',
    main: html`<h1>Errors</h1>
<p class="lead">Every error is answered as <code>application/problem+json</code> with one of these codes. A code
never changes its status or its meaning, so a program can rely on it; <code>detail</code> is for people.</p>
${problemTable(Object.keys(problems) as ProblemCode[], site)}`,
  });

const problemPage = (code: ProblemCode, site: Site) => {
  const { status, title, help } = problems[code];
  const example = { type: `${site.baseUrl}/problems/${code}`, title, status, code };
  return framed(site, {
    title,
    path: `/problems/${code}`,
    main: html`<p class="quiet"><code>${code}</code></p>
<h1>${title}</h1>
<p class="lead">${prose(help)}</p>
<h2>How to tell</h2>
<p>The status is <code>${status}</code>, and the body has at least this, with a <code>detail</code> about the
very request:</p>
<pre><code>${JSON.stringify(example, null, 2)}</code></pre>
<p><a href="${site.link('/problems')}">All errors</a></p>`,
  });
};
