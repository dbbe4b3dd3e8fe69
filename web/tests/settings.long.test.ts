import assert from 'node:assert/strict';
import { screenshot, startConsole, test, visit, waitUntilLoaded } from './console.ts';
import { fact, inDays } from './page.ts';

const console = startConsole({
  isEmpty: true,
  async fill() {
    await console.post('/v1/projects', { name: 'Apollo' });
    await console.post('/v1/projects/APOLLO/risks', { title: 'Risk', probability: 5, impact: 5 });
    await console.post('/v1/projects/APOLLO/tasks', { title: 'Task', due_on: inDays(20) });
  },
});

test('the settings of the organization show in the console', async (t) => {
  const page = await console.open(t, '/settings');
  assert.equal(await page.locator('.sidebar .brand').innerText(), 'Muster');
  await page.getByRole('button', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Meridian Works');
  await dialog.getByLabel('Time zone').fill('America/Los_Angles');
  await dialog.getByLabel('First day of the week').selectOption('sunday');
  await dialog.getByLabel('Compare with days ago').fill('14');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Did you mean America/Los_Angeles?').waitFor();
  await dialog.getByLabel('Time zone').fill('America/Los_Angeles');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await fact(page, 'Time zone').innerText(), 'America/Los_Angeles');
  await page.locator('.history').getByText('Comparison days').waitFor();
  assert.equal(await page.locator('.sidebar .brand').innerText(), 'Meridian Works');

  await visit(page, '/risks');
  await page.getByRole('columnheader', { name: '14 days' }).waitFor();
  await visit(page, '/overview');
  await page.locator('.headline').getByText('14 days ago').waitFor();
  await page.getByText(/in 14 days · last 13 weeks/).waitFor();
  await visit(page, '/report');
  await page.getByRole('heading', { level: 1, name: 'Meridian Works: Steering report' }).waitFor();

  // Weeks begin on Sunday, except the one that began before today.
  const rows = page.getByRole('region', { name: 'Due in the next 90 days' }).locator('tbody tr');
  await rows.nth(10).waitFor();
  const texts = await rows.allInnerTexts();
  const firstDays = texts.flatMap((text) => /^(\d+ \w+) – /.exec(text.trim())?.[1] ?? []);
  assert.ok(firstDays.length >= 12, String(texts));
  const thisYear = new Date().getFullYear();
  for (const day of firstDays.slice(1)) {
    const dates = [thisYear, thisYear + 1].map((year) => new Date(`${day} ${year} UTC`).getUTCDay());
    assert.ok(dates.includes(0), day);
  }
});

test('viewers see the settings and change nothing', async (t) => {
  const page = await console.open(t, '/settings/organization', { scopes: ['projects.read'] });
  await fact(page, 'Time zone').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Edit' }).count(), 0);
});

test('an open page follows a change of the settings', async (t) => {
  const page = await console.open(t, '/overview');
  await page
    .locator('.headline')
    .getByText(/\d+ days ago/)
    .waitFor();
  await console.patch('/v1/organization', { name: 'Northern Line', comparison_days: 7 });
  await page.locator('.sidebar .brand', { hasText: 'Northern Line' }).waitFor();
  await page.locator('.headline').getByText('7 days ago').waitFor();
});

test('categories are added, moved, renamed, merged and deleted', async (t) => {
  const risk = await console.post('/v1/projects/APOLLO/risks', { title: 'Flood', category: 'Weather' });
  const page = await console.open(t, '/settings/categories');
  const rows = page.getByRole('table', { name: 'Categories' }).locator('tbody tr');
  await rows.getByText('Not in the list').waitFor();
  await page.getByRole('button', { name: 'Add Weather to the list' }).click();
  await page.getByText('Added Weather').waitFor();
  const add = async (name: string) => {
    await page.getByRole('button', { name: 'Add category' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill(name);
    await page.getByRole('dialog').getByRole('button', { name: 'Add category' }).click();
    await page.getByText(`Added ${name}`).waitFor();
  };
  await add('Supply');
  await add('Storms');
  await screenshot(page, 'settings-categories-list');
  const names = async () => {
    await waitUntilLoaded(page);
    return rows.locator('.cell-name').allInnerTexts();
  };
  assert.deepEqual(await names(), ['Weather', 'Supply', 'Storms']);
  await page.getByRole('button', { name: 'Move Supply up' }).click();
  await rows.first().getByText('Supply').waitFor();
  assert.deepEqual(await names(), ['Supply', 'Weather', 'Storms']);

  await page.getByRole('button', { name: 'Edit Weather' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('A new name changes 1 risk').waitFor();
  await dialog.getByLabel('Name').fill('Climate');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved Climate').waitFor();
  await page.getByRole('button', { name: 'Merge Storms' }).click();
  await dialog.getByLabel('Into').selectOption('Climate');
  await dialog.getByRole('button', { name: 'Merge' }).click();
  await page.getByText('Merged Storms into Climate').waitFor();
  await page.getByRole('button', { name: 'Delete Supply' }).click();
  await dialog.getByText('No risks have this category.').waitFor();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Deleted Supply').waitFor();
  assert.deepEqual(await names(), ['Climate']);

  // The number leads to a list of as many risks.
  await page.getByRole('link', { name: '1 risk: Climate' }).click();
  await page.waitForURL(/category=Climate&status=all&archived=any/);
  await page.getByRole('link', { name: 'Flood' }).waitFor();
  await page.getByRole('button', { name: 'Remove filter: With archived projects' }).waitFor();

  await visit(page, '/settings/categories');
  await page.getByLabel('Risks may have other categories').click();
  await page.getByText('Only listed categories are allowed').waitFor();
  await visit(page, `/risks/${risk.key}`);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const category = dialog.getByLabel('Category');
  const options = await category.evaluate((input) =>
    [...((input as HTMLInputElement).list?.options ?? [])].map(({ value }) => value),
  );
  assert.deepEqual(options, ['Climate']);
  await category.fill('Climte');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Did you mean Climate?').waitFor();
  await category.fill('climate');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
});
