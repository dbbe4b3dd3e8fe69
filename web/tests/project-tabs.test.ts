import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { assertAccessible, screens } from './axe.ts';
import { type Console, screenshot, startConsole, waitUntilLoaded } from './console.ts';
import { tabTo } from './focus.ts';

let console: Console;

before(async () => {
  console = await startConsole();
});

after(() => console.stop());

const countIn = (text: string | null) => Number((text ?? '').replace(/\D/g, ''));

test('the tabs of a project are in the URL and show as many rows as their labels say', async (t) => {
  const page = await console.open(t, '/projects/APOLLO', { viewport: { width: 1440, height: 900 } });
  if (!page) return;
  await waitUntilLoaded(page);
  const { counts } = await console.get('/v1/projects/APOLLO');
  const tasks = await console.get('/v1/tasks?project=APOLLO&limit=1&count=true');
  const tab = (name: string) => page.getByRole('tab', { name: new RegExp(`^${name}`) });
  const expected = { Risks: counts.active_risks, Issues: counts.open_issues, Tasks: tasks.page.total };
  for (const [name, count] of Object.entries(expected)) {
    await page.waitForFunction(
      (title) =>
        [...document.querySelectorAll('[role=tab]')].some(
          ({ textContent }) => textContent?.startsWith(title) && /\d/.test(textContent),
        ),
      name,
    );
    assert.equal(countIn(await tab(name).textContent()), count, name);
    await tab(name).click();
    await page.waitForURL(new RegExp(`tab=${name.toLowerCase()}`));
    await waitUntilLoaded(page);
    const rows: Locator = name === 'Tasks' ? page.locator('.lines > li') : page.locator('tbody .row-link');
    assert.equal(await rows.count(), count, name);
  }
  await page.goBack();
  assert.equal(await tab('Issues').getAttribute('aria-selected'), 'true');
  await page.reload();
  await waitUntilLoaded(page);
  assert.equal(await tab('Issues').getAttribute('aria-selected'), 'true');

  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.getByRole('tablist').isVisible(), false);
  await page.getByRole('heading', { level: 2, name: 'Issues' }).waitFor();
  await screenshot(page, 'project-print');
});

test('the tabs are used with the keyboard; each meets WCAG 2.2 AA at three widths', async (t) => {
  const page = await console.open(t, '/projects/APOLLO');
  if (!page) return;
  await waitUntilLoaded(page);
  await tabTo(page, 'Delete');
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await page.waitForURL(/tab=risks/);
  await waitUntilLoaded(page);
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/risks\/APOLLO-R/);
  for (const name of ['overview', 'risks', 'issues', 'tasks', 'activity']) {
    await page.goto(`${console.app.baseUrl}/projects/APOLLO?tab=${name}`);
    await waitUntilLoaded(page);
    for (const { width, colorScheme } of screens) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      await screenshot(page, `project-${name}-${width}-${colorScheme}`);
      await assertAccessible(page, `${name}, ${width}, ${colorScheme}`);
      const scroll: number = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(scroll <= width, `${name} is ${scroll} wide at ${width}`);
    }
  }
});
