import assert from 'node:assert/strict';
import { startConsole, test, waitUntilLoaded } from './console.ts';

const console = startConsole();

test('resolved and closed issues are found in the list and in the palette', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/issues', { title: 'Shut valve 7741' });
  const path = `/v1/projects/APOLLO/issues/${key}`;
  await console.patch(path, { status: 'resolved', resolution: 'fixed' });
  await console.patch(path, { status: 'closed' });
  const page = await console.open(t, '/issues?q=7741');
  await page.getByText('No open issues match these filters').waitFor();
  await page.getByRole('search').getByRole('button', { name: 'Status' }).click();
  await page.getByRole('checkbox', { name: 'Closed' }).press('Space');
  await page.waitForURL(/status=closed/);
  await page.keyboard.press('Escape');
  await page.locator('.summary-line').getByText('1 issue').waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('searchbox', { name: 'Go to' }).fill('valve 7741');
  await page.getByRole('menuitem', { name: /Shut valve 7741/ }).click();
  await page.waitForURL(new RegExp(`/issues/${key}`));
});

test('the palette shows what starts with the searched text before what contains it, also before higher risks', async (t) => {
  const highest = { title: 'As high as vexil', probability: 5, impact: 5 };
  for (let i = 0; i < 6; i++) await console.post('/v1/projects/APOLLO/risks', highest);
  await console.post('/v1/projects/APOLLO/risks', { title: 'Vexil risk' });
  for (const letter of 'ABCDE') {
    await console.post('/v1/groups', { name: `${letter} team for vexil` });
    await console.post('/v1/projects', { name: `${letter} work on vexil` });
  }
  await console.post('/v1/groups', { name: 'Vexil group' });
  await console.post('/v1/projects', { name: 'Vexil project' });
  const page = await console.open(t, '/keys');
  await page.keyboard.press('Control+k');
  await page.getByRole('searchbox', { name: 'Go to' }).fill('vexil');
  for (const section of ['Risks', 'Groups', 'Projects']) {
    const results = page.getByRole('group', { name: section }).getByRole('menuitem');
    await results.nth(1).waitFor();
    assert.match((await results.first().textContent()) ?? '', /^Vexil/);
  }
});

test('a text that is only in a description is found on request, and the request ends with the search', async (t) => {
  const title = 'Described 4410';
  await console.post('/v1/projects/APOLLO/risks', { title, description: 'As in quarrion' });
  const page = await console.open(t, '/risks?q=quarrion');
  await page.getByRole('button', { name: 'Search descriptions too' }).click();
  await page.getByRole('link', { name: title }).waitFor();
  const toggle = page.getByRole('button', { name: 'In descriptions too' });
  assert.equal(await toggle.getAttribute('aria-pressed'), 'true');
  await page.getByRole('searchbox', { name: 'Search by title or key' }).fill('');
  await page.waitForURL((url) => url.search === '');
  assert.equal(await toggle.count(), 0);
});

test('people whose name starts with the searched text come first', async (t) => {
  await console.post('/v1/personnel', { name: 'Aaron Zqa', title: 'Lorbeer designer' });
  await console.post('/v1/personnel', { name: 'Lorbeer Quist' });
  await console.post('/v1/personnel', { name: 'Berta Lorbeerson' });
  const { key } = await console.post('/v1/projects/APOLLO/issues', { title: 'Relevance 5123' });
  const page = await console.open(t, '/issues?q=5123');
  await page.getByRole('button', { name: `Assign…, ${key}` }).click();
  await page.getByRole('combobox', { name: 'Assign to' }).fill('lorbeer');
  await page.getByRole('option', { name: 'Lorbeer Quist' }).waitFor();
  const options = await page.getByRole('option').allTextContents();
  const expected = [/^Lorbeer Quist/, /^Berta Lorbeerson/, /^Aaron Zqa/];
  assert.equal(options.length, expected.length);
  for (const [index, name] of expected.entries()) assert.match(options[index] ?? '', name);
});

test('a risk, its issue and its tasks link to each other', async (t) => {
  const person = await console.post('/v1/personnel', { name: 'Task Tarrant' });
  const risk = await console.post('/v1/projects/APOLLO/risks', { title: 'Links 6001' });
  const { issue } = await console.post(`/v1/projects/APOLLO/risks/${risk.key}/materialize`);
  const task = await console.post('/v1/projects/APOLLO/tasks', {
    title: 'Follow the links',
    kind: 'mitigation',
    risk_id: risk.id,
    assignee_user_id: person.user_id,
  });
  const page = await console.open(t, `/personnel/${person.user_id}`);
  await page.getByRole('link', { name: 'Follow the links' }).click();
  await page.waitForURL(new RegExp(`/tasks/${task.key}`));
  await page.getByRole('link', { name: `${risk.key} Links 6001` }).click();
  await page.getByRole('link', { name: new RegExp(issue.key) }).click();
  await page.waitForURL(new RegExp(`/issues/${issue.key}`));
  await page.getByRole('link', { name: `${risk.key} Links 6001` }).waitFor();
});

test('history names people and groups, formats days and times, and shows who took over from a deactivated person', async (t) => {
  const leaver = await console.post('/v1/personnel', { name: 'Leaver Lind' });
  const heir = await console.post('/v1/personnel', { name: 'Heir Holm' });
  const risk = await console.post('/v1/projects/APOLLO/risks', { title: 'Named history' });
  await console.patch(`/v1/projects/APOLLO/risks/${risk.key}`, {
    owner_user_id: leaver.user_id,
    due_on: '2031-02-03',
  });
  await console.patch(`/v1/personnel/${leaver.user_id}`, { start_on: '2020-01-31' });
  await console.post(`/v1/personnel/${leaver.user_id}/deactivate`, { handover_to_user_id: heir.user_id });
  const group = await console.post('/v1/groups', { name: 'Heirs' });
  await console.post(`/v1/personnel/${heir.user_id}/deactivate`, { handover_to_group_id: group.id });
  const project = await console.post('/v1/projects', { name: 'Put away' });
  await console.post(`/v1/projects/${project.key}/archive`);
  const page = await console.open(t, '/risks');
  const history = page.locator('.history');
  for (const [path, ...entries] of [
    [
      `/risks/${risk.key}`,
      /Owner Leaver Lind to\s+→ Heir Holm/,
      /Due set to\s+3 Feb 2031/,
      /Owning group set to\s+Heirs/,
    ],
    [
      `/personnel/${leaver.user_id}`,
      /Work handed over to\s+Heir Holm/,
      /Start set to\s+31 Jan 2020/,
      /Status Active to\s+→ Inactive/,
    ],
    [`/personnel/${heir.user_id}`, /Risks and issues handed over to\s+Heirs/],
    [`/projects/${project.key}?tab=activity`, /Archived set to\s+\d{1,2} \w+ \d{4}, \d\d:\d\d/],
  ] as const) {
    await page.goto(path);
    for (const entry of entries) await history.getByText(entry).waitFor();
    assert.doesNotMatch((await history.textContent()) ?? '', /[a-z]{3}_\w{26}|\d{4}-\d\d-\d\d/, path);
  }
});

test('filters find people that nothing can be assigned to, and pickers that assign do not', async (t) => {
  const people = [
    { name: 'Gone Gudrun', title: 'Welder', status: 'inactive' },
    { name: 'Gone Gil', title: 'Fitter', end_on: '2020-03-11' },
    { name: 'Gone Gertrud', title: 'Turner', start_on: '2090-03-11' },
    { name: 'Gone Gerda', title: 'Miller' },
  ];
  const [left] = await Promise.all(people.map((person) => console.post('/v1/personnel', person)));
  const page = await console.open(t, '/issues');
  const filter = page.getByRole('combobox');
  for (const label of ['Assignee', 'Owner']) {
    await page.getByRole('search').getByRole('button', { name: label, exact: true }).click();
    await filter.fill('gone');
    for (const option of [
      'Gone Gudrun Inactive',
      'Gone Gil Last day 11 Mar 2020',
      'Gone Gertrud Starts 11 Mar 2090',
      'Gone Gerda Miller',
    ])
      await page.getByRole('option', { name: option, exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
  }
  await page.getByRole('search').getByRole('button', { name: 'Owner', exact: true }).click();
  await filter.fill('gone gudrun');
  await page.getByRole('option', { name: 'Gone Gudrun' }).click();
  await page.waitForURL(new RegExp(`owner_user_id=${left.user_id}`));

  await page.goto('/issues?new=true');
  const owner = page.getByRole('dialog').getByRole('combobox', { name: 'Owner' });
  await owner.fill('gone');
  await page.getByRole('option', { name: 'Gone Gerda Miller' }).waitFor();
  assert.equal(await page.getByRole('listbox').getByRole('option').count(), 1);
  await owner.fill('gone gudrun');
  await page.getByText('No assignable people match').waitFor();
});

test('the history of a person shows the changes of one request together, and links to the successor', async (t) => {
  const leaver = await console.post('/v1/personnel', { name: 'Leaver Lorenz' });
  const heir = await console.post('/v1/personnel', { name: 'Heir Hedda' });
  const path = `/v1/personnel/${leaver.user_id}`;
  for (let i = 1; i < 12; i++) await console.patch(path, { title: `Title ${i}` });
  await console.patch(path, { title: 'Last title', department: 'Docks', phone: '12' });
  await console.post(`${path}/deactivate`, { handover_to_user_id: heir.user_id, reason: 'Retired' });
  const page = await console.open(t, `/personnel/${leaver.user_id}`);
  const entries = page.locator('.history > li');
  assert.equal(await entries.count(), 12);
  const first = (await entries.first().innerText()).replaceAll(/\s+/g, ' ');
  assert.match(first, /Status Active .*Inactive/);
  assert.match(first, /Work handed over to Heir Hedda/);
  assert.match(first, /Retired/);
  assert.equal(await entries.first().locator('time').count(), 1, 'the time is shown once');
  assert.match(await entries.nth(1).innerText(), /Title.*Department.*Phone/s);
  await page.getByRole('button', { name: 'Show all 14' }).click();
  assert.equal(await entries.count(), 14);
  await entries.first().getByRole('link', { name: 'Heir Hedda' }).click();
  await page.waitForURL(new RegExp(`/personnel/${heir.user_id}`));
});

test('on a phone the menu is at the left edge and can be closed; titles have room at 1024', async (t) => {
  const page = await console.open(t, '/issues', { viewport: { width: 390, height: 844 } });
  await page.getByRole('button', { name: 'Menu' }).click();
  const menu = page.getByRole('dialog', { name: 'Menu' });
  await menu.waitFor();
  assert.ok(((await menu.boundingBox())?.x ?? 99) < 30);
  await menu.getByRole('button', { name: 'Close' }).click();
  await menu.waitFor({ state: 'detached' });
  await page.setViewportSize({ width: 1024, height: 800 });
  await waitUntilLoaded(page);
  const cell = await page.locator('tbody td:has(.row-link)').first().boundingBox();
  assert.ok((cell?.width ?? 0) > 220, `titles are ${cell?.width} wide`);
});

test('the key in use is not shown as never used', async (t) => {
  const page = await console.open(t, '/keys');
  await page.getByRole('cell', { name: 'In use now' }).waitFor();
});

test('history shows entered text unchanged, and the labels of fields and statuses', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Free text', category: 'check' });
  const path = `/v1/projects/APOLLO/risks/${key}`;
  await console.patch(path, { category: 'todo', strategy: 'mitigate', attributes: { Contract: 'C-17' } });
  await console.patch(path, { status: 'closed', closure_reason: 'Over.', lessons: 'Ask twice.' });
  const page = await console.open(t, `/risks/${key}`);
  const history = page.locator('.history');
  await history.getByText(/Category Check to\s+→ Todo/).waitFor();
  await history.getByText(/Strategy set to\s+Mitigate/).waitFor();
  await history.getByText(/Custom fields set to\s+Contract: C-17/).waitFor();
  await history.getByText(/Lessons learned set to\s+Ask twice/).waitFor();
});
