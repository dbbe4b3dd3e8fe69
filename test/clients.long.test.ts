import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { promisify } from 'node:util';
import { onBothEngines } from './service.ts';

const run = promisify(execFile);
const folder = join(import.meta.dirname, 'clients');
const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
const programs = globSync('programs/*.ts', { cwd: folder }).map((file) => basename(file, '.ts'));
// The generators take 300 MB, so `npm ci` does not install them.
const skip = existsSync(join(folder, 'node_modules')) ? false : 'run `npm run test:clients`';

/** The generators need the Node version that runs the tests, which may not be the one in the PATH. */
const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` };
const runScript = (name: string) => run('npm', ['run', '--silent', name], { cwd: folder, env });

before(async () => {
  if (skip !== false) return;
  rmSync(join(folder, 'generated'), { recursive: true, force: true });
  for (const name of Object.keys(scripts).filter((name) => name.startsWith('generate:')))
    await runScript(name);
  await runScript('bundle');
});

test('programs with generated clients compile', { skip }, async () => {
  const { stdout } = await runScript('check').catch((error) => error);
  assert.equal(stdout, '');
});

onBothEngines('generated clients', (start) => {
  for (const program of programs) {
    test(`${program} calls the five endpoints`, { skip }, async (t) => {
      const service = await start(t);
      const key = await service.key();
      await service.make('/v1/groups', key, { name: 'Ops' });
      await service.make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' });
      for (const [title, impact] of Object.entries({ minor: 1, major: 3, worst: 5 }))
        await service.make('/v1/projects/APOLLO/risks', key, { title, probability: 5, impact });
      for (const severity of ['critical', 'medium', 'low'])
        await service.make('/v1/projects/APOLLO/issues', key, { title: severity, severity });

      const { stdout } = await run(process.execPath, [join(folder, `generated/programs/${program}.mjs`)], {
        env: {
          MUSTER_URL: service.origin,
          MUSTER_KEY: await service.key('personnel.manage', 'projects.read'),
        },
      });
      const [ada] = (await service.get('/v1/personnel', key)).body.data;
      assert.deepEqual(JSON.parse(stdout), {
        person: ada.user_id,
        code: 'duplicate',
        people: [ada.user_id],
        groups: ['Ops'],
        scores: [25, 15],
        issues: ['critical', 'low'],
      });
    });
  }
});
