import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { screenshot, startConsole, test, waitUntilLoaded } from './console.ts';
import { tabTo } from './focus.ts';
import { daysAgo, weekIn } from './page.ts';

const console = startConsole();

type Risk = { id: string; title: string; score: number | null; status: string; created_at: string };

const isActive = ({ status }: Pick<Risk, 'status'>) => !['closed', 'materialized'].includes(status);

const numberIn = async (page: Page, heading: string) => {
  const text = await page.getByRole('heading', { level: 3, name: heading }).first().textContent();
  return Number((text ?? '').replace(/\D/g, ''));
};

/** By the history of each issue. */
async function countResolvedAfter(day: string): Promise<number> {
  const { data } = await console.get('/v1/issues/all?status=resolved,closed');
  const { secret } = await console.newKey();
  let count = 0;
  for (const { id, project_id } of data as { id: string; project_id: string }[]) {
    const response = await fetch(`${console.app.baseUrl}/v1/projects/${project_id}/issues/${id}/history`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    const history = (await response.json()) as { data: { at: string; field: string; to: unknown }[] };
    const isResolution = ({ at, field, to }: (typeof history.data)[number]) =>
      at.slice(0, 10) > day && field === 'status' && (to === 'resolved' || to === 'closed');
    if (history.data.some(isResolution)) count++;
  }
  return count;
}

test('the report shows the register and what has changed in it since a day', async (t) => {
  const since = daysAgo(60);
  const page = await console.open(t, `/report?since=${since}`);
  const top = (await console.get('/v1/risks?kind=threat&limit=10')).data as Risk[];
  assert.deepEqual(
    await page.locator('[aria-labelledby=top-risks] td a').allTextContents(),
    top.map(({ title }) => title),
  );
  assert.equal(await page.locator('[aria-labelledby=top-risks] .movement').count(), 10);

  // The register of that day and today's, compared risk by risk.
  const then = new Map(
    ((await console.get(`/v1/risks?kind=threat&as_of=${since}&status=all`)).data as Risk[]).map((risk) => [
      risk.id,
      risk,
    ]),
  );
  const now = (await console.get('/v1/risks?kind=threat&status=all')).data as Risk[];
  const ended = (status: string) =>
    now.filter((risk) => risk.status === status && isActive(then.get(risk.id) ?? { status: 'open' })).length;
  const added = now.filter((risk) => risk.created_at.slice(0, 10) > since).length;
  const wasActive = ({ id }: Risk) => isActive(then.get(id) ?? { status: 'closed' });
  const changed = (sign: number) =>
    now.filter((risk) => {
      const before = then.get(risk.id)?.score ?? null;
      if (!isActive(risk) || !wasActive(risk) || risk.score === null || before === null) return false;
      return sign * (risk.score - before) > 0;
    }).length;
  const expected = {
    'New risks': added,
    'Reopened risks': now.filter((risk) => isActive(risk) && then.has(risk.id) && !wasActive(risk)).length,
    'Score increased': changed(1),
    'Score decreased': changed(-1),
    Occurred: ended('materialized'),
    'Closed risks': ended('closed'),
    'Resolved or closed issues': await countResolvedAfter(since),
  };
  assert.ok(changed(1) + changed(-1) > 0, 'the demo data has changed scores');
  for (const [heading, count] of Object.entries(expected))
    assert.equal(await numberIn(page, heading), count, heading);

  const { data: summary } = await console.get('/v1/risks/summary?kind=threat');
  const { data: issues } = await console.get('/v1/issues/summary');
  const critical = summary.by_level.find(({ level }: { level: string }) => level === 'critical').count;
  const headline = (await page.locator('.headline').textContent()) ?? '';
  assert.match(headline, new RegExp(`off track.* ${critical} critical risks?, `));
  assert.match(headline, new RegExp(`${issues.overdue} of .* overdue\\.$`));
  // Opportunities need an owner and a response too.
  const { data: both } = await console.get('/v1/risks/summary');
  for (const { check, count } of both.by_check as { check: string; count: number }[]) {
    const heading = { unowned: 'risks need an owner', no_response_plan: 'risks need a response' }[check];
    if (heading) await page.getByRole('heading', { name: `${count} ${heading}`, exact: true }).waitFor();
  }
});

test('the project and the day are chosen by keyboard, are in the URL and on the printout', async (t) => {
  const { name } = await console.get('/v1/projects/APOLLO');
  const page = await console.open(t, '/');
  await page.getByRole('link', { name: 'Steering report', exact: true }).click();
  await page.waitForURL(/\/report$/);
  await waitUntilLoaded(page);
  await tabTo(page, 'Project');
  await page.keyboard.press('Enter');
  await page.getByRole('searchbox', { name: 'Search Project' }).fill('apollo');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  await page.waitForURL(/project=APOLLO/);
  await page.keyboard.press('Escape');
  await tabTo(page, 'Changes since');
  const since = daysAgo(90);
  // The browser's own order of day, month and year depends on the machine.
  await page.getByRole('textbox', { name: 'Changes since' }).fill(since);
  await page.waitForURL(new RegExp(`since=${since}`));
  await waitUntilLoaded(page);
  assert.equal(await page.locator('.project-section').count(), 1);
  const keys = await page.locator('.report td .key').allTextContents();
  assert.ok(
    keys.every((key) => key.startsWith('APOLLO-')),
    keys.join(),
  );

  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.getByRole('search').isVisible(), false);
  assert.equal(await page.getByRole('button', { name: 'Print or save as PDF' }).isVisible(), false);
  const subject = (await page.locator('.title-summary').textContent()) ?? '';
  assert.ok(subject.endsWith(name), subject);
  assert.match(subject, new RegExp(`Changes since .*${since.slice(0, 4)}`));
  await screenshot(page, 'report-print');
});

test('the register of an earlier day is compared with another one side by side', async (t) => {
  const since = daysAgo(120);
  const asOf = daysAgo(30);
  const page = await console.open(t, '/report');
  await page.getByRole('textbox', { name: 'As of' }).fill(asOf);
  await page.waitForURL(new RegExp(`as_of=${asOf}`));
  // The day before it moves along.
  assert.equal(await page.getByRole('textbox', { name: 'Changes since' }).inputValue(), daysAgo(60));
  await page.getByRole('textbox', { name: 'Changes since' }).fill(since);
  await page.waitForURL(new RegExp(`since=${since}`));
  await waitUntilLoaded(page);
  const titles = async (day: string) =>
    ((await console.get(`/v1/risks?kind=threat&limit=10&as_of=${day}`)).data as Risk[]).map(
      ({ title }) => title,
    );
  const lists = page.locator('[aria-labelledby=top-risks] ol');
  assert.deepEqual(await lists.first().locator('a').allTextContents(), await titles(since));
  assert.deepEqual(await lists.last().locator('a').allTextContents(), await titles(asOf));

  const [before, after] = await Promise.all(
    [since, asOf].map(
      async (day) => (await console.get(`/v1/risks?kind=threat&status=all&as_of=${day}`)).data as Risk[],
    ),
  );
  const then = new Map(before?.map((risk) => [risk.id, risk]));
  const active = after?.filter(isActive) ?? [];
  assert.equal(await numberIn(page, 'New risks'), after?.filter(({ id }) => !then.has(id)).length);
  const increased = active.filter(({ id, score }) => {
    const earlier = then.get(id);
    return earlier && isActive(earlier) && (score ?? 0) > (earlier.score ?? 99);
  });
  assert.equal(await numberIn(page, 'Score increased'), increased.length);
  const { data: summary } = await console.get(`/v1/risks/summary?kind=threat&as_of=${asOf}`);
  await page.getByRole('row', { name: new RegExp(`^Total .* ${summary.total}`) }).waitFor();
  assert.equal(await page.locator('[aria-labelledby=comparison] .heat-map').count(), 2);
  assert.equal(await page.getByRole('heading', { name: 'Decisions needed' }).count(), 0);
});

test('the lists of changed risks add up to the change of the register', async (t) => {
  const { key } = await console.post('/v1/projects', { name: 'Sums', key: 'SUMS' });
  const risks = `/v1/projects/${key}/risks`;
  const add = (title: string, score: number): Promise<Risk> =>
    console.post(risks, { title, probability: score, impact: 1 });
  const close = ({ id }: Risk) =>
    console.patch(`${risks}/${id}`, { status: 'closed', closure_reason: 'Over' });
  const occur = ({ id }: Risk) => console.post(`${risks}/${id}/materialize`);

  await add('Unchanged', 1);
  const [closed, occurred, reopened, deleted, raised] = await Promise.all(
    ['Closed', 'Occurred', 'Reopened', 'Deleted', 'Raised score'].map((title) => add(title, 2)),
  );
  assert.ok(closed && occurred && reopened && deleted && raised);
  await close(reopened);
  await close(await add('Closed before', 1));
  const raisedLess = await add('High score', 4);
  await console.post('/v1/projects', { name: 'Paused', key: 'PAUSED' });
  const paused: Risk[] = [];
  for (const title of ['Paused', 'Paused too', 'Paused and closed'])
    paused.push(await console.post('/v1/projects/PAUSED/risks', { title }));
  const editPaused = async (changes: object, risks = paused) => {
    for (const { id } of risks) await console.patch(`/v1/projects/PAUSED/risks/${id}`, changes);
  };
  await editPaused({ status: 'closed', closure_reason: 'Over' }, paused.slice(2));
  await console.post('/v1/projects/PAUSED/archive');
  await moveToday(daysAgo(20));

  await close(closed);
  await occur(occurred);
  await console.patch(`${risks}/${reopened.id}`, { status: 'open', reason: 'It is back', probability: 5 });
  await console.patch(`${risks}/${raised.id}`, { probability: 4 });
  await console.patch(`${risks}/${raisedLess.id}`, { probability: 5 });
  await console.delete(`${risks}/${deleted.id}`);
  await add('New', 3);
  await close(await add('New and closed', 2));
  await occur(await add('New and occurred', 1));
  await console.post('/v1/projects/PAUSED/unarchive');
  await editPaused({ category: 'supply' });

  const listed = {
    'New risks': ['New', 'New and closed', 'New and occurred'],
    'Reopened risks': ['Reopened'],
    'Score increased': ['High score', 'Raised score'],
    'Score decreased': [],
    Occurred: ['New and occurred', 'Occurred'],
    'Closed risks': ['Closed', 'New and closed'],
  };
  const page = await console.open(t, `/report?project=SUMS,PAUSED&since=${daysAgo(10)}`);
  const assertLists = async () => {
    await waitUntilLoaded(page);
    const titlesIn = (heading: string) =>
      page
        .locator('#changes ~ .changes section', { has: page.locator(`h3:text("${heading}")`) })
        .locator('li a')
        .allTextContents();
    for (const [heading, titles] of Object.entries(listed))
      assert.deepEqual((await titlesIn(heading)).sort(), titles, heading);
    assert.deepEqual(await titlesIn('Score increased'), ['Raised score', 'High score'], 'by the change');
    // 6 + 3 new + 1 reopened - 2 occurred - 2 closed - 1 deleted + 2 of the project that was unarchived
    await page.getByRole('row', { name: 'Total 6 7 +1' }).waitFor();
    await page.getByText('changed the number of active risks by +1.').waitFor();
  };
  await assertLists();
  await moveToday(daysAgo(5));
  await page.goto(
    `${console.app.baseUrl}/report?project=SUMS,PAUSED&since=${daysAgo(10)}&as_of=${daysAgo(2)}`,
  );
  await assertLists();
});

test('a long list of changed risks can be shown as a whole, and is printed with the number left out', async (t) => {
  await console.post('/v1/projects', { name: 'Many changes', key: 'MANY' });
  for (let count = 0; count < 10; count++) await console.post('/v1/projects/MANY/risks', { title: 'New' });
  const page = await console.open(t, '/report?project=MANY');
  const added = page.locator('.changes section').filter({ has: page.locator('h3:text("New risks")') });
  assert.equal(await added.getByRole('listitem').count(), 8);
  await page.emulateMedia({ media: 'print' });
  await added.getByText('and 2 more').waitFor();
  await page.emulateMedia({ media: 'screen' });
  await added.getByRole('button', { name: 'Show all 10' }).press('Enter');
  await added.getByRole('listitem').nth(9).waitFor();
  assert.equal(await added.getByRole('button').count(), 0);
});

/** Makes it look as if the risks, and whether their projects are archived, had been changed on an earlier day. */
async function moveToday(day: string): Promise<void> {
  const moved = (column: string) =>
    sql<string>`case when ${sql.ref(column)} >= ${daysAgo(0)} then ${day} || substr(${sql.ref(column)}, 11)
      else ${sql.ref(column)} end`;
  const stamps = { created_at: moved('created_at'), updated_at: moved('updated_at') };
  await console.app.database.write(async (db) => {
    await db.updateTable('risks').set(stamps).execute();
    await db
      .updateTable('past_risks')
      .set({ ...stamps, valid_until: moved('valid_until') })
      .execute();
    await db
      .updateTable('history')
      .set({ at: moved('at') })
      .where('field', '=', 'archived_at')
      .execute();
  });
}

test('the timeline has what is overdue first, then what is due in the next 90 days', async (t) => {
  const project = await console.post('/v1/projects', {
    name: 'Timeline',
    key: 'TIMELINE',
    due_on: daysAgo(-20),
  });
  const items = `/v1/projects/${project.key}`;
  await console.post(`${items}/risks`, { title: 'Due late', raised_on: daysAgo(90), due_on: daysAgo(5) });
  await console.post(`${items}/risks`, { title: 'Reviewed soon', review_on: daysAgo(-3) });
  await console.post(`${items}/issues`, { title: 'Issue in a month', due_on: daysAgo(-30) });
  await console.post(`${items}/tasks`, { title: 'Task today', due_on: daysAgo(0) });
  await console.post(`${items}/tasks`, { title: 'Task next year', due_on: daysAgo(-365) });
  const page = await console.open(t, '/report?project=TIMELINE');
  const card = page.locator('[aria-labelledby=timeline]');
  assert.deepEqual(await card.locator('li > a').allTextContents(), [
    'Due late',
    'Task today',
    'Reviewed soon',
  ]);
  const cells = (row: number) => card.locator('tbody tr').nth(row).locator('td').allTextContents();
  assert.deepEqual(await cells(0), ['1', '–', '–', '–', '1', '']);
  // After the row of what is overdue.
  const rowOf = (days: number) => 1 + weekIn(days);
  const isSameWeek = rowOf(3) === 1;
  assert.deepEqual(await cells(1), ['–', isSameWeek ? '1' : '–', '–', '1', isSameWeek ? '2' : '1', '']);
  if (!isSameWeek) assert.deepEqual(await cells(rowOf(3)), ['–', '1', '–', '–', '1', '']);
  assert.deepEqual(await cells(rowOf(20)), ['–', '–', '–', '–', '0', 'TIMELINE']);
  assert.deepEqual(await cells(rowOf(30)), ['–', '–', '1', '–', '1', '']);
  assert.equal(await card.locator('tbody tr').count(), 1 + rowOf(90));
});

test('the PDF is upright A4 with a page for each project', async (t) => {
  const page = await console.open(t, '/report');
  const sections = await page.locator('.project-section').count();
  assert.equal(sections, (await console.get('/v1/projects')).data.length);
  const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
  const pages = pdf.match(/\/Type \/Page\b(?!s)/g)?.length ?? 0;
  assert.ok(pages > sections, `${pages} pages for ${sections} projects`);
  assert.match(pdf, /\/MediaBox \[0 0 59\d(\.\d+)? 84\d/);
});

test('a report that could not be read can be retried', async (t) => {
  const page = await console.open(t, '/keys');
  let isBroken = true;
  await page.route('**/v1/reports/preview?*', (route) =>
    isBroken ? route.fulfill({ status: 500, json: { detail: 'Out of order.' } }) : route.continue(),
  );
  await page.goto('/report?project=APOLLO');
  await page.getByRole('alert').getByText('Out of order.').waitFor();
  isBroken = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { name: /needs? an owner$/ }).waitFor();
  await waitUntilLoaded(page);
});

test('a saved report keeps its numbers and comments, fits on one page and is compared with the one before', async (t) => {
  await console.post('/v1/projects', { name: 'Snapshots', key: 'SNAP' });
  const risks = '/v1/projects/SNAP/risks';
  const first: Risk = await console.post(risks, { title: 'Was there', probability: 2, impact: 2 });
  const moved: Risk = await console.post(risks, { title: 'Moves', probability: 1, impact: 1 });
  const since = daysAgo(30);
  await console.post('/v1/reports', { title: 'The first', since, project: ['SNAP'] });
  await console.patch(`${risks}/${moved.id}`, { probability: 5, impact: 5, response_plan: 'Call for help.' });
  await console.patch(`${risks}/${first.id}`, { status: 'closed', closure_reason: 'Over' });
  await console.post(risks, { title: 'Is new', probability: 3, impact: 3 });
  await console.post('/v1/projects/SNAP/tasks', { title: 'Call them', risk_id: moved.id });

  const page = await console.open(t, `/report?project=SNAP&since=${since}`);
  await page.getByRole('button', { name: 'Save report…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Save report' });
  await dialog.getByRole('textbox', { name: 'Title' }).fill('The second');
  await dialog.getByRole('textbox', { name: 'Audience' }).fill('Board');
  await dialog.getByRole('textbox', { name: /SNAP-R\d+ Moves/ }).fill('Watched **daily**.');
  await dialog.getByRole('textbox', { name: 'Snapshots' }).fill('On its way.');
  await dialog.getByRole('checkbox', { name: 'Overdue issues' }).uncheck();
  await dialog.getByRole('button', { name: 'Save report' }).click();
  await page.waitForURL(/\/reports\/rpt_/);
  await page.getByRole('heading', { level: 1, name: 'The second' }).waitFor();
  await waitUntilLoaded(page);
  const row = page.getByRole('row', { name: /Moves/ });
  for (const text of ['Call for help.', 'Call them', 'Watched daily.', 'Snapshots'])
    await row.getByText(text).waitFor();
  assert.equal(await row.getByRole('cell').first().textContent(), '1');
  assert.equal(await page.getByRole('heading', { name: 'Overdue issues' }).count(), 0);
  await page.getByText('On its way.').first().waitFor();
  const compared = page.locator('[aria-labelledby=since-report] section');
  assert.deepEqual(await compared.locator('li a').allTextContents(), [
    'Is new',
    'Was there',
    'Moves',
    'Snapshots',
  ]);

  await console.patch(`${risks}/${moved.id}`, { title: 'Renamed' });
  await page.reload();
  await page.getByRole('row', { name: /Moves/ }).waitFor();
  const print = async () => (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
  const pagesOf = (pdf: string) => pdf.match(/\/Type \/Page\b(?!s)/g)?.length ?? 0;
  assert.ok(pagesOf(await print()) <= 5, `${pagesOf(await print())} pages`);

  // All projects of the demo, with what is usually said about them, on one page.
  const { data: top } = await console.get('/v1/risks?kind=threat&limit=5');
  const { data: projects } = await console.get('/v1/projects');
  const text = 'Watched weekly by the audit board; the archive is moved to a closed network in December.';
  const { id } = await console.post('/v1/reports', {
    title: 'Short',
    since,
    length: 'one_page',
    audience: 'Executive committee and audit board',
    commentary: `${text} ${text} ${text}`,
    risk_commentary: top.map((risk: Risk) => ({ risk_id: risk.id, text })),
    project_commentary: projects.map((project: Risk) => ({ project_id: project.id, text })),
  });
  await page.goto(`${console.app.baseUrl}/reports/${id}`);
  await page.getByRole('heading', { level: 1, name: 'Short' }).waitFor();
  await waitUntilLoaded(page);
  assert.equal(pagesOf(await print()), 1);
  await page.emulateMedia({ media: 'print' });
  const marks = await page
    .locator('.health')
    .evaluateAll((all) => all.map((one) => getComputedStyle(one, '::before').printColorAdjust));
  assert.deepEqual([...new Set(marks)], ['exact']);
  await page.emulateMedia({ media: null });
  const { id: five } = await console.post('/v1/reports', { title: 'Longer', since });
  await page.goto(`${console.app.baseUrl}/reports/${five}`);
  await page.getByRole('heading', { level: 1, name: 'Longer' }).waitFor();
  await waitUntilLoaded(page);
  const decisions = page.getByRole('region', { name: 'Decisions needed' });
  for (const name of [/^[\d,]+ risks need an owner$/, /^[\d,]+ issues are blocked$/])
    await decisions.getByRole('heading', { name }).waitFor();
  assert.ok(pagesOf(await print()) <= 5, `${pagesOf(await print())} pages`);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.waitForURL(/\/report$/);
  assert.equal((await console.get('/v1/reports')).data.length, 3);
});
