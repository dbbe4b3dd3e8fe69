import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { freePort } from './ports.ts';
import { temporaryFolder } from './process.ts';
import { startProgram } from './programs.ts';

const example = join(import.meta.dirname, '../deploy/nginx/muster.conf');

/** Starts nginx with the example configuration in front of these instances, without TLS and base path. Returns its origin. */
export async function startNginxExample(
  t: Pick<TestContext, 'after'>,
  instances: readonly string[],
  timeout = '75s',
): Promise<string> {
  const servers = (settings: string) =>
    instances.map((origin) => `server ${new URL(origin).host}${settings};`).join('\n');
  const site = readFileSync(example, 'utf8')
    .replace(/^server \{\n {2}listen 80;[\s\S]*?^\}/m, '')
    .replace(/^ {2}(listen \[::\]|ssl_).*\n/gm, '')
    .replace(/^ {2}location = \/muster \{[\s\S]*?^ {2}\}/m, '')
    .replaceAll(' /muster/', ' /')
    .replaceAll('^/muster/', '^/')
    .replace('proxy_read_timeout 75s', `proxy_read_timeout ${timeout}`)
    .replace(/^ {2}server 127\.0\.0\.1:8080(.*);/m, (_, settings) => servers(settings));
  return startNginx(t, (port) => site.replace(/listen 443.*/, `listen 127.0.0.1:${port};`));
}

/** Starts nginx with the content of its `http` block. Returns its origin. */
export async function startNginx(
  t: Pick<TestContext, 'after'>,
  configure: (port: number) => string,
): Promise<string> {
  const folder = temporaryFolder(t);
  const port = await freePort();
  for (const name of ['body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']) mkdirSync(join(folder, name));
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; pid ${folder}/nginx.pid; error_log stderr;
${process.getuid?.() === 0 ? 'user root;' : ''}
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  ${configure(port)}
}
`,
  );
  await startProgram(t, ['nginx', '-p', folder, '-c', file], port);
  return `http://127.0.0.1:${port}`;
}
