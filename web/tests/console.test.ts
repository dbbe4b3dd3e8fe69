import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { readXlsx } from '../../src/formats/xlsx.ts';
import { issueTransitions } from '../../src/resources/issues/transitions.ts';
import { riskTransitions } from '../../src/resources/risks/rules/transitions.ts';
import { startConsole, test, visit, waitUntilLoaded } from './console.ts';
import { inDays, openHeatMap, openKeyForm, pick, signIn } from './page.ts';

const console = startConsole();

describe('signing in', () => {
  test('a valid key opens the requested page, and scripts cannot read it', async (t) => {
    const page = await console.open(t, '/projects?status=active', { signedIn: false });
    const { secret } = await console.newKey();
    await signIn(page, secret);
    await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor();
    assert.equal(new URL(page.url()).search, '?status=active');
    assert.ok(!(await page.evaluate(() => document.cookie + JSON.stringify(localStorage))).includes(secret));
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    await page.reload();
    await page.getByLabel('API key').waitFor();
  });

  test('an invalid key is rejected with the reason', async (t) => {
    const page = await console.open(t, '/', { signedIn: false });
    await openKeyForm(page);
    await page.getByLabel('API key').fill('mst_nonsense');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText("That key isn't valid. Check it for typing errors.").waitFor();
    const { secret } = await console.newKey(['projects.read'], '2020-01-01T00:00:00.000Z');
    await page.getByLabel('API key').fill(secret);
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('That key has expired. Ask for a new one.').waitFor();
  });

  const expire = (id: string) =>
    console.app.database.write((db) =>
      db.updateTable('keys').set({ expires_at: '2020-01-01T00:00:00.000Z' }).where('id', '=', id).execute(),
    );

  for (const [name, text, end] of [
    // Its sessions end with it, and only the key itself is known to be revoked.
    ['a revoked', 'You are signed out. Sign in again.', (id: string) => console.revoke(id)],
    ['an expired', 'That key has expired. Ask for a new one.', expire],
  ] as const) {
    test(`${name} key leads back to the sign-in page with the reason`, async (t) => {
      const page = await console.open(t, '/risks', { signedIn: false });
      // Without `events.read` the page does not notice the end by itself.
      const { id, secret } = await console.newKey(['projects.read']);
      await signIn(page, secret);
      await waitUntilLoaded(page);
      await end(id);
      await page.getByRole('link', { name: 'Issues', exact: true }).click();
      await page.getByRole('alert').getByText(text).first().waitFor();
      await page.reload();
      await page.getByRole('alert').getByText(text).first().waitFor();
    });
  }

  test('the first visit shows no error', async (t) => {
    const page = await console.open(t, '/', { signedIn: false });
    await page.getByLabel('Email').waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
    // The console must not depend on the wording of the service.
    await page.route('**/v1/me', (route) =>
      route.fulfill({
        status: 401,
        headers: {
          'content-type': 'application/problem+json',
          'www-authenticate': 'Bearer realm="muster"',
        },
        body: JSON.stringify({ code: 'unauthenticated', detail: 'Other words.' }),
      }),
    );
    await page.reload();
    await page.getByLabel('Email').waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
  });
});

describe('the overview', () => {
  test('shows the reasons of project health, the top 10 risks with their movement, and the trend', async (t) => {
    const page = await console.open(t, '/');
    const { data } = await console.get('/v1/risks?kind=threat&limit=10');
    assert.deepEqual(
      await page.locator('.ranking a').allTextContents(),
      data.map(({ title }: { title: string }) => title),
    );
    assert.equal(await page.locator('.ranking .movement').count(), 10);
    const projects = (await console.get('/v1/projects')).data as {
      health: { reasons: string[]; warnings: string[] };
    }[];
    const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
    const reasons = projects
      .flatMap(({ health: { reasons, warnings } }) => [
        ...[...reasons, ...warnings],
        warnings.length === 1 ? '1 warning' : `${warnings.length} warnings`,
      ])
      .map((reason) => reason.replace(/\d{4}-\d\d-\d\d/, (day) => format.format(new Date(day))));
    for (const shown of await page.locator('.reasons p').allTextContents()) {
      for (const reason of shown.split(' · ')) assert.ok(reasons.includes(reason), reason);
    }
    assert.ok((await page.locator('.exposure svg path, .exposure svg polyline').count()) > 0);
  });

  test('needs at most 9 requests', async (t) => {
    // A taller window shows more at once.
    const page = await console.open(t, '/keys', { viewport: { width: 1280, height: 720 } });
    const requests: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/v1/')) requests.push(request.url());
    });
    await page.getByRole('link', { name: 'Overview' }).click();
    await waitUntilLoaded(page);
    assert.ok(requests.length <= 9, requests.join('\n'));
  });
});

describe('risks', () => {
  test('are listed in the order of the API; filters and heat-map cells are in the URL', async (t) => {
    const page = await console.open(t, '/risks');
    const ranked = await console.get('/v1/risks?limit=5');
    const shown = await page.locator('tbody tr:not(.spacer) .row-link').allTextContents();
    assert.deepEqual(
      shown.slice(0, 5),
      ranked.data.map(({ title }: { title: string }) => title),
    );

    assert.equal(await page.locator('.heat-cell').count(), 0);
    await openHeatMap(page);
    await page.getByRole('link', { name: /^Probability 4, impact 4/ }).click();
    await page.waitForURL(/probability=4&impact=4/);
    await waitUntilLoaded(page);
    for (const score of await page.locator('tbody .score').allTextContents()) assert.equal(score, '16');
    await page.getByRole('search').getByRole('button', { name: 'Status' }).click();
    await page.getByRole('checkbox', { name: 'Open' }).press('Space');
    await page.waitForURL(/status=open/);
    await page.keyboard.press('Escape');
    await page.reload();
    await waitUntilLoaded(page);
    for (const status of await page.locator('tbody .chip').allTextContents()) assert.equal(status, 'Open');
    // It is still open.
    await page.getByRole('link', { name: /^Probability 4, impact 4/ }).click();
    await page.waitForURL((url) => !url.search.includes('probability'));
  });

  test('a filter that a link has set names its owner and can be removed', async (t) => {
    const { data } = await console.get('/v1/risks?unowned=false&limit=1');
    const [{ owner_user_id, owner_group_id, owner_name }] = data;
    const filter = owner_user_id ? `owner_user_id=${owner_user_id}` : `owner_group_id=${owner_group_id}`;
    const page = await console.open(t, `/risks?${filter}`);
    const label = owner_user_id ? 'Owner' : 'Owning group';
    await page.getByRole('button', { name: `${label} ${owner_name}` }).click();
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await page.waitForURL(/\/risks$/);
  });

  test('an assessment that was undone is not the initial score', async (t) => {
    const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Assessed by mistake' });
    const page = await console.open(t, `/risks/${key}`);
    const assess = async (cell: RegExp) => {
      await page.getByRole('button', { name: 'Assess' }).click();
      await page.getByRole('button', { name: cell }).click();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
    };
    await assess(/^Probability 5 .*, impact 4 .*: score 20$/);
    await page.locator('.toast', { hasText: 'score 20' }).getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Not assessed, so unranked.').waitFor();
    await assess(/^Probability 2 .*, impact 2 .*: score 4$/);
    await page.locator('.rank-explanation').waitFor();
    const scores = page.getByRole('region', { name: 'Risk score' }).locator('.scores dd');
    assert.equal(await scores.first().textContent(), '4');
  });

  test('a new risk shows validation errors next to their fields, then explains its rank', async (t) => {
    const page = await console.open(t, '/risks');
    await page.getByRole('button', { name: 'Create risk' }).click();
    const dialog = page.getByRole('dialog');
    await pick(page, 'Project', 'apollo');
    await dialog.getByLabel('Title').fill('x'.repeat(300));
    await dialog.getByRole('button', { name: 'Create risk' }).click();
    await dialog.locator('.field-error').waitFor();
    assert.equal(await dialog.getByLabel('Title').getAttribute('aria-invalid'), 'true');
    await dialog.getByLabel('Title').fill('The mast may bend');
    await dialog.getByRole('button', { name: /^Probability 5 .*, impact 5 .*: score 25$/ }).click();
    await pick(page, 'Owner', 'adaeze');
    await dialog.getByRole('button', { name: 'Create risk' }).click();
    await page.getByRole('heading', { level: 1, name: 'The mast may bend' }).waitFor();
    await waitUntilLoaded(page);
    const key = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const { explain, owner_name } = await console.get(`/v1/projects/APOLLO/risks/${key}?explain=true`);
    assert.equal(owner_name, 'Adaeze Eze');
    const explanation = (await page.locator('.rank-explanation').textContent()) ?? '';
    assert.match(explanation, /5 Almost certain\s*×\s*5 Severe\s*=\s*25/);
    assert.match(explanation, new RegExp(`Rank ${explain.rank} of ${explain.of}`));
  });

  test('a risk offers only allowed transitions; accepting needs a reason and a date', async (t) => {
    const { key } = await console.post('/v1/projects/APOLLO/risks', {
      title: 'Transitions',
      probability: 2,
      impact: 2,
    });
    const page = await console.open(t, `/risks/${key}`);
    const buttons = page.locator('.button-row').first().getByRole('button');
    const labels = {
      open: 'Reopen',
      mitigating: 'Move to Mitigating',
      monitoring: 'Move to Monitoring',
      accepted: 'Accept…',
      materialized: 'Mark as occurred…',
      closed: 'Close…',
    };
    const offers = async (status: keyof typeof labels) => {
      const shown = status === 'materialized' ? 'Occurred' : status;
      await page.locator('#status .chip').getByText(shown, { exact: false }).waitFor();
      assert.deepEqual(
        await buttons.allTextContents(),
        riskTransitions[status].map((to) =>
          to === 'open' && ['mitigating', 'monitoring'].includes(status) ? 'Move to Open' : labels[to],
        ),
      );
    };
    await offers('open');
    await buttons.getByText('Move to Mitigating').click();
    await offers('mitigating');
    await page.getByRole('button', { name: 'Undo' }).click();
    await offers('open');
    await buttons.getByText('Accept…').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('Insured.');
    await dialog.getByLabel('Until').fill(inDays(30));
    await dialog.getByRole('button', { name: 'Accept risk' }).click();
    await offers('accepted');
    await buttons.getByText('Close…').click();
    await dialog.getByLabel('Reason').fill('Over.');
    await dialog.getByRole('button', { name: 'Close risk' }).click();
    await offers('closed');
    await buttons.getByText('Reopen').click();
    await dialog.getByLabel('Reason').fill('It is not.');
    await dialog.getByRole('button', { name: 'Reopen risk' }).click();
    await offers('open');
    await buttons.getByText('Mark as occurred…').click();
    assert.equal(await dialog.getByLabel('Issue title').inputValue(), 'Transitions');
    await dialog.getByLabel('What happened').fill('The bridge is closed.');
    await dialog.getByLabel('Severity').selectOption('high');
    await dialog.getByRole('button', { name: 'Create issue' }).click();
    await page.waitForURL(/\/issues\/APOLLO-I\d+/);
    await page.getByRole('heading', { level: 1, name: 'Transitions' }).waitFor();
    await page.getByRole('region', { name: 'Description' }).getByText('The bridge is closed.').waitFor();
    await page.goto(`/risks/${key}`);
    await offers('materialized');
  });

  test('a risk has tasks to add and complete, a history of its edits, and can be deleted', async (t) => {
    const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Edited' });
    const page = await console.open(t, `/risks/${key}`);
    await page.getByRole('button', { name: 'Add task' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Title').fill('Tighten the bolts');
    await dialog.getByRole('button', { name: 'Add task' }).click();
    await page.getByRole('button', { name: 'Mark as done: Tighten the bolts' }).click();
    await page.locator('.lines .chip').getByText('Done').waitFor();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await dialog.getByLabel('Title').fill('Edited twice');
    await dialog.getByLabel('Residual probability').selectOption('1');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'Edited twice' }).waitFor();
    await page
      .locator('.history')
      .getByText(/Edited to\s+→ Edited twice/)
      .waitFor();
    await page.getByRole('button', { name: 'Edit: Tighten the bolts' }).click();
    await dialog.getByRole('button', { name: 'Delete task' }).click();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No tasks yet').waitFor();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL(/\/risks$/);
  });

  test('an edit does not overwrite a change that someone else made meanwhile', async (t) => {
    const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Contended' });
    // The form is taller than the window.
    const viewport = { width: 1024, height: 560 };
    const page = await console.open(t, `/risks/${key}`, { viewport });
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Title').fill('Mine');
    await dialog.getByLabel('Trigger').focus();
    const path = `/v1/projects/APOLLO/risks/${key}`;
    await console.patch(path, { title: 'Theirs', category: 'supply' });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByText('Someone else changed this').waitFor();
    const review = await dialog.getByRole('button', { name: 'Review' }).boundingBox();
    assert.ok(review && review.y > 0 && review.y + review.height <= viewport.height, 'it is in view');
    assert.equal((await console.get(path)).title, 'Theirs');
    await dialog.getByRole('button', { name: 'Review' }).click();
    await dialog.getByText('Title: Theirs (yours: Mine)').waitFor();
    assert.equal(await dialog.getByLabel('Category').inputValue(), 'supply');
    await console.patch(path, { due_on: '2031-02-03' });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('button', { name: 'Overwrite' }).click();
    await page.getByRole('heading', { level: 1, name: 'Mine' }).waitFor();
    const { title, category, due_on } = await console.get(path);
    assert.deepEqual([title, category, due_on], ['Mine', 'supply', '2031-02-03']);
  });

  test('the filtered list is exported as CSV or as a workbook', async (t) => {
    const page = await console.open(t, '/risks?level=critical');
    const { page: counted } = await console.get('/v1/risks?level=critical');
    const exported = async (format: string) => {
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Export' }).click();
      await page.getByRole('menuitem', { name: format }).click();
      const file = await download;
      return {
        name: file.suggestedFilename(),
        bytes: Buffer.concat(await (await file.createReadStream()).toArray()),
      };
    };
    const csv = await exported('CSV, all fields');
    assert.match(csv.name, /^risks-.*\.csv$/);
    assert.equal(csv.bytes.toString().trim().split('\n').length, counted.total + 1);
    const shown = (await exported('CSV, as shown')).bytes.toString();
    assert.match(shown, /^\ufeffRank,Score,Key,Risk,Status,Owner,Due\r\n1,\d+,[A-Z]+-R\d+,/);
    assert.match(shown, /,(Open|Mitigating|Monitoring|Accepted),/);
    const workbook = await exported('Excel workbook, all fields');
    assert.match(workbook.name, /^risks-.*\.xlsx$/);
    const rows = [...(await Array.fromAsync(readXlsx(workbook.bytes)))].flat();
    assert.equal(rows.filter(({ isHeader }) => !isHeader).length, counted.total);
  });
});

describe('issues', () => {
  test('are assigned and resolved in the list', async (t) => {
    const { key, title } = await console.post('/v1/projects/APOLLO/issues', { title: 'Loose cable 4711' });
    const page = await console.open(t, '/issues?q=4711');
    await page.getByRole('button', { name: `Assign…, ${key}` }).click();
    await page.getByRole('combobox', { name: 'Assign to' }).fill('adaeze');
    await page.getByRole('option', { name: /Adaeze Eze/ }).click();
    await page.getByRole('button', { name: `Adaeze Eze, ${key}` }).waitFor();
    await page.getByRole('button', { name: `Resolve ${key}` }).click();
    await page.getByRole('dialog').getByLabel('Resolution').selectOption('workaround');
    await page.getByRole('dialog').getByRole('button', { name: 'Resolve' }).click();
    await page.getByText('No open issues match these filters').waitFor();
    const issue = await console.get(`/v1/projects/APOLLO/issues/${key}`);
    assert.deepEqual([issue.title, issue.status, issue.resolution], [title, 'resolved', 'workaround']);
    const resolved = page.locator('.toast', { hasText: `Resolved ${key}` });
    await resolved.getByRole('button', { name: 'Undo' }).click();
    await page.getByText(title).waitFor();
  });

  test('an issue offers only allowed transitions', async (t) => {
    const { key } = await console.post('/v1/projects/APOLLO/issues', { title: 'Issue transitions' });
    const page = await console.open(t, `/issues/${key}`);
    const buttons = page.locator('.button-row').first().getByRole('button');
    const labels = {
      open: 'Reopen',
      in_progress: 'Start work',
      blocked: 'Mark as blocked…',
      resolved: 'Resolve…',
      closed: 'Close',
    };
    const offers = async (status: keyof typeof labels, word: string) => {
      await page.locator('#status .chip').getByText(word).waitFor();
      assert.deepEqual(
        await buttons.allTextContents(),
        issueTransitions[status].map((to) => {
          if (status === 'resolved' && to === 'in_progress') return 'Reopen';
          return to === 'open' && status !== 'closed' ? 'Move to Open' : labels[to];
        }),
      );
    };
    await offers('open', 'Open');
    await buttons.getByText('Mark as blocked…').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Blocker').fill('The rain.');
    await dialog.getByRole('button', { name: 'Mark as blocked' }).click();
    await offers('blocked', 'Blocked');
    await buttons.getByText('Resolve…').click();
    await dialog.getByRole('button', { name: 'Resolve' }).click();
    await offers('resolved', 'Resolved');
    await buttons.getByText('Close').click();
    await offers('closed', 'Closed');
    await buttons.getByText('Reopen').click();
    await dialog.getByLabel('Reason').fill('It rains again.');
    await dialog.getByRole('button', { name: 'Reopen' }).click();
    await offers('open', 'Open');
  });
});

describe('projects', () => {
  test('a project is created, edited, archived, unarchived and deleted', async (t) => {
    const page = await console.open(t, '/projects');
    await page.getByRole('button', { name: 'Create project' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Zeppelin');
    await dialog.getByRole('button', { name: 'Create project' }).click();
    await page.waitForURL(/\/projects\/ZEPPELIN/);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await dialog.getByLabel('Risk appetite (score)', { exact: true }).fill('9');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('9 of 25').waitFor();
    await page.getByRole('button', { name: 'Archive' }).click();
    await dialog.getByRole('button', { name: 'Archive' }).click();
    await page.getByRole('button', { name: 'Unarchive' }).click();
    await page.getByRole('button', { name: 'Archive', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL(/\/projects$/);
  });

  test('a project with contents is not deleted, and the error names them', async (t) => {
    const page = await console.open(t, '/projects/APOLLO');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('alert').getByText('is used by').waitFor();
  });
});

test('the navigation links to the API reference', async (t) => {
  const page = await console.open(t, '/keys');
  await page.getByRole('link', { name: 'API reference' }).click();
  await page.waitForURL(/\/docs$/);
  await page.getByRole('heading', { level: 1 }).waitFor();
});

test('the palette finds people, groups, projects, risks and tasks, and runs commands', async (t) => {
  await console.post('/v1/groups', { name: 'Palette group' });
  const task = await console.post('/v1/projects/APOLLO/tasks', { title: 'Palette task' });
  const { data } = await console.get('/v1/risks?limit=1');
  const page = await console.open(t, '/');
  const choose = async (text: string, option: RegExp) => {
    await page.keyboard.press('Control+k');
    await page.getByRole('searchbox', { name: 'Go to' }).fill(text);
    await page.getByRole('menuitem', { name: option }).click();
  };
  const go = async (text: string, option: RegExp, heading: string) => {
    await choose(text, option);
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  };
  await waitUntilLoaded(page);
  await go('adaeze', /Adaeze Eze/, 'Adaeze Eze');
  await go('apollo', /^Apollo: passenger/, 'Apollo: passenger information on stations');
  await go(data[0].key, new RegExp(`${data[0].key}\\b`), data[0].title);
  await go('palette gr', /Palette group/, 'Palette group');
  await go(task.key, /Palette task/, 'Palette task');
  await choose('create risk', /Create risk/);
  await page.getByRole('dialog', { name: 'Create risk' }).waitFor();
  assert.equal(new URL(page.url()).search, '');
});

test('the theme follows the system until the user chooses one, which is remembered', async (t) => {
  const page = await console.open(t, '/', { colorScheme: 'dark' });
  const isDark = () =>
    page.evaluate(() => getComputedStyle(document.body).backgroundColor === 'rgb(15, 17, 21)');
  await waitUntilLoaded(page);
  assert.equal(await isDark(), true);
  await page.getByRole('button', { name: 'Light' }).click();
  assert.equal(await isDark(), false);
  await page.reload();
  await waitUntilLoaded(page);
  assert.equal(await isDark(), false);
});

test('numbers and dates follow the locale of the browser', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Datum', due_on: '2031-02-03' });
  const page = await console.open(t, `/risks/${key}`, { locale: 'de-DE' });
  await page.locator('.facts').getByText('03.02.2031').waitFor();
  await page.goto('/');
  await page
    .locator('.exposure .tick-label')
    .getByText(/^\d\.\d{3}$/)
    .first()
    .waitFor();
});

test('a rate-limited request is retried after a message', async (t) => {
  const page = await console.open(t, '/keys');
  let requests = 0;
  await page.route('**/v1/issues?**', (route) => {
    requests += 1;
    if (requests > 1) return route.continue();
    return route.fulfill({
      status: 429,
      headers: { 'retry-after': '1', 'content-type': 'application/problem+json' },
      body: JSON.stringify({ code: 'rate_limited', detail: 'This key has sent too many requests.' }),
    });
  });
  await page.getByRole('link', { name: 'Issues', exact: true }).click();
  await page.locator('.toast').getByText('sent too many requests').waitFor();
  await page.locator('.summary-line').getByText('open issues').waitFor();
});

test('before a page loads, its scripts and styles take at most 266 kB, compressed with gzip', async () => {
  const html = await (await fetch(console.app.baseUrl)).text();
  const built = join(import.meta.dirname, '../../dist/web');
  const files = html.match(/assets\/[^"]+\.(js|css)/g) ?? [];
  const bytes = files.reduce((sum, file) => sum + statSync(join(built, `${file}.gz`)).size, 0);
  assert.ok(bytes > 50_000 && bytes <= 266_000, `${files.join(' ')} take ${bytes} bytes`);
});

test('a page loads at most 250 kB of compressed JavaScript', async (t) => {
  for (const path of ['/', '/risks', '/personnel']) {
    const page = await console.newPage(t);
    let bytes = 0;
    page.on('response', async (response) => {
      if (response.url().endsWith('.js')) bytes += Number(response.headers()['content-length']);
    });
    await visit(page, path);
    assert.ok(bytes > 50_000 && bytes <= 250_000, `${path} takes ${bytes} bytes`);
  }
});
