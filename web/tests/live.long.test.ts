import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { fillPeople } from '../../test/people.ts';
import { startConsole, test, visit, waitUntilLoaded } from './console.ts';
import { hold, setHidden } from './page.ts';

const console = startConsole();

/** Opens a page and waits until it follows the events. */
async function openLive(t: TestContext, path: string): Promise<Page> {
  const page = await console.newPage(t);
  const stream = page.waitForResponse(/\/v1\/events\/stream/);
  await page.goto(path);
  await stream;
  await waitUntilLoaded(page);
  return page;
}

test('a list and a page show what another client changes', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/issues', { title: 'Live 5523' });
  const list = await openLive(t, '/issues?q=5523');
  const page = await openLive(t, `/issues/${key}`);
  await console.post('/v1/projects/APOLLO/issues', { title: 'Live 5523 as well' });
  await list.getByRole('link', { name: 'Live 5523 as well' }).waitFor();
  await console.patch(`/v1/projects/APOLLO/issues/${key}`, { title: 'Renamed 5523', status: 'in_progress' });
  await list.getByRole('link', { name: 'Renamed 5523' }).waitFor();
  await page.getByRole('heading', { level: 1, name: 'Renamed 5523' }).waitFor();
  await page.locator('#status .chip').getByText('In progress').waitFor();
});

test('a list of risks shows the tasks that another client has done, and the day of another time zone', async (t) => {
  const { id } = await console.post('/v1/projects/APOLLO/risks', {
    title: 'With tasks 3317',
    raised_on: '2026-01-01',
    due_on: new Date().toISOString().slice(0, 10),
  });
  const task = await console.post('/v1/projects/APOLLO/tasks', { title: 'Done live', risk_id: id });
  const page = await openLive(t, '/risks?q=3317&columns=tasks,due');
  await page.getByRole('cell', { name: '0 of 1' }).waitFor();
  await console.patch(`/v1/projects/APOLLO/tasks/${task.key}`, { status: 'done' });
  await page.getByRole('cell', { name: '1 of 1' }).waitFor();

  // One of them has another day than UTC at any time.
  const isAfternoon = new Date().getUTCHours() >= 11;
  const read = page.waitForRequest(/\/v1\/risks\?.*q=3317/);
  await console.patch('/v1/organization', {
    time_zone: isAfternoon ? 'Pacific/Kiritimati' : 'Pacific/Pago_Pago',
  });
  await read;
  await page.locator('td .overdue').waitFor({ state: isAfternoon ? 'attached' : 'detached' });
  await console.patch('/v1/organization', { time_zone: 'UTC' });
});

test('an open form is not disturbed, and the page is updated when it is closed', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Held still' });
  const page = await openLive(t, `/risks/${key}`);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Title').fill('Mine');
  await console.patch(`/v1/projects/APOLLO/risks/${key}`, { title: 'Theirs', category: 'supply' });
  await console.post('/v1/projects/APOLLO/risks', { title: 'Unrelated' });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('alert').getByText('Someone else changed this').waitFor();
  assert.equal(await dialog.getByLabel('Title').inputValue(), 'Mine');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.getByRole('heading', { level: 1, name: 'Theirs' }).waitFor();
});

test('a row stays while something is open in it', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/issues', { title: 'Resolved by others 7741' });
  const page = await openLive(t, '/issues?q=7741');
  const other = await openLive(t, '/issues?q=7741');
  await page.getByRole('button', { name: `Assign…, ${key}` }).click();
  const picker = page.getByRole('combobox', { name: 'Assign to' });
  await picker.fill('adaeze');
  await console.patch(`/v1/projects/APOLLO/issues/${key}`, { status: 'resolved', resolution: 'fixed' });
  await other.getByText('No open issues match these filters').waitFor();
  assert.equal(await picker.inputValue(), 'adaeze');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.getByText('No open issues match these filters').waitFor();
});

test('updates continue after the stream was rejected, and a revoked key leads to the sign-in', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Before' });
  const page = await console.newPage(t);
  let attempts = 0;
  await page.clock.install();
  await page.route('**/v1/events/stream*', (route) => {
    attempts += 1;
    return attempts === 1 ? route.fulfill({ status: 503 }) : route.continue();
  });
  const rejected = page.waitForResponse(/\/v1\/events\/stream/);
  await page.goto(`/risks/${key}`);
  await rejected;
  await page.getByRole('heading', { level: 1, name: 'Before' }).waitFor();
  await console.patch(`/v1/projects/APOLLO/risks/${key}`, { title: 'After' });
  const accepted = page.waitForResponse(/\/v1\/events\/stream/);
  await page.clock.runFor(6_000);
  await accepted;
  await page.clock.runFor(2_000);
  await page.getByRole('heading', { level: 1, name: 'After' }).waitFor();

  const { key_id } = await page.evaluate(async () => (await fetch('/v1/me')).json());
  await console.revoke(key_id);
  await page.getByLabel('API key').waitFor();
  await page.getByRole('alert').waitFor();
});

test('a request that hangs does not stop the updates that follow', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Before' });
  const path = `/v1/projects/APOLLO/risks/${key}`;
  const page = await console.newPage(t);
  await page.clock.install();
  const stream = page.waitForResponse(/\/v1\/events\/stream/);
  await page.goto(`/risks/${key}`);
  await stream;
  await waitUntilLoaded(page);
  const release = await hold(page, /\/comments\b/);
  const isHeld = page.waitForRequest(/\/comments\b/);
  await console.patch(path, { title: 'First' });
  await page.getByRole('heading', { level: 1, name: 'First' }).waitFor();
  await isHeld;
  await console.patch(path, { title: 'Second' });
  await page.clock.fastForward(35_000);
  await page.getByRole('heading', { level: 1, name: 'Second' }).waitFor();
  release();
});

test('a hidden tab closes its stream, and catches up when it is shown again', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Seen' });
  const page = await openLive(t, `/risks/${key}`);
  const path = `/v1/projects/APOLLO/risks/${key}`;
  await console.patch(path, { title: 'Seen live' });
  await page.getByRole('heading', { level: 1, name: 'Seen live' }).waitFor();
  const closed = page.waitForEvent('requestfailed', (request) => /events\/stream/.test(request.url()));
  await setHidden(page, true);
  await closed;
  await console.patch(path, { title: 'Changed behind its back' });
  const reopened = page.waitForRequest(/events\/stream\?after=\d+$/);
  await setHidden(page, false);
  await reopened;
  await page.getByRole('heading', { level: 1, name: 'Changed behind its back' }).waitFor();
});

test('a key that cannot read events opens no stream and has no activity', async (t) => {
  const page = await console.newPage(t, { scopes: ['projects.read'] });
  const streams: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/v1/events')) streams.push(request.url());
  });
  await visit(page, '/');
  assert.deepEqual(streams, []);
  assert.equal(await page.getByRole('heading', { name: 'Activity' }).count(), 0);
});

test('the overview shows the latest changes in words, live', async (t) => {
  const page = await openLive(t, '/');
  const activity = page.getByRole('region', { name: 'Activity' });
  const person = await console.post('/v1/personnel', { name: 'Ines Feed' });
  await activity.getByText('test (API key) added person Ines Feed').waitFor();
  const risk = await console.post('/v1/projects/APOLLO/risks', {
    title: 'Late parts',
    probability: 2,
    impact: 2,
  });
  const path = `/v1/projects/APOLLO/risks/${risk.key}`;
  const changes: [change: object, words: string][] = [
    [{ owner_user_id: person.user_id }, `changed the owner of risk ${risk.key} Late parts to Ines Feed`],
    [{ due_on: '2031-02-03' }, `changed the due date of risk ${risk.key} Late parts to 3 Feb 2031`],
    [{ probability: 5, impact: 5 }, `raised the level of risk ${risk.key} Late parts from low to critical`],
    [{ status: 'mitigating' }, `changed the status of risk ${risk.key} Late parts to mitigating`],
    [{ status: 'closed', closure_reason: 'Delivered' }, `closed risk ${risk.key} Late parts`],
  ];
  for (const [change] of changes) await console.patch(path, change);
  await console.post(`${path}/comments`, { body: '**Well** done.' });
  await activity.getByText(`commented on risk ${risk.key} Late parts: “Well done.”`).waitFor();
  await activity.scrollIntoViewIfNeeded();
  assert.match((await activity.locator('time').first().textContent()) ?? '', /^(just now|\d+ minutes? ago)$/);
  const showMore = activity.getByRole('button', { name: 'Show more' });
  while ((await activity.getByText('test (API key) added person Ines Feed').count()) === 0)
    await showMore.press('Enter');
  for (const [, words] of changes) await activity.getByText(words).waitFor();
  await activity
    .getByRole('link', { name: `${risk.key} Late parts` })
    .first()
    .press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Late parts' }).waitFor();
});

test('after a change, a long list reads only its visible pages again, and the others when they are shown', async (t) => {
  await fillPeople(console.app.database, 650, { department: 'Paged' });
  const page = await console.newPage(t);
  let requests = 0;
  // Short pages, so that many of them need few people.
  await page.route('**/v1/personnel?*', (route) => {
    const url = new URL(route.request().url());
    if (url.searchParams.has('count')) return route.continue();
    requests += 1;
    url.searchParams.set('limit', '25');
    return route.continue({ url: url.href });
  });
  const stream = page.waitForResponse(/\/v1\/events\/stream/);
  await page.goto('/personnel?department=Paged');
  await stream;
  await waitUntilLoaded(page);
  const { data } = await console.get('/v1/personnel?department=Paged');
  await page.waitForFunction((name) => {
    scrollTo(0, document.body.scrollHeight);
    return [...document.querySelectorAll('tbody bdi')].some(({ textContent }) => textContent === name);
  }, data.at(-1).name);
  await waitUntilLoaded(page);
  assert.ok(requests > 24, `${requests} pages`);

  const retitle = (i: number, title: string) => console.patch(`/v1/personnel/${data[i].user_id}`, { title });
  const titled = (title: string) => page.locator('tbody').getByText(title).last();
  requests = 0;
  await retitle(data.length - 1, 'Changed at the end');
  await titled('Changed at the end').waitFor();
  await waitUntilLoaded(page);
  assert.ok(requests <= 6, `${requests} requests after one change`);

  // Changes of pages that are not visible, and at their boundaries.
  await retitle(0, 'Changed at the start');
  await console.delete(`/v1/personnel/${data[49].user_id}`);
  await console.delete(`/v1/personnel/${data[200].user_id}`);
  await console.post('/v1/personnel', { name: `${data[99].name} and a half`, department: 'Paged' });
  await page.getByText(`${data.length - 1} people`).waitFor();
  await page.evaluate(() => scrollTo(0, 0));
  await titled('Changed at the start').waitFor();
  const expected: string[] = (await console.get('/v1/personnel?department=Paged')).data.map(
    (one: { name: string }) => one.name,
  );
  for (let i = 0; i < expected.length; i += 20) {
    await page.evaluate((top) => scrollTo(0, top), i * 41);
    await page.waitForFunction(
      ({ i, names }) =>
        names.every((name, k) => {
          const row = document.querySelector(`tbody tr[aria-rowindex="${i + k + 2}"] .row-link bdi`);
          return row?.textContent === name;
        }),
      { i, names: expected.slice(i, i + 20) },
    );
  }
});

test('a report of many projects is read again with few requests', async (t) => {
  const page = await openLive(t, '/report');
  assert.ok((await page.locator('.project-section').count()) > 20);
  const { data } = await console.get('/v1/risks?kind=threat&limit=1');
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  await console.patch(`/v1/projects/${data[0].project_key}/risks/${data[0].key}`, { title: 'Renamed 6620' });
  await page.locator('[aria-labelledby=top-risks]').getByText('Renamed 6620').waitFor();
  await page.locator('.project-section').getByText('Renamed 6620').waitFor();
  assert.ok(requests.length <= 5, requests.join('\n'));
});

test('the direct reports on the page of a person show who was added', async (t) => {
  const { user_id } = await console.post('/v1/personnel', { name: 'Mona Lead' });
  const add = (name: string) => console.post('/v1/personnel', { name, manager_user_id: user_id });
  await add('First Report');
  const page = await openLive(t, `/personnel/${user_id}`);
  const reports = page.locator('#reports').locator('..');
  await reports.getByText('First Report').waitFor();
  await add('Second Report');
  await reports.getByText('Second Report').waitFor();
});
