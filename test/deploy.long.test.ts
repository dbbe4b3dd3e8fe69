import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { parse, parseAllDocuments } from 'yaml';
import { readConfig } from '../src/config.ts';
import { startHaproxy } from './haproxy.ts';
import { startNginxExample } from './nginx.ts';
import { freePort } from './ports.ts';
import { inheritedEnvironment, mainFile, temporaryFolder } from './process.ts';
import { isInstalled } from './programs.ts';
import { startCaddyExample } from './proxies.ts';
import { onBothEngines } from './service.ts';

const root = join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const { version } = JSON.parse(read('package.json'));

/** Runs a tool that checks a file, or skips the test where the tool is not installed. */
function runTool(
  t: TestContext,
  program: string,
  args: string[],
  cwd = root,
  input = '',
): string | undefined {
  const { error, status, stdout, stderr } = spawnSync(program, args, { cwd, input, encoding: 'utf8' });
  if (error && 'code' in error && error.code === 'ENOENT') {
    t.skip(`${program} is not installed`);
    return undefined;
  }
  assert.equal(status, 0, `${program} ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout + stderr;
}

/**
 * The settings in a file must exist and be valid, and keep the first key out of the log. Placeholders stand for values that
 * the operator fills in.
 */
function assertSettings(settings: Record<string, string>, isImage = false): void {
  assert.ok(Object.keys(settings).length > 0);
  assert.ok(isImage || settings.MUSTER_FIRST_KEY_FILE, 'MUSTER_FIRST_KEY_FILE is not set');
  readConfig(settings);
}

test('the systemd unit is valid and restricts the service', (t) => {
  const unit = read('deploy/systemd/muster.service');
  assertSettings(
    Object.fromEntries(
      [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
    ),
  );
  // systemd checks that the program exists.
  const file = join(temporaryFolder(t), 'muster.service');
  writeFileSync(file, unit.replace('/opt/muster/muster', '/bin/true'));
  const printed = runTool(t, 'systemd-analyze', ['verify', '--man=no', file]);
  if (printed === undefined) return;
  assert.doesNotMatch(printed, /muster\.service/, printed);
});

test('the timer of backups is valid, and keeps some', (t) => {
  const unit = read('deploy/systemd/muster-backup.service');
  assert.match(unit, /^ExecStart=\/opt\/muster\/muster backup --keep \d+$/m);
  assertSettings(
    Object.fromEntries(
      [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
    ),
    true,
  );
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'muster-backup.service'), unit.replace('/opt/muster/muster', '/bin/true'));
  const timer = join(folder, 'muster-backup.timer');
  writeFileSync(timer, read('deploy/systemd/muster-backup.timer'));
  const printed = runTool(t, 'systemd-analyze', ['verify', '--man=no', timer]);
  if (printed !== undefined) assert.doesNotMatch(printed, /muster-backup/, printed);
});

test('a backup needs the capabilities of its unit to open the database of the dynamic user, and no more', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('needs root to act as another user');
  const unit = read('deploy/systemd/muster-backup.service');
  const [, text = ''] = /^CapabilityBoundingSet=(.*)$/m.exec(unit) ?? [];
  const all = text.split(' ').map((name) => name.replace('CAP_', '').toLowerCase());
  const folder = temporaryFolder(t);
  const run = async (capabilities: string[]) => {
    const data = join(folder, `data-${capabilities.join('-')}`);
    const file = join(data, 'muster.db');
    mkdirSync(data, { mode: 0o700 });
    const env = { ...inheritedEnvironment(), MUSTER_DATABASE_URL: `sqlite:${file}` };
    execFileSync(process.execPath, [mainFile, 'migrate'], { cwd: folder, env });
    // More than the pipe takes, so that the backup waits with the database open.
    const database = new Sqlite(file);
    database.exec(`insert into settings (name, value) with recursive rows (i) as (select 1 union all select i + 1 from rows where i < 4000)
      select 'row' || i, hex(randomblob(500)) from rows`);
    database.close();
    const user = 54_321;
    for (const name of ['.', ...readdirSync(data)]) chownSync(join(data, name), user, user);
    const bounding = ['-all', ...capabilities.map((name) => `+${name}`)].join();
    const child = spawn(
      'setpriv',
      [`--bounding-set=${bounding}`, '--', process.execPath, mainFile, 'backup'],
      {
        cwd: folder,
        env,
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    const exit = once(child, 'exit');
    const started = new Promise((resolve) => child.stdout.once('readable', resolve));
    await Promise.race([started, exit]);
    // A service that starts meanwhile must be able to open the files that SQLite has created.
    const files = readdirSync(data);
    const owners = files.map((name) => statSync(join(data, name)).uid);
    child.stdout.resume();
    const [code] = await exit;
    return code === 0 && files.includes('muster.db-shm') && owners.every((owner) => owner === user);
  };
  assert.equal(await run(all), true);
  for (const name of all)
    assert.equal(await run(all.filter((one) => one !== name)), false, `without ${name}`);
});

test('the nginx configuration is valid', (t) => {
  const folder = temporaryFolder(t);
  let site = read('deploy/nginx/muster.conf');
  for (const name of ['fullchain.pem', 'privkey.pem'])
    site = site.replace(`/etc/ssl/muster/${name}`, join(folder, name));
  const subject = ['-subj', '/CN=ops.example.com', '-keyout', 'privkey.pem', '-out', 'fullchain.pem'];
  if (
    runTool(t, 'openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject], folder) === undefined
  )
    return;
  writeFileSync(join(folder, 'site.conf'), site);
  writeFileSync(
    join(folder, 'nginx.conf'),
    `pid ${folder}/nginx.pid; error_log stderr; events {} http { access_log off; include ${folder}/site.conf; }`,
  );
  runTool(t, 'nginx', ['-t', '-q', '-p', folder, '-c', join(folder, 'nginx.conf')]);
});

test('nginx sends a read to another instance if one dies, and a write only once', async (t) => {
  if (!isInstalled('nginx')) return t.skip('nginx is not installed');
  const requests: string[] = [];
  const startInstance = async (respond: RequestListener): Promise<string> => {
    const server = createServer(respond).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close().closeAllConnections());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const startDying = () =>
    startInstance((request) => {
      requests.push(request.method ?? '');
      request.socket.destroy();
    });
  for (const method of ['POST', 'PATCH', 'PUT', 'DELETE']) {
    const origin = await startNginxExample(t, [await startDying(), await startDying()]);
    const response = await fetch(`${origin}/v1/personnel`, { method });
    assert.equal(response.status, 503, method);
    assert.equal(response.headers.get('retry-after'), '1');
    assert.equal(response.headers.get('content-type'), 'application/problem+json');
    assert.equal((await response.json()).code, 'unavailable');
  }
  assert.deepEqual(requests.splice(0), ['POST', 'PATCH', 'PUT', 'DELETE']);
  const living = await startInstance((_, response) => response.end('[]'));
  const origin = await startNginxExample(t, [await startDying(), living]);
  for (let i = 0; i < 4; i++) assert.equal((await fetch(`${origin}/v1/personnel`)).status, 200);
  assert.deepEqual(requests, ['GET']);
});

test('nginx sends what did not reach an instance to another one, and reads that an instance rejects', async (t) => {
  if (!isInstalled('nginx')) return t.skip('nginx is not installed');
  const requests: string[] = [];
  const start = async (status: number) => {
    const server = createServer((request, response) => {
      requests.push(`${request.method} ${status}`);
      request.resume().on('end', () => response.writeHead(status).end());
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close().closeAllConnections());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const living = await start(200);
  const stopped = `http://127.0.0.1:${await freePort()}`;
  const body = 'x'.repeat(100_000);
  for (const method of ['GET', 'POST', 'PATCH', 'PUT', 'DELETE']) {
    const origin = await startNginxExample(t, [stopped, living]);
    const options = { method, ...(method !== 'GET' && { body }) };
    for (let i = 0; i < 2; i++)
      assert.equal((await fetch(`${origin}/v1/personnel`, options)).status, 200, method);
  }
  requests.length = 0;
  const rejecting = await start(503);
  const origin = await startNginxExample(t, [rejecting, living]);
  assert.equal((await fetch(`${origin}/v1/personnel`)).status, 200);
  assert.deepEqual(requests.splice(0), ['GET 503', 'GET 200']);
  for (const method of ['POST', 'PATCH', 'PUT', 'DELETE']) {
    const fresh = await startNginxExample(t, [rejecting, living]);
    assert.equal((await fetch(`${fresh}/v1/personnel`, { method })).status, 503, method);
    assert.deepEqual(requests.splice(0), [`${method} 503`]);
  }
});

test('the HAProxy configuration is valid', (t) => {
  const folder = temporaryFolder(t);
  const text = read('deploy/haproxy/haproxy.cfg');
  assert.match(text, /bind :443 ssl crt .*/);
  writeFileSync(join(folder, 'haproxy.cfg'), text.replace(/bind .*/, 'bind 127.0.0.1:8443'));
  runTool(t, 'haproxy', ['-c', '-f', join(folder, 'haproxy.cfg')]);
});

test('the Caddy configuration is valid', (t) => {
  runTool(t, 'caddy', ['validate', '--adapter', 'caddyfile', '--config', 'deploy/caddy/Caddyfile']);
});

const hidingProxies: [string, (t: TestContext, upstream: string) => Promise<string>][] = [
  ['caddy', async (t, upstream) => `${await startCaddyExample(t, upstream)}/muster`],
  ['haproxy', (t, upstream) => startHaproxy(t, [upstream])],
  ['nginx', (t, upstream) => startNginxExample(t, [upstream])],
];
for (const [program, start] of hidingProxies)
  test(`the example for ${program} passes requests on, but not those for metrics`, async (t) => {
    if (!isInstalled(program)) return t.skip(`${program} is not installed`);
    const paths: string[] = [];
    const server = createServer(({ url = '' }, response) => {
      paths.push(url);
      response.end('passed on');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close().closeAllConnections());
    const origin = await start(t, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const get = async (path: string) => (await fetch(origin + path)).status;
    for (const path of ['/v1/risks', '/metrics/x', '/docs']) assert.equal(await get(path), 200, path);
    for (const path of ['/metrics', '/metrics?x=1', '/%6detrics']) assert.equal(await get(path), 404, path);
    assert.deepEqual(
      paths.filter((path) => /m?etrics(\?|$)/.test(path)),
      [],
    );
  });

test('the examples are in both artefacts of a release, and name the settings that a proxy needs', () => {
  assert.match(read('release.ts'), /serviceFiles = \[[^\]]*'deploy'/);
  for (const file of ['caddy/Caddyfile', 'haproxy/haproxy.cfg', 'nginx/muster.conf'])
    for (const name of ['MUSTER_BASE_URL', 'MUSTER_TRUST_PROXY'])
      assert.ok(read(`deploy/${file}`).includes(name), `${file} does not name ${name}`);
});

test('the Prometheus configuration and alert rules are valid', (t) => {
  assert.ok(parse(read('deploy/prometheus/prometheus.yml')).scrape_configs[0].job_name === 'muster');
  if (runTool(t, 'promtool', ['check', 'rules', 'deploy/prometheus/muster.rules.yml']) === undefined) return;
  runTool(t, 'promtool', ['check', 'config', 'deploy/prometheus/prometheus.yml']);
});

test('each alert has a test in which it fires, and one in which it does not', (t) => {
  const { groups } = parse(read('deploy/prometheus/muster.rules.yml'));
  const { tests } = parse(read('deploy/prometheus/muster.rules.test.yml'));
  type Case = { alertname: string; exp_alerts: unknown[] };
  const cases: Case[] = tests.flatMap(({ alert_rule_test }: { alert_rule_test: Case[] }) => alert_rule_test);
  const namesOf = (fires: boolean) =>
    [
      ...new Set(
        cases.filter(({ exp_alerts }) => exp_alerts.length > 0 === fires).map(({ alertname }) => alertname),
      ),
    ].sort();
  const alerts = groups[0].rules.map(({ alert }: { alert: string }) => alert).sort();
  assert.deepEqual(namesOf(true), alerts);
  assert.deepEqual(namesOf(false), alerts);
  runTool(t, 'promtool', ['test', 'rules', 'deploy/prometheus/muster.rules.test.yml']);
});

const manifests = () =>
  globSync('deploy/kubernetes/*.yaml', { cwd: root })
    .filter((file) => !file.endsWith('kustomization.yaml'))
    .flatMap((file) => parseAllDocuments(read(file)).map((document) => document.toJS()));

test('the Kubernetes manifests fit together', (t) => {
  const find = (kind: string) => manifests().find((manifest) => manifest.kind === kind);
  const { template, selector } = find('Deployment').spec;
  assert.deepEqual(selector.matchLabels, template.metadata.labels);
  const [container] = template.spec.containers;
  assert.equal(container.image, `registry.example.com/muster:${version}`);
  const { MUSTER_DATABASE_URL_FILE: urlFile, ...settings } = Object.fromEntries(
    container.env.map(({ name = '', value = '' }) => [name, value]),
  );
  assertSettings(settings);
  const mounted = container.volumeMounts.find(({ name }: { name: string }) => name === 'secrets');
  assert.equal(urlFile, `${mounted.mountPath}/database-url`);
  assert.match(
    read('deploy/kubernetes/kustomization.yaml'),
    /secret generic muster --from-literal=database-url=/,
  );
  const { drain_seconds, shutdown_seconds } = readConfig(settings);
  // Probes notice within two periods.
  assert.ok(drain_seconds > 2 * container.readinessProbe.periodSeconds);
  assert.ok(template.spec.terminationGracePeriodSeconds > shutdown_seconds + drain_seconds);
  assert.deepEqual(
    [container.readinessProbe.httpGet.path, container.livenessProbe.httpGet.path],
    ['/readyz', '/livez'],
  );
  const backup = find('CronJob').spec.jobTemplate.spec.template.spec.containers[0];
  assert.equal(backup.image, container.image);
  assert.deepEqual(backup.args.slice(0, 2), ['backup', '--keep']);
  assert.deepEqual(find('Service').spec.selector, selector.matchLabels);
  assert.deepEqual(find('PodDisruptionBudget').spec.selector, selector);
  assert.deepEqual(find('NetworkPolicy').spec.podSelector, selector);
  const { scaleTargetRef } = find('HorizontalPodAutoscaler').spec;
  assert.equal(scaleTargetRef.name, find('Deployment').metadata.name);
  const { rules: routes, tls } = find('Ingress').spec;
  const { hostname } = new URL(settings.MUSTER_BASE_URL);
  assert.deepEqual([routes[0].host, tls[0].hosts], [hostname, [hostname]]);
  const { name, port } = routes[0].http.paths[0].backend.service;
  assert.deepEqual([name, port], [find('Service').metadata.name, { name: 'http' }]);
  const [fromIngress] = find('NetworkPolicy').spec.ingress;
  assert.deepEqual(fromIngress.ports, [{ port: 'http' }]);
  for (const { targetPort } of find('Service').spec.ports)
    assert.ok(
      container.ports.some(({ name }: { name: string }) => name === targetPort),
      targetPort,
    );
  runTool(t, 'kubectl', ['kustomize', 'deploy/kubernetes']);
});

/** What the examples scrape has these labels. Prometheus adds them to those of the service. */
function scrapedLabels(): Record<string, Record<string, string>> {
  const find = (kind: string) => manifests().find((manifest) => manifest.kind === kind);
  const [{ job_name, static_configs }] = parse(read('deploy/prometheus/prometheus.yml')).scrape_configs;
  const { jobLabel, selector, endpoints } = find('ServiceMonitor').spec;
  const { metadata, spec } = find('Service');
  for (const [name, value] of Object.entries(selector.matchLabels))
    assert.equal(metadata.labels[name], value);
  const [{ port }] = endpoints;
  assert.ok(spec.ports.some(({ name }: { name: string }) => name === port));
  const [container] = find('Deployment').spec.template.spec.containers;
  const { containerPort } = container.ports.find(({ name }: { name: string }) => name === port);
  const setting = container.env.find(({ name }: { name: string }) => name === 'MUSTER_METRICS_PORT');
  assert.equal(setting.value, String(containerPort));
  return {
    'prometheus.yml': { job: job_name, instance: static_configs[0].targets[0] },
    'the ServiceMonitor': {
      job: metadata.labels[jobLabel],
      instance: `10.42.0.7:${containerPort}`,
      namespace: 'ops',
      service: metadata.name,
      pod: 'muster-1',
      container: container.name,
      endpoint: port,
    },
  };
}

onBothEngines('the alerts', (start) => {
  test('fire for what the examples scrape if it is gone, and not if it is well', async (t) => {
    assert.deepEqual(
      manifests().find(({ kind }) => kind === 'PrometheusRule').spec,
      parse(read('deploy/prometheus/muster.rules.yml')),
    );
    const service = await start(t);
    const { text } = await service.get('/metrics', await service.key('metrics.read'));
    const { groups } = parse(read('deploy/prometheus/muster.rules.yml'));
    const names: string[] = groups[0].rules.map(({ alert }: { alert: string }) => alert);
    const tests = Object.entries(scrapedLabels()).flatMap(([example, labels]) => {
      const added = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
      const scraped = [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name, own, value]) => ({
        series: `${name}{${[...added, ...(own ? [own] : [])].join()}}`,
        // These depend on the machine.
        values: `${{ process_resident_memory_bytes: 2e8, muster_disk_free_bytes: 5e9 }[name ?? ''] ?? value}x240`,
      }));
      assert.ok(scraped.length > 50);
      const up = (value: number) => ({ series: `up{${added}}`, values: `${value}x240` });
      const expect = (alertname: string, exp_alerts: object[] = []) => ({
        alertname,
        eval_time: '50m',
        exp_alerts,
      });
      const { alert, annotations } = groups[0].rules[0];
      assert.equal(alert, 'MusterDown');
      const summary = annotations.summary.replace('{{ $labels.instance }}', labels.instance);
      const gone = { exp_labels: { ...labels, severity: 'critical' }, exp_annotations: { summary } };
      const unknown = {
        exp_labels: { job: labels.job, severity: 'warning' },
        exp_annotations: { summary: 'Nothing says when the last backup was made' },
      };
      return [
        {
          name: example,
          interval: '15s',
          input_series: [up(1), ...scraped],
          alert_rule_test: names.map((name) => expect(name)),
        },
        {
          name: `${example}, gone`,
          interval: '15s',
          input_series: [up(0)],
          alert_rule_test: [expect('MusterDown', [gone]), expect('MusterBackupUnknown', [unknown])],
        },
      ];
    });
    const file = join(temporaryFolder(t), 'scraped.test.yml');
    const rule_files = [join(root, 'deploy/prometheus/muster.rules.yml')];
    writeFileSync(file, JSON.stringify({ rule_files, evaluation_interval: '15s', tests }));
    runTool(t, 'promtool', ['test', 'rules', file]);
  });
});

test('the Dockerfile builds from files that exist, and runs as another user than root', () => {
  const dockerfile = read('Dockerfile').replaceAll('\\\n', '');
  const instructions = [...dockerfile.matchAll(/^([A-Z]+) (.*)$/gm)].map(([, name = '', value = '']) => ({
    name,
    value,
  }));
  const valuesOf = (wanted: string) =>
    instructions.filter(({ name }) => name === wanted).map(({ value }) => value);
  for (const image of valuesOf('FROM')) assert.match(image, /^[a-z]+:[\w.-]+( AS \w+)?$/, 'a fixed tag');
  // The version of Node that the lockfile installs and the tests run on.
  const { optionalDependencies } = JSON.parse(read('package.json'));
  const versions = new Set([...Object.values(optionalDependencies), read('.node-version').trim()]);
  assert.deepEqual(
    [...versions].map((version) => `node:${version}-bookworm AS build`),
    [valuesOf('FROM')[0]],
  );
  for (const copied of valuesOf('COPY').filter((value) => !value.startsWith('--from')))
    for (const source of copied.split(' ').slice(0, -1)) assert.ok(existsSync(join(root, source)), source);
  assert.match(valuesOf('USER').at(-1) ?? '', /^[1-9]\d*$/);
  assert.deepEqual(valuesOf('VOLUME'), ['/data']);
  const [, check = '[]'] = /CMD (\[.*\])/.exec(valuesOf('HEALTHCHECK')[0] ?? '') ?? [];
  assert.match(JSON.parse(check).join(' '), /\/livez/);
  assert.deepEqual(JSON.parse(valuesOf('ENTRYPOINT')[0] ?? ''), ['/opt/muster/muster']);
  const settings = [...(valuesOf('ENV')[0] ?? '').matchAll(/(\w+)=(\S+)/g)].map(
    ([, name = '', value = '']) => [name, value],
  );
  assertSettings(Object.fromEntries(settings), true);
});

test('compose.yaml runs Muster with PostgreSQL', () => {
  const { services, volumes } = parse(read('compose.yaml'));
  assertSettings({
    ...services.muster.environment,
    MUSTER_DATABASE_URL: services.muster.environment.MUSTER_DATABASE_URL.replace(/\$\{.*?\}/, 'x'),
  });
  assert.deepEqual(services.muster.depends_on, { postgres: { condition: 'service_healthy' } });
  assert.equal(services.muster.build, '.');
  assert.equal(services.muster.init, true);
  assert.ok(services.postgres.healthcheck.test);
  for (const volume of services.postgres.volumes) assert.ok(volume.split(':')[0] in volumes);
});

onBothEngines('alert rules and the dashboard', (start) => {
  test('use only metrics and labels that the service has', async (t) => {
    const service = await start(t);
    const key = await service.key();
    for (let i = 0; i < 2; i++) await service.get('/v1/risks', key);
    const { text } = await service.get('/metrics', key);
    const { groups } = parse(read('deploy/prometheus/muster.rules.yml'));
    const { panels } = JSON.parse(read('deploy/grafana/muster.json'));
    const expressions: string[] = [
      ...groups[0].rules.map(({ expr }: { expr: string }) => expr),
      ...panels.flatMap(({ targets }: { targets: { expr: string }[] }) => targets.map(({ expr }) => expr)),
    ];
    assert.ok(expressions.length > 20);
    const used = expressions.flatMap(
      (expression) => expression.match(/\b(muster|process|nodejs)_\w+/g) ?? [],
    );
    // Some have no value here, such as the age of a backup, but all are described.
    for (const name of new Set(used)) assert.match(text, new RegExp(`^(# TYPE )?${name}(\\{| )`, 'm'), name);
    for (const expression of expressions) {
      for (const [, name = '', labels = ''] of expression.matchAll(/(\w+)\{([^}]*)\}/g)) {
        for (const [, label = ''] of labels.matchAll(/(\w+)!?=/g)) {
          // Prometheus adds these.
          if (name !== 'up' && label !== 'job' && label !== 'instance')
            assert.match(
              text,
              new RegExp(`^${name}\\{[^}]*\\b${label}="`, 'm'),
              `${name} has no label ${label}`,
            );
        }
      }
    }
    const documented = [...read('docs/operations.md').matchAll(/^\| `(Muster\w+)` \|/gm)].map(
      ([, name]) => name,
    );
    assert.deepEqual(
      documented,
      groups[0].rules.map(({ alert }: { alert: string }) => alert),
    );
  });

  test('the names and help texts of metrics follow the conventions of Prometheus', async (t) => {
    const service = await start(t);
    const key = await service.key();
    await service.get('/v1/risks', key);
    const { text } = await service.get('/metrics', key);
    runTool(t, 'promtool', ['check', 'metrics'], root, text);
  });
});

test('the archive and the image of a release are described in docs/operations.md', () => {
  const text = read('docs/operations.md');
  for (const file of globSync('deploy/*/*', { cwd: root })) {
    const folder = file.split('/')[1] ?? '';
    assert.ok(text.includes(`deploy/${folder}`), `deploy/${folder} is not in docs/operations.md`);
  }
  assert.ok(
    execFileSync('git', ['check-ignore', 'release/x'], { cwd: root, encoding: 'utf8' }).includes('release/x'),
  );
});
