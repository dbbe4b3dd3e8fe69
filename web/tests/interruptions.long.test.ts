import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { startConsole, test, visit, waitUntilLoaded } from './console.ts';
import { hold, signIn } from './page.ts';

const console = startConsole();

const unreachable = "Can't reach the service. Check your connection and try again.";

const titles = async (q: string): Promise<string[]> =>
  (await console.get(`/v1/risks?q=${q}`)).data.map(({ title }: { title: string }) => title);

const createRisk = async (title: string) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title });
  return { key: String(key), path: `/v1/projects/APOLLO/risks/${key}` };
};

/** Lets the next write take effect, but loses its response. */
async function loseNextResponse(page: Page): Promise<void> {
  let isDue = true;
  await page.route('**/v1/**', async (route) => {
    if (!isDue || route.request().method() === 'GET') return route.fallback();
    isDue = false;
    await route.fetch();
    await route.abort();
  });
}

const openRiskForm = async (page: Page, title: string) => {
  await page.getByRole('button', { name: 'Create risk' }).click();
  const dialog = page.getByRole('dialog', { name: 'Create risk' });
  await dialog.getByLabel('Title').fill(title);
  await dialog.getByText('More', { exact: true }).click();
  await dialog.getByLabel('Description').fill('Kept');
  return {
    dialog,
    send: () => dialog.getByRole('button', { name: 'Create risk' }).click(),
    assertKept: async () =>
      assert.deepEqual(
        [await dialog.getByLabel('Title').inputValue(), await dialog.getByLabel('Description').inputValue()],
        [title, 'Kept'],
      ),
    created: () => page.getByRole('heading', { level: 1, name: title }).waitFor(),
  };
};

test('a form survives a lost connection and a lost response, and creates one item', async (t) => {
  const page = await console.open(t, '/risks?project=APOLLO');
  const form = await openRiskForm(page, 'Disconnected');
  await page.context().setOffline(true);
  await form.send();
  await form.dialog.getByRole('alert').getByText(unreachable).waitFor();
  await form.assertKept();
  await assertAccessible(page, 'a form without a connection');
  await page.context().setOffline(false);
  await loseNextResponse(page);
  await form.send();
  await page.waitForFunction(() => document.querySelector('.dialog .button[data-pending]') === null);
  await form.dialog.getByRole('alert').getByText(unreachable).waitFor();
  await form.assertKept();
  assert.deepEqual(await titles('Disconnected'), ['Disconnected']);
  await form.send();
  await form.created();
  await page.locator('.toast').getByText('An earlier attempt had been saved').waitFor();
  assert.deepEqual(await titles('Disconnected'), ['Disconnected']);
});

test('after its form was closed, the same item is created once more', async (t) => {
  const page = await console.open(t, '/risks?project=APOLLO');
  const lost = await openRiskForm(page, 'Meant twice');
  await loseNextResponse(page);
  await lost.send();
  await lost.dialog.getByRole('alert').getByText(unreachable).waitFor();
  await lost.dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Discard' }).click();
  await lost.dialog.waitFor({ state: 'detached' });
  const again = await openRiskForm(page, 'Meant twice');
  await again.send();
  await again.created();
  assert.equal(await page.locator('.toast').getByText('An earlier attempt').count(), 0);
  assert.deepEqual(await titles('Meant twice'), ['Meant twice', 'Meant twice']);
});

test('a form creates one item however late and after whatever else it is sent again', async (t) => {
  const page = await console.newPage(t);
  await page.clock.install();
  await visit(page, '/risks?project=APOLLO');
  const form = await openRiskForm(page, 'Sent late');
  const isUnreachable = () => form.dialog.getByRole('alert').getByText(unreachable).waitFor();
  await loseNextResponse(page);
  await form.send();
  await isUnreachable();
  await page.unroute('**/v1/**');
  await page.clock.fastForward(90_000);
  await page.route('**/risks', (route) => route.fulfill({ status: 429, json: { detail: 'Too many.' } }));
  await form.send();
  await form.dialog.getByRole('alert').getByText('Too many.').waitFor();
  await page.unroute('**/risks');
  const title = form.dialog.getByLabel('Title');
  await title.fill('Refused');
  await page.route('**/risks', (route) => route.fulfill({ status: 422, json: { detail: 'Not this one.' } }));
  await form.send();
  await form.dialog.getByRole('alert').getByText('Not this one.').waitFor();
  await page.unroute('**/risks');
  await title.fill('Sent late');
  await form.send();
  await form.created();
  assert.deepEqual([await titles('Sent late'), await titles('Refused')], [['Sent late'], []]);
});

test('without a form, a write is repeated for a minute, whatever else is sent and opened meanwhile', async (t) => {
  for (const category of ['Alpha 8813', 'Beta 8813'])
    await console.post('/v1/projects/APOLLO/risks', { title: 'Categorized', category });
  const listed = async (): Promise<{ id: string; name: string }[]> =>
    (await console.get('/v1/categories')).data.filter(
      ({ id, name }: { id: string | null; name: string }) => id !== null && name.endsWith('8813'),
    );
  const names = async () => (await listed()).map(({ name }) => name).sort();
  const page = await console.newPage(t, { scopes: ['projects.manage'] });
  await page.clock.install();
  await visit(page, '/settings/categories');
  const add = (name: string) => page.getByRole('button', { name: `Add ${name} to the list` }).click();
  const says = (text: string) => page.locator('.toast', { hasText: text }).waitFor();
  /** Adds Alpha without a response, and removes it as somebody else would. */
  const addAndLose = async () => {
    await loseNextResponse(page);
    await add('Alpha 8813');
    await says(unreachable);
    await page.unroute('**/v1/**');
    const alpha = (await listed()).find(({ name }) => name === 'Alpha 8813');
    await console.delete(`/v1/categories/${alpha?.id}`);
  };
  await addAndLose();
  await add('Beta 8813');
  await says('Added Beta 8813');
  await page.getByRole('button', { name: 'Add category' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await add('Alpha 8813');
  await says('An earlier attempt had been saved');
  assert.deepEqual(await names(), ['Beta 8813']);

  await addAndLose();
  await page.clock.fastForward(61_000);
  await add('Alpha 8813');
  await says('Added Alpha 8813');
  assert.deepEqual(await names(), ['Alpha 8813', 'Beta 8813']);
});

test('a list that arrives slowly is read to its end, and read again once nothing of it arrives any more', async (t) => {
  const page = await console.newPage(t);
  await page.clock.install();
  await page.addInitScript(() => {
    const original = fetch;
    const slowed = { attempts: 0, arrive: (_bytes?: number) => {} };
    globalThis.fetch = async (input, init) => {
      const response = await original(input, init);
      if (!(input instanceof Request) || !/\/v1\/issues\?.*limit=100/.test(input.url)) return response;
      let rest = new Uint8Array(await response.arrayBuffer());
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          init?.signal?.addEventListener('abort', () => controller.error(init.signal?.reason));
          slowed.arrive = (bytes = rest.length) => {
            controller.enqueue(rest.slice(0, bytes));
            rest = rest.slice(bytes);
            if (rest.length === 0) controller.close();
          };
        },
      });
      slowed.attempts += 1;
      return new Response(body, response);
    };
    Object.assign(globalThis, { slowed });
  });
  type Slowed = { slowed: { attempts: number; arrive(bytes?: number): void } };
  const isRead = (attempts: number) =>
    page.waitForFunction((n) => (globalThis as unknown as Slowed).slowed.attempts === n, attempts);
  const arrive = (bytes?: number) =>
    page.evaluate((n) => (globalThis as unknown as Slowed).slowed.arrive(n), bytes);
  const row = page.locator('tbody tr[data-row]').first();

  await page.goto('/issues');
  await isRead(1);
  for (let part = 0; part < 3; part++) {
    await page.clock.fastForward(50_000);
    await arrive(100);
  }
  await arrive();
  await row.waitFor();

  await page.reload();
  await isRead(1);
  await arrive(100);
  await page.clock.fastForward(61_000);
  await isRead(2);
  await arrive();
  await row.waitFor();
});

test('a page that could not be loaded opens once there is a connection, without a reload', async (t) => {
  const page = await console.open(t, '/risks');
  let loads = 0;
  page.on('load', () => {
    loads += 1;
  });
  const goTo = (name: string) => page.getByRole('link', { name, exact: true }).click();
  const error = page.locator('main').getByRole('alert').getByText(unreachable).first();
  await page.context().setOffline(true);
  await goTo('Keys');
  await error.waitFor();
  await page.context().setOffline(false);
  await goTo('Risks');
  await page.getByRole('heading', { level: 1, name: 'Risks' }).waitFor();
  await goTo('Keys');
  await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();

  await page.context().setOffline(true);
  await goTo('Webhooks');
  await error.waitFor();
  const failed = page.waitForEvent('requestfailed', (request) => request.url().includes('/livez'));
  await page.getByRole('button', { name: 'Try again' }).click();
  await failed;
  // Opens by itself.
  await page.context().setOffline(false);
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
  assert.equal(loads, 0);
});

test('a page whose code is gone after an upgrade offers a reload', async (t) => {
  const page = await console.open(t, '/risks');
  await page.route('**/assets/*.js', (route) => route.fulfill({ status: 404 }));
  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await page.locator('main').getByRole('alert').getByText('A new version is there.').waitFor();
  assert.equal(await page.getByText(unreachable).count(), 0);
  await page.unroute('**/assets/*.js');
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
});

test('while the service cannot be reached a notice says so, but not after a short interruption', async (t) => {
  const page = await console.newPage(t);
  await page.clock.install();
  await visit(page, '/risks');
  const notice = page.getByRole('status').getByText("Can't reach the service. Showing data from ");
  const checked = page.waitForResponse(/\/livez$/);
  await page.context().setOffline(true);
  await page.clock.runFor(2_000);
  await page.context().setOffline(false);
  await page.clock.runFor(4_000);
  await checked;
  assert.equal(await notice.count(), 0);

  await console.app.close();
  await page.clock.runFor(6_000);
  await notice.waitFor();
  assert.match((await notice.textContent()) ?? '', / from \d\d:\d\d\.$/);
  await assertAccessible(page, 'a list without a connection');
  await console.restart();
  const readAgain = page.waitForResponse(/\/v1\/risks\?/);
  await page.clock.runFor(6_000);
  await notice.waitFor({ state: 'detached' });
  await readAgain;
});

test('the notice also appears when the service does not respond at all', async (t) => {
  const page = await console.open(t, '/risks');
  // Never continued, like a request whose packets are dropped.
  await page.route('**/livez', () => {});
  await page.context().setOffline(true);
  await page.context().setOffline(false);
  await page.getByText("Can't reach the service. Showing data from ").waitFor();
});

test('pressing Enter twice, or a button twice, sends one request', async (t) => {
  const page = await console.open(t, '/risks?project=APOLLO');
  const form = await openRiskForm(page, 'Eager');
  const writes: string[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'GET') writes.push(request.method());
  });
  await form.dialog.locator('form').evaluate((element: HTMLFormElement) => {
    element.requestSubmit();
    element.requestSubmit();
  });
  await form.created();
  await page.getByRole('button', { name: 'Move to Mitigating' }).evaluate((element: HTMLButtonElement) => {
    element.click();
    element.click();
  });
  await page.getByRole('button', { name: 'Move to Monitoring' }).waitFor();
  await page.locator('.button[data-pending]').waitFor({ state: 'detached' });
  assert.deepEqual(writes, ['POST', 'PATCH']);
});

test('a repeated edit, status change, bulk change and deletion succeed after a lost response', async (t) => {
  const { key, path } = await createRisk('Repeated');
  const page = await console.open(t, `/risks/${key}`);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await dialog.getByLabel('Category').fill('Twice');
  await loseNextResponse(page);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('alert').getByText(unreachable).waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'hidden' });
  assert.deepEqual([(await console.get(path)).category, (await console.get(path)).version], ['Twice', 2]);

  await loseNextResponse(page);
  await page.getByRole('button', { name: 'Move to Mitigating' }).click();
  await page.locator('.toast', { hasText: unreachable }).waitFor();
  const mitigate = page.getByRole('button', { name: 'Move to Mitigating' });
  // The page may have been updated by the event of the change.
  if (await mitigate.isVisible()) await mitigate.click({ timeout: 3000 }).catch(() => {});
  await page.locator('#status .chip').getByText('Mitigating').waitFor();
  assert.equal((await console.get(path)).version, 3);

  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await loseNextResponse(page);
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('alert').getByText(unreachable).waitFor();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { level: 1, name: 'Risks' }).waitFor();
  assert.deepEqual(await titles('Repeated'), []);

  const other = await createRisk('Changed in bulk');
  await visit(page, '/risks?q=Changed in bulk');
  await page.locator('tbody').getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Set due date…' }).click();
  await dialog.getByLabel('Due').fill('2031-05-01');
  await loseNextResponse(page);
  await dialog.getByRole('button', { name: 'Update 1 risk' }).click();
  await dialog.getByRole('alert').getByText(unreachable).waitFor();
  await dialog.getByRole('button', { name: 'Update 1 risk' }).click();
  await page.locator('.toast', { hasText: 'Updated 1 risk' }).waitFor();
  assert.equal((await console.get(other.path)).version, 2);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.locator('.toast', { hasText: 'Undone' }).waitFor();
  assert.equal((await console.get(other.path)).due_on, null);
});

test('a form survives the restart of the service', async (t) => {
  const page = await console.open(t, '/risks?project=APOLLO');
  const form = await openRiskForm(page, 'Restarted');
  await console.app.close();
  await form.send();
  await form.dialog.getByRole('alert').getByText(unreachable).waitFor();
  await form.assertKept();
  await console.restart();
  await form.send();
  await form.created();
  assert.deepEqual(await titles('Restarted'), ['Restarted']);
});

test('a form survives a revoked key and is sent with another one', async (t) => {
  const page = await console.open(t, '/risks?project=APOLLO', { signedIn: false });
  // Without `events.read` the page does not notice a revoked key by itself.
  const scopes = ['projects.manage', 'personnel.read'] as const;
  const [first, second] = [await console.newKey(scopes), await console.newKey(scopes)];
  await signIn(page, first.secret);
  await waitUntilLoaded(page);
  const form = await openRiskForm(page, 'Revoked');
  await console.revoke(first.id);
  await form.send();
  await page.getByRole('alert').getByText('You are signed out.').first().waitFor();
  await signIn(page, second.secret);
  await form.assertKept();
  await form.send();
  await form.created();
  assert.deepEqual(await titles('Revoked'), ['Revoked']);

  // A key that sees less starts with nothing that the other one has loaded.
  await waitUntilLoaded(page);
  await console.revoke(second.id);
  const reader = await console.newKey(['personnel.read']);
  await page.getByRole('button', { name: 'Move to Mitigating' }).click();
  await signIn(page, reader.secret);
  await page.getByText("Page not found, or you don't have access").waitFor();
});

test('a deletion survives the end of the session', async (t) => {
  const { key } = await createRisk('Deleted later');
  const page = await console.open(t, `/risks/${key}`);
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: `Delete ${key}?` });
  await page.context().clearCookies();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog', { name: 'Sign in' }).getByText('Your session has ended').waitFor();
  await signIn(page, (await console.newKey()).secret);
  await dialog.getByRole('alert').getByText('Your session has ended. Sign in and try again.').waitFor();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { level: 1, name: 'Risks' }).waitFor();
  assert.deepEqual(await titles('Deleted later'), []);
});

test('the secret of a key that was lost with the connection is explained', async (t) => {
  const page = await console.open(t, '/keys');
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog', { name: 'Create key' });
  await dialog.getByLabel('Name').fill('Lost');
  await dialog.getByRole('checkbox').first().check();
  await loseNextResponse(page);
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByRole('alert').getByText(unreachable).waitFor();
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('The connection was lost before the secret arrived').waitFor();
  await assertAccessible(page, 'the dialog of a lost secret');
  await page.getByRole('button', { name: 'Done' }).click();
  const { data } = await console.get('/v1/keys');
  assert.equal(data.filter(({ name }: { name: string }) => name === 'Lost').length, 1);
});

const failing = { status: 500, contentType: 'application/problem+json', body: '{"detail":"Out of order."}' };

test('the page of an item that someone else deletes says so', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Soon gone' });
  const page = await console.open(t, `/risks/${key}`);
  await page.getByRole('heading', { level: 1, name: 'Soon gone' }).waitFor();
  await console.delete(`/v1/projects/APOLLO/risks/${key}`);
  await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor();
  await page.getByRole('link', { name: 'Go to risks' }).waitFor();
});

test('data that cannot be updated stays below the error, and is updated by trying again', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Before the failure' });
  const page = await console.open(t, `/risks/${key}`);
  await page.route(`**/v1/projects/APOLLO/risks/${key}?*`, (route) => route.fulfill(failing));
  await page.getByRole('button', { name: 'Edit Description' }).click();
  await page.getByRole('textbox', { name: 'Description' }).fill('Being written');
  await console.patch(`/v1/projects/APOLLO/risks/${key}`, { title: 'After the failure' });
  const notice = page.locator('main .notice', { hasText: 'Out of order.' });
  await notice.waitFor();
  await page.getByRole('heading', { level: 1, name: 'Before the failure' }).waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Description' }).inputValue(), 'Being written');
  await page.unroute(`**/v1/projects/APOLLO/risks/${key}?*`);
  await notice.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { level: 1, name: 'After the failure' }).waitFor();
  await notice.waitFor({ state: 'detached' });
});

test('a search that fails says so, beside the results of the searches that succeed', async (t) => {
  const page = await console.open(t, '/risks');
  await page.route('**/v1/risks?q=*', (route) => route.fulfill(failing));
  await page.keyboard.press('Control+k');
  const input = page.getByRole('searchbox', { name: 'Go to' });
  await input.fill('apollo');
  await page.getByRole('menuitem', { name: /^Apollo:.*APOLLO$/ }).waitFor();
  await page.getByRole('alert').getByText("Couldn't search everything. Out of order.").waitFor();
  await page.route('**/v1/*?q=*', (route) => route.fulfill(failing));
  await page.route('**/v1/issues/all?q=*', (route) => route.fulfill(failing));
  await input.fill('zzz');
  await page.getByRole('alert').getByText("Couldn't search. Out of order.").waitFor();
  assert.equal(await page.getByText('No results').count(), 0);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');

  await page.route('**/v1/projects?*', (route) => route.fulfill(failing));
  await page.getByRole('button', { name: 'Create risk' }).click();
  await page.getByRole('combobox', { name: 'Project' }).fill('apollo');
  await page.getByRole('alert').getByText("Couldn't search. Out of order.").waitFor();
  assert.equal(await page.getByText('No results').count(), 0);
});

test('Enter in the palette opens no result for an earlier text', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Found by key' });
  const page = await console.open(t, '/keys');
  await page.keyboard.press('Control+k');
  await page.getByRole('searchbox', { name: 'Go to' }).fill('apollo');
  await page.getByRole('menuitem', { name: /^Apollo:.*APOLLO$/ }).waitFor();
  const release = await hold(page, '**/v1/*?q=apollo-*');
  await page.keyboard.type(key.slice('apollo'.length).toLowerCase());
  await page.getByText('Searching…').waitFor();
  await page.keyboard.press('Enter');
  assert.equal(new URL(page.url()).pathname, '/keys');
  release();
  await page.waitForURL(new RegExp(`/risks/${key}$`));
});
