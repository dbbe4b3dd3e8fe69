import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inheritedEnvironment, mainFile, muster, temporaryFolder } from '../../test/process.ts';
import { describeSettings, readConfig } from '../config.ts';

/** A value for every setting that is secret, or that may contain a secret. */
const secrets = {
  MUSTER_DATABASE_URL: 'postgres://muster:hunter2%40x@db.example.com/muster?sslmode=require',
  MUSTER_OIDC_CLIENT_SECRET: 'hunter2 client secret',
};
const provider = { MUSTER_OIDC_ISSUER: 'https://login.example.com', MUSTER_OIDC_CLIENT_ID: 'muster' };

test('muster config prints each setting with its value and its source, and no secret', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, '.env'), 'MUSTER_PORT=81\nMUSTER_CACHE_MB=0\nMUSTER_PASSWORDS=off\n');
  writeFileSync(join(folder, 'secret'), secrets.MUSTER_OIDC_CLIENT_SECRET);
  const environment = {
    ...provider,
    MUSTER_DATABASE_URL: secrets.MUSTER_DATABASE_URL,
    MUSTER_OIDC_CLIENT_SECRET_FILE: join(folder, 'secret'),
    MUSTER_CACHE_MB: '5',
    MUSTER_BASE_URL: 'https://Über.example.com/\n',
    MUSTER_OIDC_ACCESS: 'risk-office=editor, it=keys.read+keys.manage',
    MUSTER_LOG_LEVEL: '',
  };
  const { code, stdout, stderr } = await muster(folder, ['config', '--json'], environment);
  assert.deepEqual([code, stderr], [0, '']);
  const settings: { name: string; value: string | null; source: string }[] = JSON.parse(stdout);
  const known = Object.keys(readConfig({})).filter((name) => !['tracing', 'thread_pool'].includes(name));
  assert.deepEqual(
    settings.map(({ name }) => name),
    known.map((name) => `MUSTER_${name.toUpperCase()}`),
  );
  const shown = Object.fromEntries(settings.map(({ name, value, source }) => [name, [value, source]]));
  for (const [name, expected] of Object.entries({
    MUSTER_DATABASE_URL: ['postgres://muster:…@db.example.com/muster?sslmode=require', 'environment'],
    MUSTER_OIDC_CLIENT_SECRET: ['…', `file ${join(folder, 'secret')}`],
    MUSTER_PORT: ['81', '.env'],
    MUSTER_CACHE_MB: ['5', 'environment'],
    MUSTER_PASSWORDS: ['off', '.env'],
    MUSTER_DATABASE_PREPARE: ['on', 'default'],
    MUSTER_DRAIN_SECONDS: ['0', 'default'],
    MUSTER_BASE_URL: ['https://xn--ber-goa.example.com', 'environment'],
    MUSTER_OIDC_ACCESS: ['risk-office=editor, it=keys.read+keys.manage', 'environment'],
    MUSTER_LOG_LEVEL: ['warn', 'default'],
    MUSTER_BACKUP_DIR: [null, 'default'],
    MUSTER_TRUST_PROXY: [null, 'default'],
  }))
    assert.deepEqual(shown[name], expected, name);

  const table = await muster(folder, ['config'], environment);
  assert.match(table.stdout, /^setting +value +source\n/);
  assert.match(table.stdout, /^MUSTER_PORT +81 +\.env$/m);
  for (const text of [stdout, table.stdout, table.stderr]) assert.doesNotMatch(text, /hunter2/);
});

test('no secret is in the output, from a variable or from a file, and no URL with a password is accepted', (t) => {
  // The error for an unknown setting lists all of them. A secret can be read from a file.
  const [, list = ''] = /available: ([^)]+)\)/.exec(errorOf({ MUSTER_ZZZZZZZZZZZZZZZZ: 'x' })) ?? [];
  const isSecret = (name: string, _: number, all: string[]) => all.includes(`${name}_FILE`);
  assert.deepEqual(list.split(', ').filter(isSecret).sort(), Object.keys(secrets).sort());
  const folder = temporaryFolder(t);
  const files = Object.entries(secrets).map(([name, value]) => {
    writeFileSync(join(folder, name), value);
    return [`${name}_FILE`, join(folder, name)];
  });
  writeFileSync(
    join(folder, 'settings'),
    Object.entries(secrets)
      .map(([name, value]) => `${name}="${value}"\n`)
      .join(''),
  );
  for (const settings of [
    describeSettings({ ...provider, ...secrets }, undefined),
    describeSettings({ ...provider, ...Object.fromEntries(files) }),
    describeSettings(provider, join(folder, 'settings')),
  ]) {
    assert.equal(settings.filter(({ value }) => value?.includes('…')).length, Object.keys(secrets).length);
    assert.doesNotMatch(JSON.stringify(settings), /hunter2/);
  }
  const url = 'https://ada:hunter2@example.com';
  for (const name of ['MUSTER_BASE_URL', 'MUSTER_OIDC_ISSUER', 'MUSTER_CORS_ORIGINS', 'MUSTER_WEBHOOK_ALLOW'])
    assert.doesNotMatch(errorOf({ ...provider, [name]: url }), /hunter2/, name);
});

/** The error of settings that are not valid. */
function errorOf(environment: NodeJS.ProcessEnv): string {
  try {
    readConfig(environment);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('The settings are valid.');
}

test('--settings names the file with the settings, before and after the command, instead of .env', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, '.env'), 'MUSTER_PORT=81\n');
  const file = join(folder, 'muster.env');
  writeFileSync(file, 'MUSTER_PORT=82\nMUSTER_DATABASE_URL=sqlite:other.db\n');
  for (const args of [
    ['--settings', file, 'config'],
    ['config', '--settings', file],
  ]) {
    const { stdout } = await muster(folder, args);
    assert.match(stdout, new RegExp(`^MUSTER_PORT +82 +${file}$`, 'm'));
  }
  assert.match((await muster(folder, ['migrate', '--settings', file])).stdout, /^sqlite:other\.db: ran /);
  const missing = await muster(folder, ['config', '--settings', 'nothing']);
  assert.deepEqual(
    [missing.code, missing.stderr],
    [
      1,
      'muster: The settings in nothing cannot be read (ENOENT). Make it a file that the service can read.\n',
    ],
  );
});

test('a reader that ends early is an error of a backup also after --settings', async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'muster.env');
  writeFileSync(file, 'MUSTER_DATABASE_URL=sqlite:a.db\n');
  assert.equal((await muster(folder, ['migrate', '--settings', file])).code, 0);
  const child = spawn(process.execPath, [mainFile, '--settings', file, 'backup'], {
    cwd: folder,
    env: inheritedEnvironment(),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  child.stdout?.destroy();
  const [code] = await once(child, 'exit');
  assert.equal(code, 1);
});

test('a command that would use another database than the service says how to name it', async (t) => {
  const { code, stderr } = await muster(temporaryFolder(t), ['keys', 'list']);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^muster: The database sqlite:data\/muster\.db has no tables\. [^\n]* --settings, [^\n]*\.\n$/,
  );
});
