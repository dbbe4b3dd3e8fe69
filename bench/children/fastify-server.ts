import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { fastify } from 'fastify';

/** A peer: Fastify without authentication, validation and caches. It sends a body from memory, or the rows of the page. */
export type FastifyServer =
  | { body: string; headers: string[] }
  | { database: string; today: string; base_url: string };

const options: FastifyServer = JSON.parse(process.argv[2] ?? '');
const app = fastify();
if ('body' in options) {
  const body = readFileSync(options.body);
  const headers = Object.fromEntries(
    options.headers.flatMap((name, i) => (i % 2 === 0 ? [[name, options.headers[i + 1]]] : [])),
  );
  app.get('/v1/risks', (_request, reply) => reply.headers(headers).send(body));
} else {
  const { database, today, base_url } = options;
  const sql = readFileSync(join(import.meta.dirname, '../page.sql'), 'utf8');
  const page = new Sqlite(database, { readonly: true }).prepare(sql).pluck();
  app.get('/v1/risks', (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(`{"data":${page.get({ today, base_url })}}`),
  );
}
console.log(`listening at ${await app.listen({ host: '127.0.0.1', port: 0 })}`);
