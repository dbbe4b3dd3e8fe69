import type { FastifyInstance } from 'fastify';

/** Remembers which methods each path takes. */
export function recordRoutes(app: FastifyInstance): void {
  app.decorate('routeTable', new Map());
  app.addHook('onRoute', ({ url, method }) => {
    const methods = app.routeTable.get(url) ?? new Set(['OPTIONS']);
    app.routeTable.set(url, new Set([...methods, ...[method].flat()]));
  });
  // With another method the router would take `import`, which has a route of its own, for an id.
  app.addHook('onRequest', (request, reply, done) => {
    const { url = '' } = request.routeOptions;
    if (
      endsWithParameter.test(url) &&
      app.routeTable.has(url.replace(endsWithParameter, lastWord(request.url)))
    ) {
      reply.callNotFound();
    } else done();
  });
}

const endsWithParameter = /:\w+$/;

const lastWord = (url: string) => url.split('?', 1)[0]?.split('/').at(-1) ?? '';

/** The methods that any path takes. */
export const allAllowedMethods = (app: FastifyInstance): string[] =>
  [...new Set([...app.routeTable.values()].flatMap((methods) => [...methods]))].sort();

/** The methods that a path takes, for `Allow`; none for a path that does not exist. */
export function allowedMethods(app: FastifyInstance, path: string): string[] {
  const matching = [...app.routeTable].filter(([url]) =>
    new RegExp(`^${url.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`).test(path),
  );
  const [closest] = matching.sort(([a], [b]) => parametersIn(a) - parametersIn(b));
  return [...(closest?.[1] ?? [])].sort();
}

const parametersIn = (url: string) => url.split(':').length;
