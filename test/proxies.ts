import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { startConfigured } from './haproxy.ts';
import { startNginx } from './nginx.ts';
import { freePort } from './ports.ts';
import { temporaryFolder } from './process.ts';
import { startProgram } from './programs.ts';

/** A reverse proxy with the settings that people use: the defaults, plus what its documentation recommends. */
export type Proxy = {
  name: string;
  program: string;
  start(t: TestContext, upstream: string): Promise<string>;
};

const nginx = (name: string, settings: string): Proxy => ({
  name,
  program: 'nginx',
  start: (t, upstream) =>
    startNginx(
      t,
      (port) => `client_max_body_size 100m;
  gzip on; gzip_min_length 1; gzip_proxied any; gzip_types application/json;
  upstream muster { server ${new URL(upstream).host}; keepalive 8; }
  server { listen 127.0.0.1:${port}; location / { proxy_pass http://muster; ${settings} } }`,
    ),
});

const haproxy: Proxy = {
  name: 'HAProxy',
  program: 'haproxy',
  async start(t, upstream) {
    const port = await freePort();
    await startConfigured(
      t,
      port,
      `defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend clients
  bind 127.0.0.1:${port}
  default_backend muster
backend muster
  server muster ${new URL(upstream).host}
`,
    );
    return `http://127.0.0.1:${port}`;
  },
};

const caddy: Proxy = {
  name: 'Caddy',
  program: 'caddy',
  async start(t, upstream) {
    const port = await freePort();
    const file = join(temporaryFolder(t), 'Caddyfile');
    writeFileSync(
      file,
      `{
  admin off
  auto_https off
}
http://127.0.0.1:${port} {
  encode gzip
  reverse_proxy ${new URL(upstream).host}
}
`,
    );
    await startProgram(t, ['caddy', 'run', '--config', file, '--adapter', 'caddyfile'], port);
    return `http://127.0.0.1:${port}`;
  },
};

const caddyExample = join(import.meta.dirname, '../deploy/caddy/Caddyfile');

/** Starts Caddy with the example configuration in front of a service, without TLS. Returns its origin. */
export async function startCaddyExample(t: Pick<TestContext, 'after'>, upstream: string): Promise<string> {
  const port = await freePort();
  const file = join(temporaryFolder(t), 'Caddyfile');
  const site = readFileSync(caddyExample, 'utf8')
    .replace(/^ops\.example\.com \{/m, `http://127.0.0.1:${port} {`)
    .replaceAll('127.0.0.1:8080', new URL(upstream).host);
  writeFileSync(file, `{\n  admin off\n  auto_https off\n}\n${site}`);
  await startProgram(t, ['caddy', 'run', '--config', file, '--adapter', 'caddyfile'], port);
  return `http://127.0.0.1:${port}`;
}

export const proxies: Proxy[] = [
  nginx('nginx', ''),
  nginx('nginx without request buffering', 'proxy_request_buffering off;'),
  nginx('nginx with keep-alive', 'proxy_http_version 1.1; proxy_set_header Connection "";'),
  haproxy,
  caddy,
];
