import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines, type TestService } from '../../../test/service.ts';
import { grants, presets, type Scope } from '../../core/scopes.ts';
import type { Access } from './auth.ts';

type Route = { method: string; path: string; access: Access };

/** Somebody who sends a request: how, and with which scopes. */
type Sender = {
  name: string;
  scopes: readonly Scope[];
  isPerson: boolean;
  key?: string;
  headers: Record<string, string>;
};

const sameOrigin = { 'sec-fetch-site': 'same-origin' };

/**
 * Every route with nobody, a viewer, an editor who is limited to a project, an administrator and a key: who is let in is what
 * the route declares. The requests name nothing that exists, so those that are let in fail for another reason.
 */
onBothEngines('the access matrix', (start) => {
  test('lets in people and keys as each route declares', async (t) => {
    const service = await start(t);
    await service.make('/v1/projects', await service.key(), { name: 'Apollo' });
    const senders = await createSenders(service);
    const routes = routesOf(service);
    assert.ok(routes.length > 140, String(routes.length));
    assert.ok(routes.some(({ access }) => access === 'person'));
    for (const { method, path, access } of routes) {
      for (const sender of senders) {
        const { status, body } = await service.call(method, path, sender.key, undefined, sender.headers);
        const where = `${method} ${path} as ${sender.name}: ${status} ${body?.code ?? ''}`;
        assert.ok(status < 500, where);
        assert.equal(reasonOf(status, body?.code), expected(access, sender), where);
      }
    }
  });
});

/** Why a request was not let in. That the way to sign in is too old, or the limit to projects, comes after that. */
function reasonOf(status: number, code: string): string | undefined {
  if (status === 401) return 'unauthenticated';
  return ['insufficient_scope', 'person_required', 'cross_origin'].includes(code) ? code : undefined;
}

function expected(access: Access, { scopes, isPerson, key }: Sender): string | undefined {
  if (access === 'public') return undefined;
  if (!isPerson && key === undefined) return 'unauthenticated';
  if (access === 'person') return isPerson ? undefined : 'person_required';
  return access === 'any' || grants(scopes, access) ? undefined : 'insufficient_scope';
}

async function createSenders(service: TestService): Promise<Sender[]> {
  const person = async (name: string, scopes: readonly Scope[], projects: string[] | null = null) => {
    const { headers } = await service.member([...scopes], projects);
    return { name, scopes, isPerson: true, headers };
  };
  const scopes: Scope[] = ['personnel.manage', 'events.read'];
  return [
    { name: 'nobody', scopes: [], isPerson: false, headers: sameOrigin },
    await person('a viewer', presets.viewer),
    await person('an editor of a project', presets.editor, ['APOLLO']),
    await person('an administrator', presets.administrator),
    { name: 'a key', scopes, isPerson: false, key: await service.key(...scopes), headers: sameOrigin },
  ];
}

function routesOf({ app }: TestService): Route[] {
  const paths = app.swagger().paths as Record<string, Record<string, { security: { key?: Access[] }[] }>>;
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { security }]) => {
      const [first] = security;
      const access = !first ? 'public' : first.key ? (first.key[0] ?? 'any') : 'person';
      // Signing in is 401 whatever is wrong, and signing out would end the session of the next request.
      if (path === '/v1/session' || (path === '/v1/sessions' && method === 'delete')) return [];
      return [
        {
          // A HEAD request gets the same status from the stream, which has no end.
          method: path === '/v1/events/stream' ? 'HEAD' : method.toUpperCase(),
          path: path.replace('{project_id}', 'NOPE').replace(/\{\w+\}/g, 'nothing'),
          access,
        },
      ];
    }),
  );
}
