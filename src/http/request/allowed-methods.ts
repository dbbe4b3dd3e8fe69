import type { FastifyInstance } from 'fastify';
import { idPattern, normalizeKey } from '../../core/ids.ts';

/** Records the methods of each path. */
export function recordRoutes(app: FastifyInstance): void {
  app.decorate('routeTable', new Map());
  app.addHook('onRoute', ({ url, method }) => {
    const methods = app.routeTable.get(url) ?? new Set(['OPTIONS']);
    app.routeTable.set(url, new Set([...methods, ...[method].flat()]));
  });
  // `POST …/import` has its own route; for other methods the router would match `import` as an id.
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

/** The methods of a path, for `Allow`; empty if the path does not exist. Those of `*` are all methods of the API. */
export function allowedMethods({ routeTable }: FastifyInstance, path: string): string[] {
  if (path === '*') return [...new Set([...routeTable.values()].flatMap((methods) => [...methods]))].sort();
  const matching = [...routeTable].filter(([url]) =>
    new RegExp(`^${url.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`).test(path),
  );
  const [closest] = matching.sort(([a], [b]) => countParameters(a) - countParameters(b));
  return [...(closest?.[1] ?? [])].sort();
}

const countParameters = (url: string) => url.split(':').length;

/**
 * The path under a project that supports writes, for a path of the read-only lists across projects. It depends on the text
 * alone, so it does not reveal whether the item exists.
 */
export function writablePath(path: string): string | undefined {
  const [, list, ref] = /^\/v1\/(risks|issues|tasks)(?:\/([^/]+))?$/.exec(path) ?? [];
  if (list === undefined) return undefined;
  const kind = list.slice(0, -1) as 'risk' | 'issue' | 'task';
  if (ref === undefined) return `/v1/projects/{project_id}/${list}`;
  if (new RegExp(idPattern(kind)).test(ref)) return `/v1/projects/{project_id}/${list}/${ref}`;
  const [key, project] = new RegExp(`^([A-Z0-9]{2,10})-${kind[0]}[1-9][0-9]{0,9}$`, 'i').exec(ref) ?? [];
  return key && project && `/v1/projects/${normalizeKey(project)}/${list}/${normalizeKey(key)}`;
}
