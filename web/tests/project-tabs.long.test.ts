import assert from 'node:assert/strict';
import { startConsole, test, waitUntilLoaded } from './console.ts';
import { press, tabTo } from './focus.ts';

const console = startConsole();

const countIn = (text: string | null) => Number((text ?? '').replace(/\D/g, ''));

test('the tabs of a project are in the URL and show as many rows as their labels say', async (t) => {
  const page = await console.open(t, '/projects/APOLLO');
  const { counts } = await console.get('/v1/projects/APOLLO');
  const tasks = await console.get('/v1/tasks?project=APOLLO&limit=1&count=true');
  const tab = (name: string) => page.getByRole('tab', { name: new RegExp(`^${name}`) });
  const risks = counts.active_risks + counts.opportunities;
  const expected = { Risks: risks, Issues: counts.open_issues, Tasks: tasks.page.total };
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
    // Only the rows on the screen are in the page.
    const table = page.getByRole('table', { name, exact: true });
    assert.equal(Number(await table.getAttribute('aria-rowcount')) - 1, count, name);
  }
  await page.goBack();
  assert.equal(await tab('Issues').getAttribute('aria-selected'), 'true');
  await page.reload();
  await waitUntilLoaded(page);
  assert.equal(await tab('Issues').getAttribute('aria-selected'), 'true');

  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.getByRole('tablist').isVisible(), false);
  await page.getByRole('heading', { level: 2, name: 'Issues' }).waitFor();
});

test('the tabs are used with the keyboard', async (t) => {
  const page = await console.open(t, '/projects/APOLLO');
  await tabTo(page, 'Delete');
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await page.waitForURL(/tab=risks/);
  await waitUntilLoaded(page);
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/risks\/APOLLO-R/);
});

test('the lists of a project are filtered, sorted and changed, in the URL', async (t) => {
  const page = await console.open(t, '/projects/APOLLO?tab=issues');
  const table = page.getByRole('table', { name: 'Issues', exact: true });
  const firstKey = () => table.locator('tbody .inline-key').first();
  await page.getByRole('button', { name: 'Overdue' }).click();
  await page.waitForURL(/tab=issues&overdue=true/);
  await table.getByRole('columnheader', { name: 'Due' }).getByRole('button').click();
  await page.waitForURL(/tab=issues&overdue=true&sort=due_on/);
  const { data } = await console.get('/v1/issues?project=APOLLO&overdue=true&sort=due_on');
  await firstKey().getByText(data[0].key).waitFor({ state: 'attached' });
  await page.getByRole('status').getByText(`${data.length} open issue`).waitFor();
  await page.reload();
  await waitUntilLoaded(page);
  await firstKey().getByText(data[0].key).waitFor({ state: 'attached' });
  assert.equal(await page.getByRole('button', { name: 'Project', exact: true }).count(), 0);
  await table.getByRole('checkbox', { name: `Select ${data[0].key}`, exact: true }).check();
  await page.getByRole('region', { name: 'Selected rows' }).getByText('1 selected').waitFor();
  await page.getByRole('button', { name: 'Unassigned' }).click();
  await page.getByRole('button', { name: 'Clear all' }).click();
  // The order hides no rows, so it stays.
  await page.waitForURL(/APOLLO\?tab=issues&sort=due_on$/);

  // Another tab starts with its own filters.
  await page.getByRole('button', { name: 'Unassigned' }).click();
  await page.waitForURL(/unassigned=true/);
  await page.getByRole('tab', { name: /^Risks/ }).click();
  await page.waitForURL(/APOLLO\?tab=risks$/);
  await waitUntilLoaded(page);
  await page.goBack();
  await page.waitForURL(/tab=issues&sort=due_on&unassigned=true/);
});

test('the tasks of a project are searched, added and completed with the keyboard', async (t) => {
  const page = await console.open(t, '/projects/APOLLO?tab=tasks');
  await press(page, 'Add task');
  const dialog = page.getByRole('dialog', { name: 'Add task' });
  await dialog.getByLabel('Title').waitFor();
  await page.keyboard.type('Zeppelin check');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'hidden' });
  await page.keyboard.press('/');
  await page.keyboard.type('zeppelin');
  await page.waitForURL(/tab=tasks&q=zeppelin/);
  await page.getByRole('status').getByText('1 open task').waitFor();
  await press(page, 'Mark as done: Zeppelin check');
  await page.getByText('No open tasks match these filters').waitFor();
});

test('a project that is archived while a list of it is open still lists its items', async (t) => {
  const project = await console.post('/v1/projects', { name: 'Soon finished' });
  await console.post(`/v1/projects/${project.key}/risks`, { title: 'A risk of the past' });
  const page = await console.open(t, `/projects/${project.key}?tab=risks`);
  const risk = page.getByRole('link', { name: 'A risk of the past' });
  await risk.waitFor();
  await console.post(`/v1/projects/${project.key}/archive`);
  await page.getByRole('button', { name: 'Unarchive' }).waitFor();
  await waitUntilLoaded(page);
  await risk.waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);

  // A list of all projects leaves it out, so its link with this filter is rejected, and the filter can be cleared.
  await page.goto(`/risks?project=${project.key}`);
  await page.getByRole('alert').getByText("Project: This filter isn't valid.").waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByRole('table', { name: 'Risks', exact: true }).waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
});
