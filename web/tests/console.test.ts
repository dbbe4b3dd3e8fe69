import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { readXlsx } from '../../src/formats/xlsx.ts';
import { issueTransitions } from '../../src/resources/issues/transitions.ts';
import { riskTransitions } from '../../src/resources/risks/rules/transitions.ts';
import { screenshot, startConsole, test, visit, waitUntilLoaded } from './console.ts';
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
  test('every number links to a list with as many rows', async (t) => {
    const page = await console.open(t, '/');
    const links = page.locator('.tiles a, .heat-cell, .bars a, #open-issues a, .issues header > a');
    const count = await links.count();
    assert.ok(count >= 4 + 25 + 8 + 2);
    // One or more of each kind; all 39 links would take a minute.
    for (const index of [0, 1, 4 + 7, 4 + 12, 29, 30, 31, 33, 35, 36, 37, 38]) {
      const link = links.nth(index);
      const shown = (await link.textContent()) ?? '';
      const number = Number((/\d+$/.exec(shown) ?? /^\d+/.exec(shown))?.[0] ?? 0);
      await link.click();
      await waitUntilLoaded(page);
      const found: string | null = (await page.locator('.summary-line').count())
        ? await page.locator('.summary-line').textContent()
        : '0';
      assert.equal(Number.parseInt(found ?? '', 10), number, `${shown} links to ${page.url()}`);
      await page.goBack();
      await waitUntilLoaded(page);
    }
  });

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

describe('personnel and groups', () => {
  test('people are found by name, and their page lists their assigned work', async (t) => {
    const page = await console.open(t, '/personnel');
    await page.getByRole('searchbox').fill('adaeze');
    await page.waitForURL(/q=adaeze/);
    await page.locator('.summary-line').getByText('1 person').waitFor();
    await page.getByRole('link', { name: 'Adaeze Eze' }).click();
    await page.getByRole('heading', { level: 1, name: 'Adaeze Eze' }).waitFor();
    await waitUntilLoaded(page);
    const user_id = new URL(page.url()).pathname.split('/').at(-1);
    const assignments = await console.get(`/v1/personnel/${user_id}/assignments`);
    assert.match(
      (await page.locator('#assignments').textContent()) ?? '',
      new RegExp(`Assigned work ${assignments.page.total}$`),
    );
  });

  test('deactivating a person shows what is reassigned before it happens', async (t) => {
    const leaver = await console.post('/v1/personnel', { name: 'Leaving Larsson' });
    await console.post('/v1/personnel', { name: 'Heir Hansen' });
    const risk = await console.post('/v1/projects/APOLLO/risks', {
      title: 'Handed over',
      owner_user_id: leaver.user_id,
    });
    const page = await console.open(t, `/personnel/${leaver.user_id}`);
    await page.getByRole('button', { name: 'Deactivate…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Anything not reassigned stays with Leaving Larsson').waitFor();
    assert.equal((await console.get(`/v1/personnel/${leaver.user_id}`)).status, 'active');
    await pick(page, 'Hand over to', 'heir hansen');
    await dialog.getByRole('row', { name: 'Risks 1 1' }).waitFor();
    await dialog.getByRole('button', { name: 'Deactivate' }).click();
    await page.getByRole('button', { name: 'Reactivate' }).waitFor();
    const { owner_name } = await console.get(`/v1/projects/APOLLO/risks/${risk.key}`);
    assert.equal(owner_name, 'Heir Hansen');
    await page.getByRole('button', { name: 'Reactivate' }).click();
    await page.getByRole('button', { name: 'Deactivate…' }).waitFor();
  });

  test('a key without access to projects deactivates a person without handing over, and sees why', async (t) => {
    const leaver = await console.post('/v1/personnel', { name: 'Leaving Lindgren' });
    const task = { title: 'Stays', assignee_user_id: leaver.user_id };
    const { key } = await console.post('/v1/projects/APOLLO/tasks', task);
    const page = await console.open(t, `/personnel/${leaver.user_id}`, { scopes: ['personnel.manage'] });
    await page.getByRole('button', { name: 'Deactivate…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('use a key with the scope projects.manage').waitFor();
    await dialog.getByText("Work in projects isn't shown").waitFor();
    assert.equal(await dialog.getByRole('combobox').count(), 0);
    await dialog.getByRole('button', { name: 'Deactivate' }).click();
    await page.getByRole('button', { name: 'Reactivate' }).waitFor();
    const { assignee_name, assignee_active } = await console.get(`/v1/projects/APOLLO/tasks/${key}`);
    assert.deepEqual([assignee_name, assignee_active], ['Leaving Lindgren', false]);
  });

  test('a person is added and edited', async (t) => {
    const page = await console.open(t, '/personnel');
    await page.getByRole('button', { name: 'Add person' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Zora Quint');
    await dialog.getByLabel('Email').fill('no address');
    await dialog.getByRole('button', { name: 'Add person' }).click();
    await dialog.locator('.field-error').waitFor();
    await dialog.getByLabel('Email').fill('zora@example.com');
    await dialog.getByRole('button', { name: 'Add person' }).click();
    await page.getByRole('heading', { level: 1, name: 'Zora Quint' }).waitFor();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await dialog.getByLabel('Title').fill('Surveyor');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.locator('.facts').getByText('Surveyor').waitFor();
  });

  test('a group is created and deleted; members are added and removed on its page', async (t) => {
    const page = await console.open(t, '/groups');
    await page.getByRole('button', { name: 'Create group' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Night watch');
    await dialog.getByRole('button', { name: 'Create group' }).click();
    await page.getByRole('heading', { level: 1, name: 'Night watch' }).waitFor();
    await page.getByRole('combobox', { name: 'Add member' }).fill('adaeze');
    await page.getByRole('option', { name: /Adaeze Eze/ }).click();
    await page.getByRole('heading', { name: '1 member' }).waitFor();
    await page.getByRole('button', { name: 'Remove Adaeze Eze' }).click();
    await page.getByText('No members yet').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL(/\/groups$/);
  });
});

describe('keys', () => {
  test('the secret of a new key is shown until Done and copied; a revoked key is rejected', async (t) => {
    const page = await console.open(t, '/keys', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('nightly export');
    await dialog.getByLabel('Read people').check();
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByRole('button', { name: 'Copy' }).click();
    await dialog.getByText('Copied').waitFor();
    const secret = await page.evaluate(() => navigator.clipboard.readText());
    const status = async () =>
      (
        await fetch(`${console.app.baseUrl}/v1/personnel?limit=1`, {
          headers: { authorization: `Bearer ${secret}` },
        })
      ).status;
    assert.equal(await status(), 200);
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 300);
    assert.equal(await dialog.getByText(secret).isVisible(), true);
    await dialog.getByRole('button', { name: 'Done' }).click();
    assert.ok(!(await page.content()).includes(secret));
    await page.getByRole('button', { name: 'Revoke nightly export' }).click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('row', { name: /nightly export.*Revoked/ }).waitFor();
    assert.equal(await status(), 401);
  });

  test('a key is limited to projects and a rate, which the list shows', async (t) => {
    const page = await console.open(t, '/keys');
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('two projects');
    await dialog.getByLabel('Read projects').check();
    await pick(page, 'Limited to projects', 'apollo');
    await pick(page, 'Limited to projects', 'saltmarsh');
    await pick(page, 'Limited to projects', 'kestrel');
    // The list of projects stays open after a selection.
    await page.keyboard.press('Tab');
    await dialog.getByRole('button', { name: 'Remove KESTREL' }).click();
    await dialog.getByLabel('Rate limit per minute').fill('120');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByText("you won't see it again").waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('row', { name: /two projects.*APOLLO, SALTMARSH · 120 per minute/ }).waitFor();
    const created = (await console.get('/v1/keys')).data.find(
      ({ name }: { name: string }) => name === 'two projects',
    );
    assert.deepEqual([created.project_ids.length, created.rate_limit], [2, 120]);
  });

  test('editing a key changes only the edited fields and does not overwrite a change made meanwhile', async (t) => {
    const { id } = await console.post('/v1/keys', {
      name: 'weekly export',
      scopes: ['personnel.read'],
      project_ids: ['APOLLO', 'SALTMARSH'],
      expires_at: '2031-02-03T04:05:06Z',
      rate_limit: 60,
    });
    const apollo = await console.get('/v1/projects/APOLLO');
    const page = await console.open(t, '/keys');
    const dialog = page.getByRole('dialog');
    const edit = (name: string) => page.getByRole('button', { name: `Edit ${name}`, exact: true }).click();
    const save = () => dialog.getByRole('button', { name: 'Save' }).click();
    await edit('weekly export');
    await dialog.getByLabel('Name').fill('monthly export');
    await dialog.getByLabel('Read projects').check();
    await dialog.getByRole('button', { name: 'Remove SALTMARSH' }).click();
    await dialog.getByLabel('Rate limit per minute').fill('');
    await save();
    await page.getByRole('row', { name: /monthly export.*Until 3 Feb 2031 · APOLLO Rotate/ }).waitFor();
    const changed = await console.get(`/v1/keys/${id}`);
    assert.deepEqual(
      [changed.scopes, changed.project_ids, changed.expires_at, changed.rate_limit],
      [['personnel.read', 'projects.read'], [apollo.id], '2031-02-03T04:05:06.000Z', null],
    );

    await edit('monthly export');
    await dialog.getByLabel('Expires').fill(inDays(30));
    await dialog.getByRole('button', { name: 'Remove APOLLO' }).click();
    await save();
    await dialog.waitFor({ state: 'detached' });
    const { expires_at, project_ids } = await console.get(`/v1/keys/${id}`);
    assert.deepEqual([expires_at, project_ids], [`${inDays(30)}T23:59:59.000Z`, null]);

    await edit('monthly export');
    await dialog.getByLabel('Expires').fill('');
    await console.patch(`/v1/keys/${id}`, { name: 'theirs' });
    await save();
    await dialog.getByRole('alert').getByText('Someone else changed this').waitFor();
    assert.notEqual((await console.get(`/v1/keys/${id}`)).expires_at, null);
  });

  test('an expired key can be renamed and stays expired', async (t) => {
    const { id } = await console.newKey(['personnel.read'], '2020-01-01T00:00:00.000Z');
    const page = await console.open(t, '/keys?status=expired');
    const row = page.getByRole('row', { name: /Read people/ });
    await row.getByRole('button', { name: 'Edit test' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('long gone');
    await dialog.getByLabel('Expires').fill('2021-01-01');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.locator('.field-error').getByText('must be in the future').waitFor();
    await dialog.getByLabel('Expires').fill('2020-01-01');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /long gone.*Expired/ }).waitFor();
    assert.equal((await console.get(`/v1/keys/${id}`)).expires_at, '2020-01-01T00:00:00.000Z');
  });

  test('a key shows the browsers that signed in with it, and signs them out', async (t) => {
    const { id, secret } = await console.post('/v1/keys', { name: 'kiosk', scopes: ['projects.read'] });
    const signedIn = await fetch(`${console.app.baseUrl}/v1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({ key: secret }),
    });
    assert.equal(signedIn.status, 204);
    const page = await console.open(t, '/keys');
    await page.getByRole('button', { name: 'Edit kiosk' }).click();
    await page.getByRole('button', { name: 'Sessions' }).click();
    const dialog = page.getByRole('dialog', { name: 'Sessions of kiosk' });
    await dialog.getByRole('button', { name: /^Sign out/ }).waitFor();
    await screenshot(page, 'key-sessions');
    await dialog.getByRole('button', { name: /^Sign out/ }).click();
    await dialog.getByText('Not signed in anywhere').waitFor();
    assert.deepEqual((await console.get(`/v1/sessions?key_id=${id}`)).data, []);
  });

  test('removing scopes from the key in use hides their pages', async (t) => {
    const page = await console.open(t, '/keys');
    const { key_id } = await page.evaluate(async () => (await fetch('/v1/me')).json());
    const mine = await console.get(`/v1/keys/${key_id}`);
    const row = page.getByRole('row').filter({ hasText: mine.last_four });
    await row.getByRole('button', { name: 'Edit test' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('You are signed in with this key').waitFor();
    await dialog.getByLabel('Read people').uncheck();
    await dialog.getByLabel('Manage people').uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'People' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Projects' }).waitFor();
  });
});

test('a key grants only scopes that it has, and edits no key with more scopes and no revoked one', async (t) => {
  await console.post('/v1/keys', { name: 'holds more', scopes: ['projects.read'] });
  await console.post('/v1/keys', { name: 'holds less', scopes: ['personnel.read'] });
  const revoked = await console.post('/v1/keys', { name: 'holds nothing', scopes: ['personnel.read'] });
  await console.revoke(revoked.id);
  const page = await console.open(t, '/keys?q=holds', { scopes: ['keys.manage', 'personnel.read'] });
  await page.getByRole('row', { name: /holds more/ }).waitFor();
  assert.deepEqual(await page.getByRole('button', { name: /^Edit/ }).allTextContents(), ['holds less']);
  await page.getByRole('button', { name: 'Create key' }).click();
  const boxes = await page.getByRole('dialog').getByRole('checkbox').all();
  assert.deepEqual(await Promise.all(boxes.map((box) => box.getAttribute('aria-label'))), [
    'Read people',
    'Read keys',
    'Manage keys',
  ]);
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

test('before a page loads, its scripts and styles take at most 264 kB, compressed with gzip', async () => {
  const html = await (await fetch(console.app.baseUrl)).text();
  const built = join(import.meta.dirname, '../../dist/web');
  const files = html.match(/assets\/[^"]+\.(js|css)/g) ?? [];
  const bytes = files.reduce((sum, file) => sum + statSync(join(built, `${file}.gz`)).size, 0);
  assert.ok(bytes > 50_000 && bytes <= 264_000, `${files.join(' ')} take ${bytes} bytes`);
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
