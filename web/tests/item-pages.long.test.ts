import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Console, startConsole, waitUntilLoaded } from './console.ts';

let console: Console;

before(async () => {
  console = await startConsole();
});

after(() => console.stop());

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

const fact = (page: Page, name: string) =>
  page.locator('.fact', { has: page.locator('dt', { hasText: new RegExp(`^${name}$`) }) }).locator('dd');

test('the details of a risk and a task have the same words and colors as their headers', async (t) => {
  const late = { raised_on: daysAgo(60), due_on: daysAgo(3) };
  const risk = await console.post('/v1/projects/APOLLO/risks', { title: 'Late', ...late });
  const task = await console.post('/v1/projects/APOLLO/tasks', { title: 'Late', due_on: late.due_on });
  const issue = await console.post('/v1/projects/APOLLO/issues', { title: 'Late', ...late });
  const page = await console.open(t, `/risks/${risk.key}`);
  if (!page) return;
  for (const [path, name, text] of [
    [`/risks/${risk.key}`, 'Owner', 'No owner'],
    [`/issues/${issue.key}`, 'Owner', 'No owner'],
    [`/tasks/${task.key}`, 'Assignee', 'Unassigned'],
  ] as const) {
    await page.goto(`${console.app.baseUrl}${path}`);
    await waitUntilLoaded(page);
    await fact(page, 'Due').locator('.overdue').waitFor();
    await fact(page, name).getByText(text, { exact: true }).waitFor();
  }
});

test('a long check stays within the card of details', async (t) => {
  const { data } = await console.get('/v1/risks?check=stale_90d&limit=1');
  const page = await console.open(t, `/risks/${data[0].key}`, { viewport: { width: 1440, height: 900 } });
  if (!page) return;
  await waitUntilLoaded(page);
  const right = async (selector: string) => {
    const box = await page.locator(selector).boundingBox();
    return (box?.x ?? 0) + (box?.width ?? 0);
  };
  const facts = await right('[aria-labelledby=details] .facts');
  const chip = await right('[aria-labelledby=details] .chip:text("No update in 90 days")');
  assert.ok(chip > 0 && chip <= facts + 0.5, `the chip ends at ${chip}, the facts at ${facts}`);
});

test('a risk that has occurred or is closed says that it is not ranked', async (t) => {
  for (const [status, text] of [
    ['materialized', 'this one has occurred'],
    ['closed', 'this one is closed'],
  ] as const) {
    const { data } = await console.get(`/v1/risks?status=${status}&assessed=true&limit=1`);
    const page = await console.open(t, `/risks/${data[0].key}`);
    if (!page) return;
    await page.locator('.rank-explanation').getByText(text).waitFor();
  }
});

test('the time of the last use of a key is not cut off', async (t) => {
  const { secret } = await console.newKey();
  await fetch(`${console.app.baseUrl}/v1/me`, { headers: { authorization: `Bearer ${secret}` } });
  // The longest times have two digits in the day and the hour.
  const page = await console.open(t, '/', { locale: 'en-US', viewport: { width: 1440, height: 900 } });
  if (!page) return;
  await page.route('**/v1/keys*', async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    for (const key of body.data) key.last_used_at = '2026-11-28T22:48:00.000Z';
    await route.fulfill({ response, json: body });
  });
  await page.goto(`${console.app.baseUrl}/keys`);
  const cell = page.getByRole('cell', { name: 'Nov 28, 2026, 10:48 PM' }).first();
  await cell.waitFor();
  const [content, shown] = await cell.evaluate(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth]);
  assert.ok((content ?? 0) <= (shown ?? 0), `${content} px of text in ${shown} px`);
});

test('each rule of project health is a line of its own', async (t) => {
  const page = await console.open(t, '/projects/APOLLO');
  if (!page) return;
  await page.getByText('How health is determined').click();
  const rules = page.locator('.health-rules');
  await rules.getByText('At least a quarter of its open issues are critical.', { exact: true }).waitFor();
  assert.deepEqual(await rules.locator('dt').allTextContents(), [
    'Off track',
    'At risk',
    'On track',
    'Unknown',
  ]);
});

test('canceled tasks and projects have the American spelling', async (t) => {
  const task = await console.post('/v1/projects/APOLLO/tasks', { title: 'Not needed' });
  await console.patch(`/v1/projects/APOLLO/tasks/${task.key}`, { status: 'cancelled' });
  const page = await console.open(t, `/tasks/${task.key}`);
  if (!page) return;
  await fact(page, 'Status').getByText('Canceled', { exact: true }).waitFor();
  await page.goto(`${console.app.baseUrl}/`);
  await page.locator('.activity').getByText('canceled task').first().waitFor();
});
