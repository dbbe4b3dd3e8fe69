import { presets } from '../src/resources/risk-model/presets.ts';
import type { TestService } from './service.ts';

const item = '/v1/projects/{project_id}';

/** Two resources of each kind that new ones can be made of, and the body of each. */
const bodies: [path: string, id: string, body: (name: string) => object][] = [
  ['/v1/groups', 'id', (name) => ({ name })],
  ['/v1/projects', 'project_id', (name) => ({ name })],
  ...['risks', 'issues', 'tasks'].map((list): (typeof bodies)[number] => [
    `${item}/${list}`,
    'id',
    (title) => ({ title }),
  ]),
  ...['', '/risks/{id}', '/issues/{id}', '/tasks/{id}'].map((path): (typeof bodies)[number] => [
    `${item}${path}/comments`,
    'comment_id',
    (body) => ({ body }),
  ]),
  ['/v1/views', 'id', (name) => ({ list: 'tasks', name, query: '' })],
  ['/v1/mappings', 'id', (name) => ({ list: 'tasks', name, query: '' })],
  ['/v1/categories', 'id', (name) => ({ name })],
  ['/v1/reports', 'id', (title) => ({ title, since: new Date().toISOString().slice(0, 10) })],
  ['/v1/keys', 'id', (name) => ({ name, scopes: ['keys.read'] })],
  ['/v1/webhooks', 'id', () => ({ url: 'https://127.0.0.1:1/', types: ['organization.changed'] })],
];

/**
 * Creates resources of every kind, and returns the path for a template of the API such as `/v1/groups/{id}`: that of an
 * existing resource.
 */
export async function createEveryResource(service: TestService, key: string) {
  const ids = new Map<string, string>();
  const resolve = (template: string) => {
    let path = '';
    for (const part of template.split('/').slice(1)) {
      const prefix = `${path}/${part}`;
      path = part.startsWith('{') ? (ids.get(prefixOf(template, prefix)) ?? `${path}/${part}`) : prefix;
    }
    return path;
  };
  const prefixOf = (template: string, prefix: string) =>
    template.split('/').slice(0, prefix.split('/').length).join('/');
  const person = async (name: string) =>
    (await service.make('/v1/personnel', key, { name, email: `${name}@example.com` })).user_id as string;
  const ada = await person('ada');
  const bob = await person('bob');
  ids.set('/v1/personnel/{user_id}', `/v1/personnel/${ada}`);
  for (const [collection, id, body] of bodies) {
    for (const name of ['first', 'second']) {
      const made = await service.make(resolve(collection), key, body(name));
      ids.set(`${collection}/{${id}}`, `${resolve(collection)}/${made.id}`);
    }
  }
  /** Sends a request that must succeed. */
  const done = async (method: string, path: string, body: object) => {
    const response = await service.call(method, resolve(path), key, body);
    if (response.status >= 300) throw new Error(`${method} ${path} returned ${response.text}`);
    return response.body;
  };
  await done('PATCH', `${item}/tasks/{id}`, { assignee_user_id: ada });
  await done('PUT', '/v1/risk-model', presets[1]?.model ?? {});
  const { handover_id } = await done('POST', '/v1/personnel/{user_id}/deactivate', {
    handover_to_user_id: bob,
  });
  const handover = '/v1/personnel/{user_id}/handovers/{handover_id}';
  ids.set(handover, `${resolve('/v1/personnel/{user_id}')}/handovers/${handover_id}`);
  const { id } = await done('POST', '/v1/webhooks/{id}/test', {});
  const delivery = '/v1/webhooks/{id}/deliveries/{delivery_id}';
  ids.set(delivery, `${resolve('/v1/webhooks/{id}')}/deliveries/${id}`);
  return resolve;
}
