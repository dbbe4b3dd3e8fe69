import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { type Console, settled, startConsole } from './console.ts';

let console: Console;
let empty: Console;

before(async () => {
  console = await startConsole();
  empty = await startConsole({ isEmpty: true });
});

after(async () => {
  await console.stop();
  await empty.stop();
});

describe('a key with projects.read alone', () => {
  const scopes = ['projects.read'] as const;

  test('sees no page of people, no address of anyone, and no button that would be refused', async (t) => {
    const page = await console.open(t, '/', { scopes });
    if (!page) return;
    await settled(page);
    const pages = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    assert.deepEqual(await pages.allTextContents(), ['Overview', 'Risks', 'Issues', 'Projects']);
    const risk = (await console.get('/v1/risks?limit=1')).data[0];
    const issue = (await console.get('/v1/issues?limit=1')).data[0];
    const paths = [
      '/',
      '/risks',
      `/risks/${risk.key}`,
      '/issues',
      `/issues/${issue.key}`,
      '/projects',
      '/projects/APOLLO',
    ];
    const harmless = [
      /^Search/,
      /^(As the system|Light|Dark)$/,
      /^Sign out$/,
      /^(Print|Export)$/,
      /^(Project|Status|Level|Wanting|Severity|Priority|Health|Above appetite|Overdue|Unassigned|Archived)$/,
    ];
    for (const path of paths) {
      await page.goto(`${console.app.baseUrl}${path}`);
      await settled(page);
      assert.ok(!/@example\.com/.test(await page.content()), `${path} shows an address`);
      assert.equal(
        await page.locator('main a[href*="/personnel"], main a[href*="/groups"]').count(),
        0,
        path,
      );
      const buttons: Locator[] = await page.getByRole('button').all();
      for (const button of buttons) {
        const name: string = (await button.getAttribute('aria-label')) ?? (await button.textContent()) ?? '';
        assert.ok(
          harmless.some((one) => one.test(name.trim())),
          `${path} offers “${name}”`,
        );
      }
    }
    for (const path of ['/personnel', '/groups', '/keys']) {
      await page.goto(`${console.app.baseUrl}${path}`);
      await page.getByText('There is nothing here for this key').waitFor();
    }
  });

  test('is refused what is hidden from it, should it ask all the same', async (t) => {
    const page = await console.open(t, '/', { scopes });
    if (!page) return;
    const { key } = (await console.get('/v1/risks?limit=1')).data[0];
    const project = key.split('-')[0];
    const calls: [method: string, path: string, body?: object][] = [
      ['GET', '/v1/personnel'],
      ['GET', '/v1/groups'],
      ['GET', '/v1/keys'],
      ['POST', '/v1/personnel', { name: 'Eve' }],
      ['POST', `/v1/projects/${project}/risks`, { title: 'Eve' }],
      ['PATCH', `/v1/projects/${project}/risks/${key}`, { title: 'Eve' }],
      ['DELETE', `/v1/projects/${project}/risks/${key}`],
      ['POST', `/v1/projects/${project}/risks/${key}/materialize`, {}],
      ['POST', '/v1/keys', { name: 'Eve', scopes: ['keys.manage'] }],
    ];
    for (const [method, path, body] of calls) {
      const status: number = await page.evaluate(
        async ([method, path, body]) => {
          const headers = { 'content-type': 'application/json' };
          const answer = await fetch(path, { method, ...(body && { headers, body: JSON.stringify(body) }) });
          return answer.status;
        },
        [method, path, body] as const,
      );
      assert.equal(status, 403, `${method} ${path}`);
    }
  });
});

test('a key for people alone begins with the people', async (t) => {
  const page = await console.open(t, '/', { scopes: ['personnel.read'] });
  if (!page) return;
  await page.getByRole('heading', { level: 1, name: 'Personnel' }).waitFor();
  await settled(page);
  assert.equal(await page.getByRole('button', { name: 'Add person' }).count(), 0);
});

describe('any text', () => {
  const texts = {
    script: '<script>document.title = "broken"</script><img src=x onerror="document.title=1">',
    long: 'W'.repeat(200),
    rightToLeft: 'مخاطر توريد الصمامات من المورد الوحيد',
    emoji: '👩‍🚀🚨 Überläufe 🏴󠁧󠁢󠁳󠁣󠁴󠁿',
  };

  for (const [name, text] of Object.entries(texts)) {
    test(`is shown as text, and the layout holds: ${name}`, async (t) => {
      const person = await console.post('/v1/personnel', { name: text, title: text });
      const group = await console.post('/v1/groups', { name: text, description: text });
      const project = await console.post('/v1/projects', {
        name: text,
        key: `T${name.length}${name.slice(0, 2).toUpperCase()}`,
      });
      const inside = `/v1/projects/${project.key}`;
      const owner_user_id = person.user_id;
      const risk = await console.post(`${inside}/risks`, {
        title: text,
        description: text,
        owner_user_id,
        probability: 5,
        impact: 5,
      });
      const issue = await console.post(`${inside}/issues`, {
        title: text,
        description: text,
        severity: 'critical',
      });
      const page = await console.open(t, '/', { viewport: { width: 390, height: 844 } });
      if (!page) return;
      const paths = [
        `/risks?project=${project.key}`,
        `/risks/${risk.key}`,
        `/issues?project=${project.key}`,
        `/issues/${issue.key}`,
        `/projects/${project.key}`,
        `/personnel/${person.user_id}`,
        `/groups/${group.id}`,
        '/groups',
        '/',
      ];
      for (const width of [390, 1280]) {
        await page.setViewportSize({ width, height: 844 });
        for (const path of paths) {
          await page.goto(`${console.app.baseUrl}${path}`);
          await settled(page);
          const shown = await page.locator('main').textContent();
          if (path !== '/') assert.ok(shown?.includes(text), `${path} does not show it`);
          const wide: number = await page.evaluate(() => document.documentElement.scrollWidth);
          assert.ok(wide <= width, `${path} is ${wide} wide at ${width}`);
          assert.notEqual(await page.title(), 'broken');
        }
      }
    });
  }
});

test('where there is nothing, the page says what to do first', async (t) => {
  const page = await empty.open(t, '/');
  if (!page) return;
  const first: [path: string, title: string, says: RegExp][] = [
    ['/', 'No project yet', /Make one/],
    ['/risks', 'The register is empty', /New risk/],
    ['/issues', 'No issue is open', /New issue/],
    ['/projects', 'No project yet', /New project/],
    ['/personnel', 'The roster is empty', /Add person/],
    ['/groups', 'No group yet', /New group/],
  ];
  for (const [path, title, says] of first) {
    await page.goto(`${empty.app.baseUrl}${path}`);
    await page.getByRole('heading', { name: title }).waitFor();
    assert.match((await page.locator('.empty').textContent()) ?? '', says);
  }
  await page.goto(`${empty.app.baseUrl}/`);
  await page.getByRole('link', { name: 'Make the first project' }).click();
  await page.getByRole('dialog', { name: 'New project' }).waitFor();
});
