import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { startConsole, test, visit, waitUntilLoaded } from './console.ts';

const console = startConsole();

const menu = (page: Page) => page.getByRole('button', { name: /^Views/ });

const choose = async (page: Page, item: string) => {
  await menu(page).click();
  await page.getByRole(/…$/.test(item) ? 'menuitem' : 'menuitemradio', { name: item }).click();
};

const save = async (page: Page, name: string) => {
  await choose(page, 'Save as view…');
  await page.getByRole('textbox', { name: 'Name' }).fill(name);
  await page.getByRole('button', { name: 'Save view' }).click();
};

test('a view keeps the filters and the order of a list, and is applied, renamed and deleted', async (t) => {
  const page = await console.open(t, '/issues');
  await menu(page).click();
  const saveItem = page.getByRole('menuitem', { name: 'Save as view…' });
  assert.equal(await saveItem.getAttribute('aria-disabled'), 'true');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Overdue' }).click();
  await page.getByRole('columnheader', { name: 'Due' }).getByRole('button').click();
  await page.waitForURL(/overdue=true&sort=due_on/);
  await save(page, 'Late ones');
  await page.getByRole('button', { name: 'Views Late ones' }).waitFor();
  await page.getByRole('button', { name: 'Overdue' }).click();
  await page.waitForURL(/issues\?sort=due_on/);
  await page.getByRole('button', { name: 'Views', exact: true }).waitFor();
  await save(page, 'By date');

  await visit(page, '/issues');
  await menu(page).click();
  await page.keyboard.press('Escape');
  await choose(page, 'Late ones');
  await page.waitForURL(/issues\?overdue=true&sort=due_on/);
  await menu(page).click();
  const current = page.getByRole('menuitemradio', { name: 'Late ones' });
  assert.equal(await current.getAttribute('aria-checked'), 'true');
  await page.getByRole('menuitem', { name: 'Manage views…' }).click();
  await page.getByRole('button', { name: 'Rename Late ones' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('By date');
  await page.getByRole('button', { name: 'Rename', exact: true }).click();
  await page.getByText('There is a view with this name. Choose another name.').waitFor();
  await page.getByRole('textbox', { name: 'Name' }).fill('Past due');
  await page.getByRole('button', { name: 'Rename', exact: true }).click();
  await page.getByRole('button', { name: 'Delete By date' }).waitFor();
  await page.getByRole('button', { name: 'Delete By date' }).click();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Views Past due' }).waitFor();
  await menu(page).click();
  assert.equal(await page.getByRole('menuitemradio').count(), 1);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Undo' }).click();
  await menu(page).click();
  await page.getByRole('menuitemradio', { name: 'By date' }).waitFor();
});

test('views are saved and applied with the keyboard alone, and belong to their list', async (t) => {
  const page = await console.open(t, '/tasks?unassigned=true', { colorScheme: 'dark' });
  await menu(page).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menu', { name: 'Views' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Save view' }).waitFor();
  await page.keyboard.type('Nobody has these');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Views Nobody has these' }).waitFor();
  for (const list of ['risks', 'personnel']) {
    await visit(page, `/${list}`);
    await menu(page).click();
    assert.equal(await page.getByRole('menuitemradio').count(), 0);
    await page.keyboard.press('Escape');
  }
  await visit(page, '/tasks');
  await menu(page).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitemradio', { name: 'Nobody has these' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/tasks\?unassigned=true/);
});

test('stored views that cannot be read are ignored', async (t) => {
  const page = await console.open(t, '/risks?level=high');
  for (const stored of ['{', '{"a":1}', '[1,{"name":2}]']) {
    await page.evaluate((text) => localStorage.setItem('muster-views', text), stored);
    await page.reload();
    await waitUntilLoaded(page);
    await menu(page).click();
    assert.equal(await page.getByRole('menuitemradio').count(), 0);
    await page.keyboard.press('Escape');
  }
  await save(page, 'High');
  await page.getByRole('button', { name: 'Views High' }).waitFor();
});

test('a view is shared with everyone, renamed and deleted by those who may', async (t) => {
  const page = await console.open(t, '/risks?level=critical', { viewport: { width: 1024, height: 800 } });
  await choose(page, 'Save as view…');
  await page.getByRole('textbox', { name: 'Name' }).fill('Critical ones');
  await page.getByLabel('Visible to').selectOption('Everyone');
  await page.getByRole('button', { name: 'Save view' }).click();
  await page.getByRole('button', { name: 'Views Critical ones' }).waitFor();
  const [view] = (await console.get('/v1/views?list=risks')).data;
  assert.deepEqual([view.name, view.query], ['Critical ones', 'level=critical']);

  const reader = await console.open(t, '/risks', { scopes: ['projects.read'], colorScheme: 'dark' });
  await menu(reader).click();
  await reader.getByRole('menuitemradio', { name: /Critical ones/ }).click();
  await reader.waitForURL(/risks\?level=critical/);
  await choose(reader, 'Manage views…');
  await reader.getByText('Shared').waitFor();
  assert.equal(await reader.getByRole('button', { name: /^(Rename|Delete)/ }).count(), 0);

  await choose(page, 'Manage views…');
  await page.getByRole('button', { name: 'Rename Critical ones' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Worst ones');
  await page.getByRole('button', { name: 'Rename', exact: true }).click();
  await page.getByRole('button', { name: 'Delete Worst ones' }).click();
  await page.getByText('Deleted the view Worst ones').waitFor();
  assert.deepEqual((await console.get('/v1/views')).data, []);
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('button', { name: 'Views Worst ones' }).waitFor();
});

test('a view of the projects keeps their filters and their order', async (t) => {
  const page = await console.open(t, '/projects?health=off_track&sort=-risks');
  await save(page, 'Off track, most risks first');
  await page.getByRole('button', { name: 'Views Off track, most risks first' }).waitFor();
  await visit(page, '/projects');
  await choose(page, 'Off track, most risks first');
  await page.waitForURL(/projects\?health=off_track&sort=-risks/);
});
