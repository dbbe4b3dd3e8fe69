import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { type Console, startConsole, waitUntilLoaded } from './console.ts';

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

describe('a key with only projects.read', () => {
  const scopes = ['projects.read'] as const;

  test('sees no pages of people, no email addresses, and no button that it has no scope for', async (t) => {
    const page = await console.open(t, '/', { scopes });
    if (!page) return;
    await waitUntilLoaded(page);
    const pages = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    assert.deepEqual(await pages.allTextContents(), [
      'Overview',
      'Risks',
      'Issues',
      'Tasks',
      'Projects',
      'Report',
    ]);
    const risk = (await console.get('/v1/risks?limit=1')).data[0];
    const issue = (await console.get('/v1/issues?limit=1')).data[0];
    const paths = [
      '/',
      '/risks',
      `/risks/${risk.key}`,
      '/issues',
      `/issues/${issue.key}`,
      '/tasks',
      '/projects',
      '/projects/APOLLO',
      '/report',
    ];
    const allowed = [
      /^Search/,
      /^(System|Light|Dark)$/,
      /^Sign out$/,
      /^(Print|Print or save as PDF|Export|Views)$/,
      /^Show (\d+ earlier|all \d+)$/,
      /^(Project|Status|Level|Needs attention|Severity|Priority|Health|Above appetite|Overdue|Unassigned|Archived|Kind|Columns)$/,
    ];
    for (const path of paths) {
      await page.goto(`${console.app.baseUrl}${path}`);
      await waitUntilLoaded(page);
      assert.ok(!/@example\.com/.test(await page.content()), `${path} shows an address`);
      assert.equal(
        await page.locator('main a[href*="/personnel"], main a[href*="/groups"]').count(),
        0,
        path,
      );
      // Everyone can sort a list by its headers.
      const buttons: Locator[] = await page.getByRole('button').and(page.locator(':not(.sort)')).all();
      for (const button of buttons) {
        const name: string = (await button.getAttribute('aria-label')) ?? (await button.textContent()) ?? '';
        assert.ok(
          allowed.some((one) => one.test(name.trim())),
          `${path} offers “${name}”`,
        );
      }
    }
    for (const path of ['/personnel', '/groups', '/keys']) {
      await page.goto(`${console.app.baseUrl}${path}`);
      await page.getByText("Page not found, or you don't have access").waitFor();
    }
  });

  test('cannot send the requests that the console hides from it', async (t) => {
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
          const response = await fetch(path, {
            method,
            ...(body && { headers, body: JSON.stringify(body) }),
          });
          return response.status;
        },
        [method, path, body] as const,
      );
      assert.equal(status, 403, `${method} ${path}`);
    }
  });
});

test('a wrong address and a service that cannot be reached are explained in plain words', async (t) => {
  const page = await console.open(t, '/no/such/page');
  if (!page) return;
  await page.getByText("Page not found, or you don't have access").waitFor();
  await page.goto(`${console.app.baseUrl}/keys`);
  await waitUntilLoaded(page);
  await page.route('**/assets/*.js', (route) => route.abort());
  await page.getByRole('link', { name: 'Groups' }).click();
  await page.getByRole('alert').getByText("Can't reach the service").waitFor();
});

test('a slow start shows the shape of a page, before and after the code has loaded', async (t) => {
  const page = await console.open(t, '/keys');
  if (!page) return;
  for (const part of ['**/assets/*.js', '**/v1/me']) {
    const { promise, resolve: release } = Promise.withResolvers<void>();
    await page.route(part, async (route) => {
      await promise;
      await route.continue();
    });
    await page.goto(`${console.app.baseUrl}/keys`, { waitUntil: 'commit' });
    await page.locator('.starting .skeleton').first().waitFor();
    release();
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor();
    await page.unroute(part);
  }
});

test('the page of an item that does not exist leads to its list', async (t) => {
  const page = await console.open(t, '/risks/APOLLO-R999', { colorScheme: 'dark' });
  if (!page) return;
  await page.getByRole('heading', { name: 'Not found' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0);
  await assertAccessible(page, 'the page of a missing risk, dark');
  await page.getByRole('link', { name: 'Go to risks' }).click();
  await page.getByRole('heading', { name: 'Risks', exact: true }).waitFor();
  // No item can have this id.
  await page.goto(`${console.app.baseUrl}/personnel/usr_x`);
  await page.getByRole('heading', { name: 'Not found' }).waitFor();
  assert.doesNotMatch((await page.locator('main').textContent()) ?? '', /usr_/);
  await page.getByRole('link', { name: 'Go to personnel' }).waitFor();
});

test('a key with only personnel.read starts on the personnel page', async (t) => {
  const page = await console.open(t, '/', { scopes: ['personnel.read'] });
  if (!page) return;
  await page.getByRole('heading', { level: 1, name: 'Personnel' }).waitFor();
  await waitUntilLoaded(page);
  assert.equal(await page.getByRole('button', { name: 'Add person' }).count(), 0);
});

/** Where the text itself starts, not the box around it. */
const leftOfText = (element: Element) => {
  let text: Node = element;
  while (text.firstChild) text = text.firstChild;
  const range = document.createRange();
  range.selectNodeContents(text);
  return range.getBoundingClientRect().left;
};

describe('unusual text', () => {
  const texts = {
    script: '<script>document.title = "broken"</script><img src=x onerror="document.title=1">',
    long: 'W'.repeat(200),
    rightToLeft: 'مخاطر توريد الصمامات من المورد الوحيد',
    emoji: '👩‍🚀🚨 Überläufe 🏴󠁧󠁢󠁳󠁣󠁴󠁿',
  };

  for (const [name, text] of Object.entries(texts)) {
    test(`is shown as text and does not break the layout: ${name}`, async (t) => {
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
          await waitUntilLoaded(page);
          const shown = await page.locator('main').textContent();
          if (path !== '/') assert.ok(shown?.includes(text), `${path} does not show it`);
          const wide: number = await page.evaluate(() => document.documentElement.scrollWidth);
          assert.ok(wide <= width, `${path} is ${wide} wide at ${width}`);
          assert.notEqual(await page.title(), 'broken');
          if (name === 'rightToLeft' && /^\/\w+\//.test(path)) {
            const left: number = await page.locator('h1').evaluate(leftOfText);
            assert.ok(left < width / 4 + 20, `${path}: the heading is below its breadcrumbs`);
          }
        }
      }
    });
  }
});

test('an empty page explains how to start', async (t) => {
  const page = await empty.open(t, '/');
  if (!page) return;
  const pages: [path: string, title: string, text: RegExp][] = [
    ['/', 'No projects yet', /Create a project/],
    ['/projects', 'No projects yet', /Create a project/],
    ['/personnel', 'No people yet', /Add the people/],
    ['/groups', 'No groups yet', /Create a group/],
    ['/webhooks', 'No webhooks yet', /Create a webhook/],
  ];
  const assertExplained = async (path: string, title: string, text: RegExp) => {
    await page.goto(`${empty.app.baseUrl}${path}`);
    await page.getByRole('heading', { name: title }).waitFor();
    assert.match((await page.locator('.empty').textContent()) ?? '', text);
  };
  for (const [path, title, text] of pages) await assertExplained(path, title, text);
  // Without a project nothing else can be created.
  for (const path of ['/', '/risks', '/issues', '/tasks', '/report']) {
    await assertExplained(path, 'No projects yet', /Create a project/);
    await page.getByRole('link', { name: 'Create project' }).click();
    await page.getByRole('dialog', { name: 'Create project' }).waitFor();
  }
  const project = await empty.post('/v1/projects', { key: 'FIRST', name: 'First' });
  await assertExplained('/risks', 'No risks yet', /Create a risk/);
  await assertExplained('/issues', 'No open issues', /Create an issue/);
  await assertExplained('/tasks', 'No open tasks', /Add tasks/);
  await assertExplained('/report?project=OTHER', 'No projects match these filters', /Clear filters/);
  await empty.delete(`/v1/projects/${project.id}`);
});

test('titles of risks have room next to the heat map on a laptop', async (t) => {
  for (const width of [1210, 1280, 1366, 1440]) {
    const page = await console.open(t, '/risks', { viewport: { width, height: 800 } });
    if (!page) return;
    await waitUntilLoaded(page);
    await page.getByText('Heat map').waitFor();
    const title = await page.locator('.table tbody td:has(.row-link)').first().boundingBox();
    assert.ok((title?.width ?? 0) > 160, `${title?.width} pixels in a window of ${width}`);
  }
});
