import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { notFound, Problem, type ProblemCode, problems } from '../core/errors.ts';
import { Strict } from '../core/schemas.ts';
import { createPacer } from '../formats/pace.ts';
import type { App } from '../http/fastify.ts';
import { contentEtag, sendWithEtag } from '../http/response/etag.ts';
import { readOpenapiFile } from '../http/response/openapi-file.ts';
import { findConsole, notBuilt, sendConsole, sendFile } from './console.ts';
import { type Fragment, framed, type Html, html, pageHeaders, prose, type Site, siteAt } from './html.ts';
import type { OpenApi } from './openapi-document.ts';
import { referenceContents, referenceMain } from './reference.ts';
import { filterScript } from './reference-filter.ts';
import { problemTable } from './reference-operations.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Sends a page to a browser for a path that does not exist; undefined without a built console. */
    sendNotFoundPage(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined;
  }
}

const config = { access: 'public' } as const;
const hidden = { config, schema: { hide: true } };

/** The routes of the console. Each returns the same page. */
const consolePaths = [
  '/',
  '/overview',
  ...['/risks', '/issues', '/tasks', '/projects', '/personnel', '/groups', '/webhooks'].flatMap((path) => [
    path,
    `${path}/:id`,
  ]),
  '/report',
  '/reports/:id',
  '/keys',
  '/sign-in',
  '/invitation',
  '/set-up',
  '/account',
  '/access',
  '/audit',
  '/settings',
  '/settings/:id',
];

/** The pages for browsers: the console, the API reference and a page for each error code. */
export function pageRoutes(app: App): void {
  const send = pageSender(() => site());
  const site = () => siteAt(app.baseUrl, findConsole()?.fontFaces);

  // Read before the first client connects, because clients can use up all file descriptors.
  app.addHook('onListen', async () => void findConsole());
  for (const path of consolePaths) {
    app.get(path, hidden, (request, reply) => {
      const console = findConsole();
      if (console) return sendConsole(request, reply, console, site());
      return send(request, reply, '/', () =>
        framed(site(), { title: 'Muster', path: '/', main: notBuilt(site()) }),
      );
    });
  }

  // A browser that follows a wrong link gets a page instead of a problem document.
  app.decorate('sendNotFoundPage', (request, reply) => {
    const console = findConsole();
    return console && sendConsole(request, reply.code(404), console, site());
  });

  app.get(
    '/assets/:name',
    { config, schema: { hide: true, params: Strict({ name: Type.String() }) } },
    (request, reply) => {
      const file = findConsole()?.files.get(request.params.name);
      if (!file) throw notFound('file', request.params.name);
      return sendFile(request, reply, file);
    },
  );

  app.get('/docs', hidden, (request, reply) => send(request, reply, '/docs', () => docsPage(site())));

  app.get('/docs/filter.js', hidden, (request, reply) => {
    reply.header('cache-control', 'no-cache').type('text/javascript; charset=utf-8');
    return sendWithEtag(request, reply, filterTag, filterScript);
  });

  app.get('/problems', hidden, (request, reply) =>
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
          `There is no error code ${code}. See ${app.baseUrl}/problems for all codes.`,
        );
      }
      return send(request, reply, `/problems/${code}`, () => problemPage(code, site()));
    },
  );
}

/** Renders each page once, on the first request, because pages change only with the program. */
function pageSender(site: () => Site) {
  const cachedPages = new Map<string, ReturnType<typeof prepare>>();
  return async (
    request: FastifyRequest,
    reply: FastifyReply,
    path: string,
    render: () => Html | Promise<Html>,
  ) => {
    const cached = cachedPages.get(path) ?? prepare(render(), site());
    cachedPages.set(path, cached);
    const page = await cached;
    reply.headers(page.headers).header('cache-control', 'no-cache').type('text/html; charset=utf-8');
    return sendWithEtag(request, reply, page.tag, page.text);
  };
}

async function prepare(page: Html | Promise<Html>, site: Site) {
  const { markup } = await page;
  return { text: markup, tag: contentEtag(markup), headers: pageHeaders(site) };
}

const filterTag = contentEtag(filterScript);

const isProblemCode = (code: string): code is ProblemCode => Object.hasOwn(problems, code);

/** Yields to the event loop between the pieces of the page. */
async function docsPage(site: Site): Promise<Html> {
  const document: OpenApi = JSON.parse(readOpenapiFile());
  const pause = createPacer();
  const contents = referenceContents(document);
  const main: Fragment[] = [];
  for (const piece of referenceMain(document, site)) {
    main.push(piece);
    await pause();
  }
  return framed(site, { title: 'API reference', path: '/docs', contents, main, script: '/docs/filter.js' });
}

const problemsPage = (site: Site) =>
  framed(site, {
    title: 'Errors',
    path: '/problems',
    main: html`<h1>Errors</h1>
<p class="lead">Every error response is <code>application/problem+json</code> with one of these codes. A code
always has the same status and meaning, so programs can rely on it; <code>detail</code> is for people.</p>
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
<h2>Response</h2>
<p>The status is <code>${status}</code>. The body has at least these fields, and a <code>detail</code> about the
request:</p>
<pre><code>${JSON.stringify(example, null, 2)}</code></pre>
<p><a href="${site.link('/problems')}">All errors</a></p>`,
  });
};
