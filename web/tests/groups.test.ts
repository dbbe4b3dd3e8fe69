import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible } from './axe.ts';
import { type Console, startConsole, waitUntilLoaded } from './console.ts';
import { tabTo } from './focus.ts';

let console: Console;
before(async () => {
  console = await startConsole();
});
after(() => console.stop());

test('groups are links: a middle click, Ctrl and a click, and Ctrl+Enter open another tab', async (t) => {
  const page = await console.open(t, '/groups');
  if (!page) return;
  await waitUntilLoaded(page);
  const { data } = await console.get('/v1/groups?q=Cyber%20Security');
  const { id } = data[0];
  const row = page.getByRole('row', { name: 'Cyber Security' });
  const link = row.getByRole('link', { name: 'Cyber Security' });
  assert.equal(await link.getAttribute('href'), `/groups/${id}`);
  for (const open of [
    () => row.locator('.quiet').first().click({ button: 'middle', force: true }),
    () => link.click({ modifiers: ['Control'], force: true }),
    () => link.press('Control+Enter'),
  ]) {
    const [tab] = await Promise.all([page.context().waitForEvent('page'), open()]);
    await tab.waitForURL(new RegExp(`/groups/${id}$`));
    await tab.close();
    assert.equal(new URL(page.url()).pathname, '/groups');
  }
  await assertAccessible(page, 'the tree of groups');
});

test('arrow keys move through the links of the tree and collapse groups; Tab leaves it', async (t) => {
  const page = await console.open(t, '/groups');
  if (!page) return;
  await waitUntilLoaded(page);
  const focused = () => page.locator(':focus');
  const hasFocus = (name: string) => page.locator('a:focus-visible', { hasText: name }).waitFor();
  await tabTo(page, 'Create group');
  await page.keyboard.press('Tab');
  await page.locator('.group-tree a:focus-visible').waitFor();
  await page.keyboard.type('techn');
  await hasFocus('Technology');
  assert.equal(
    await focused().evaluate((link) => getComputedStyle(link, '::after').outlineStyle),
    'solid',
    'a focus ring',
  );
  const child = page.getByRole('row', { name: 'Cyber Security' });
  await page.keyboard.press('ArrowLeft');
  await child.waitFor({ state: 'detached' });
  await hasFocus('Technology');
  await page.keyboard.press('ArrowRight');
  await child.waitFor();
  await page.keyboard.press('ArrowDown');
  const name = await focused().innerText();
  assert.notEqual(name, 'Technology');
  await page.keyboard.press('ArrowLeft');
  await hasFocus('Technology');
  await page.keyboard.press('Tab');
  assert.equal(await page.locator('.group-tree :focus').count(), 0);
  await page.keyboard.press('Shift+Tab');
  await hasFocus('Technology');
  await page.getByRole('row', { name: 'Technology' }).locator('.chevron').click();
  await child.waitFor({ state: 'detached' });
  assert.equal(new URL(page.url()).pathname, '/groups');
  await page.keyboard.press('ArrowRight');
  await child.waitFor();
  // With nothing to expand, the row gets the focus in place of its link.
  await page.keyboard.press('ArrowRight');
  await page.locator('.group-item:focus').waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Technology' }).waitFor();
});
