import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { settableClock } from '../../test/clock.ts';
import { startConsole, test, waitUntilLoaded } from './console.ts';

/** 17:30 on 15 November in Los Angeles, where the organization is. */
const now = '2026-11-16T01:30:00Z';

const console = startConsole({
  isEmpty: true,
  clock: settableClock(now),
  environment: { MUSTER_TIME_ZONE: 'America/Los_Angeles' },
  async fill() {
    await console.post('/v1/projects', { name: 'Apollo' });
    await console.post('/v1/projects/APOLLO/tasks', { title: 'Late task', due_on: '2026-11-14' });
    await console.post('/v1/projects/APOLLO/tasks', { title: 'Task of today', due_on: '2026-11-15' });
    await console.post('/v1/projects/APOLLO/risks', { title: 'Risk', probability: 2, impact: 2 });
  },
});

/** Pages in a browser with the right time, and in one with a wrong time: the day is that of the service. */
async function openBoth(t: TestContext, path: string): Promise<Page[]> {
  const wrong = await console.open(t, path, { timezoneId: 'Pacific/Auckland' });
  const right = await console.open(t, path, { timezoneId: 'Asia/Tokyo' });
  await right.clock.setFixedTime(now);
  await wrong.clock.setFixedTime('2026-12-24T12:00:00Z');
  for (const page of [right, wrong]) {
    await page.reload();
    await waitUntilLoaded(page);
  }
  return [right, wrong];
}

test('a task is overdue when its day has passed in the time zone of the organization', async (t) => {
  for (const page of await openBoth(t, '/tasks')) {
    const isLate = (title: string) => page.locator('tr', { hasText: title }).locator('.overdue').count();
    await page.getByText('Late task').waitFor();
    assert.deepEqual([await isLate('Late task'), await isLate('Task of today')], [1, 0]);
  }
});

test('inputs of days start and end with the day of the organization', async (t) => {
  for (const page of await openBoth(t, '/risks')) {
    const asOf = page.getByRole('textbox', { name: 'As of' });
    assert.deepEqual([await asOf.inputValue(), await asOf.getAttribute('max')], ['2026-11-15', '2026-11-15']);
    await asOf.fill('2026-11-14');
    await page.waitForURL(/as_of=2026-11-14/);
  }
  for (const page of await openBoth(t, '/report'))
    await page.getByText('15 Nov 2026 · Changes since 16 Oct 2026').waitFor();
});

test('a key expires at the end of a day of the organization', async (t) => {
  for (const [i, page] of (await openBoth(t, '/keys')).entries()) {
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Expires at 23:59 on that day (America/Los_Angeles).').waitFor();
    assert.equal(await dialog.getByLabel('Expires').getAttribute('min'), '2026-11-16');
    const name = `Until the end of November ${i}`;
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByRole('checkbox').first().check();
    await dialog.getByLabel('Expires').fill('2026-11-30');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('dialog', { name: `New key: ${name}` }).waitFor();
    const { data } = await console.get('/v1/keys');
    const key = data.find((key: { name: string }) => key.name === name);
    assert.equal(key.expires_at, '2026-12-01T07:59:59.000Z');
    await page.goto('/keys');
    await page.locator('tr', { hasText: name }).getByText('Until 30 Nov 2026').first().waitFor();
  }
});

test('a list shows the day of the organization on which an item was updated', async (t) => {
  for (const page of await openBoth(t, '/risks?columns=updated'))
    assert.equal(await page.getByRole('cell', { name: /^\d+ Nov 2026$/ }).textContent(), '15 Nov 2026');
});
