import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { readXlsx } from '../../src/files/xlsx.ts';
import { issueMoves } from '../../src/issues/transitions.ts';
import { riskMoves } from '../../src/risks/transitions.ts';
import { type Console, settled, startConsole } from './console.ts';

let console: Console;

before(async () => {
  console = await startConsole();
});

after(() => console.stop());

describe('signing in', () => {
  test('a good key opens the page that was asked for, and stays out of reach of scripts', async (t) => {
    const page = await console.open(t, '/projects?status=active', { signedIn: false });
    if (!page) return;
    const { secret } = await console.makeKey();
    await page.getByLabel('API key').fill(secret);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor();
    assert.equal(new URL(page.url()).search, '?status=active');
    assert.ok(!(await page.evaluate(() => document.cookie + JSON.stringify(localStorage))).includes(secret));
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    await page.reload();
    await page.getByLabel('API key').waitFor();
  });

  test('a wrong key is refused with what is wrong about it', async (t) => {
    const page = await console.open(t, '/', { signedIn: false });
    if (!page) return;
    await page.getByLabel('API key').fill('mst_nonsense');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('Check it for typing errors').waitFor();
  });

  test('a key that has ended leads back, with a sentence', async (t) => {
    const page = await console.open(t, '/risks', { signedIn: false });
    if (!page) return;
    const { id, secret } = await console.makeKey();
    await page.getByLabel('API key').fill(secret);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Risks' }).waitFor();
    await console.revoke(id);
    // What the page itself still asks for may find out first; then there is no link any more.
    await page
      .getByRole('link', { name: 'Issues', exact: true })
      .click({ timeout: 2000 })
      .catch(() => {});
    await page.getByRole('alert').getByText('has been revoked').waitFor();
  });
});

describe('the overview', () => {
  test('every number leads to the list behind it, which has as many', async (t) => {
    const page = await console.open(t, '/');
    if (!page) return;
    await settled(page);
    const links = page.locator('.tiles a, .heat-cell, .bars a, #open-issues a, .issues header > a');
    const count = await links.count();
    assert.ok(count >= 4 + 25 + 8 + 2);
    // Each kind of number; all 39 of them would take a minute.
    for (const index of [0, 1, 4 + 7, 4 + 12, 29, 30, 31, 33, 35, 36, 37, 38]) {
      const link = links.nth(index);
      const shown = (await link.textContent()) ?? '';
      const number = Number((/\d+$/.exec(shown) ?? /^\d+/.exec(shown))?.[0] ?? 0);
      await link.click();
      await settled(page);
      const found: string | null = (await page.locator('.summary-line').count())
        ? await page.locator('.summary-line').textContent()
        : '0';
      assert.equal(Number.parseInt(found ?? '', 10), number, `${shown} led to ${page.url()}`);
      await page.goBack();
      await settled(page);
    }
  });

  test('shows why projects are where they are, the ten worst risks and how they moved, and the trend', async (t) => {
    const page = await console.open(t, '/');
    if (!page) return;
    await settled(page);
    const { data } = await console.get('/v1/risks?limit=10');
    assert.deepEqual(
      await page.locator('.ranking a').allTextContents(),
      data.map(({ title }: { title: string }) => title),
    );
    assert.equal(await page.locator('.ranking .movement').count(), 10);
    const projects = (await console.get('/v1/projects')).data as { health: { reasons: string[] } }[];
    const reasons = projects.flatMap(({ health }) => health.reasons);
    for (const shown of await page.locator('.reasons p').allTextContents()) {
      for (const reason of shown.split(' · ')) assert.ok(reasons.includes(reason), reason);
    }
    assert.ok((await page.locator('.exposure svg path, .exposure svg polyline').count()) > 0);
  });

  test('takes a handful of requests', async (t) => {
    const page = await console.open(t, '/keys');
    if (!page) return;
    await settled(page);
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/v1/')) asked.push(request.url());
    });
    await page.getByRole('link', { name: 'Overview' }).click();
    await settled(page);
    assert.ok(asked.length <= 7, asked.join('\n'));
  });
});

describe('risks', () => {
  test('the register is as the API ranks it; filters and cells are in the address', async (t) => {
    const page = await console.open(t, '/risks', { viewport: { width: 1440, height: 900 } });
    if (!page) return;
    await settled(page);
    const ranked = await console.get('/v1/risks?limit=5');
    const shown = await page.locator('tbody tr:not(.space) .row-link').allTextContents();
    assert.deepEqual(
      shown.slice(0, 5),
      ranked.data.map(({ title }: { title: string }) => title),
    );

    await page.getByRole('link', { name: /^Probability 4, impact 4/ }).click();
    await page.waitForURL(/probability=4&impact=4/);
    await settled(page);
    for (const score of await page.locator('tbody .score').allTextContents()) assert.equal(score, '16');
    await page.getByRole('button', { name: 'Status' }).click();
    await page.getByRole('checkbox', { name: 'Open' }).press('Space');
    await page.waitForURL(/status=open/);
    await page.keyboard.press('Escape');
    await page.reload();
    await settled(page);
    for (const status of await page.locator('tbody .chip').allTextContents()) assert.equal(status, 'Open');
    await page.getByRole('link', { name: /^Probability 4, impact 4/ }).click();
    await page.waitForURL((url) => !url.search.includes('probability'));
  });

  test('a filter that the service refuses is shown with its words', async (t) => {
    const page = await console.open(t, '/risks?level=terrible');
    if (!page) return;
    await page.getByRole('alert').getByText(/level/).first().waitFor();
  });

  test('a risk is made, faults beside their fields, and says why it ranks where it does', async (t) => {
    const page = await console.open(t, '/risks');
    if (!page) return;
    await page.getByRole('button', { name: 'New risk' }).click();
    const dialog = page.getByRole('dialog');
    await pick(page, 'Project', 'apollo');
    await dialog.getByLabel('Title').fill('x'.repeat(300));
    await dialog.getByRole('button', { name: 'Create risk' }).click();
    await dialog.locator('.fault').waitFor();
    assert.equal(await dialog.getByLabel('Title').getAttribute('aria-invalid'), 'true');
    await dialog.getByLabel('Title').fill('The mast may bend');
    await dialog.getByLabel('Probability', { exact: true }).selectOption('5');
    await dialog.getByLabel('Impact', { exact: true }).selectOption('5');
    await pick(page, 'Owner', 'adaeze');
    await dialog.getByRole('button', { name: 'Create risk' }).click();
    await page.getByRole('heading', { level: 1, name: 'The mast may bend' }).waitFor();
    await settled(page);
    const key = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const { explain, owner_name } = await console.get(`/v1/projects/APOLLO/risks/${key}?explain=true`);
    assert.equal(owner_name, 'Adaeze Eze');
    const why = (await page.locator('.why').textContent()) ?? '';
    assert.match(why, /5 Almost certain\s*×\s*5 Severe\s*=\s*25/);
    assert.match(why, new RegExp(`Rank ${explain.rank} of ${explain.of}`));
  });

  test('is offered only the moves it may make; accepting needs a reason and a day', async (t) => {
    const { key } = await console.post('/v1/projects/APOLLO/risks', {
      title: 'Moves',
      probability: 2,
      impact: 2,
    });
    const page = await console.open(t, `/risks/${key}`);
    if (!page) return;
    const moves = page.locator('.moves').first().getByRole('button');
    const labels = {
      open: 'Reopen',
      mitigating: 'Mitigate',
      monitoring: 'Monitor',
      accepted: 'Accept…',
      materialized: 'It has happened…',
      closed: 'Close…',
    };
    const offers = async (status: keyof typeof labels) => {
      await page.locator('#state .chip').getByText(status, { exact: false }).waitFor();
      assert.deepEqual(
        await moves.allTextContents(),
        riskMoves[status].map((to) => labels[to]),
      );
    };
    await offers('open');
    await moves.getByText('Mitigate').click();
    await offers('mitigating');
    await page.getByRole('button', { name: 'Undo' }).click();
    await offers('open');
    await moves.getByText('Accept…').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Why it is accepted').fill('Insured.');
    await dialog.getByLabel('Until').fill(inDays(30));
    await dialog.getByRole('button', { name: 'Accept the risk' }).click();
    await offers('accepted');
    await moves.getByText('Close…').click();
    await dialog.getByLabel('Why it is closed').fill('Over.');
    await dialog.getByRole('button', { name: 'Close the risk' }).click();
    await offers('closed');
    await moves.getByText('Reopen').click();
    await dialog.getByLabel('Why it is open again').fill('It is not.');
    await dialog.getByRole('button', { name: 'Reopen the risk' }).click();
    await offers('open');
    await moves.getByText('It has happened…').click();
    await dialog.getByLabel('Severity').selectOption('high');
    await dialog.getByRole('button', { name: 'Make the issue' }).click();
    await page.waitForURL(/\/issues\/APOLLO-I\d+/);
    await page.getByRole('heading', { level: 1, name: 'Moves' }).waitFor();
    await page.goto(`${console.app.baseUrl}/risks/${key}`);
    await offers('materialized');
  });

  test('has tasks that are added and ticked off, an edit that shows in its history, and an end', async (t) => {
    const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Edited' });
    const page = await console.open(t, `/risks/${key}`);
    if (!page) return;
    await page.getByRole('button', { name: 'Add task' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Title').fill('Tighten the bolts');
    await dialog.getByRole('button', { name: 'Add task' }).click();
    await page.getByRole('button', { name: 'Done: Tighten the bolts' }).click();
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
    await dialog.getByRole('button', { name: 'Delete this task' }).click();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No task yet').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL(/\/risks$/);
  });

  test('a change of what someone else has changed meanwhile is refused, and nothing is lost', async (t) => {
    const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Contended' });
    const page = await console.open(t, `/risks/${key}`);
    if (!page) return;
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Title').fill('Mine');
    const { secret } = await console.makeKey();
    await fetch(`${console.app.baseUrl}/v1/projects/APOLLO/risks/${key}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ title: 'Theirs' }),
    });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByText('Read it again').waitFor();
    assert.equal((await console.get(`/v1/projects/APOLLO/risks/${key}`)).title, 'Theirs');
  });

  test('printing gives the list and nothing around it, with every row that is loaded', async (t) => {
    const page = await console.open(t, '/risks');
    if (!page) return;
    await settled(page);
    await page.emulateMedia({ media: 'print' });
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    assert.equal(await page.locator('.table tbody tr').count(), 100);
    for (const hidden of ['.sidebar', '.filters', '.title .button', '.heat-map-card']) {
      assert.equal(await page.locator(hidden).first().isVisible(), false, hidden);
    }
    assert.ok(await page.getByText('100 rows of').isVisible());
  });

  test('what is on screen is exported, as CSV or as a workbook', async (t) => {
    const page = await console.open(t, '/risks?level=critical');
    if (!page) return;
    await settled(page);
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
    const csv = await exported('CSV');
    assert.match(csv.name, /^risks-.*\.csv$/);
    assert.equal(csv.bytes.toString().trim().split('\n').length, counted.total + 1);
    const workbook = await exported('Excel workbook');
    assert.match(workbook.name, /^risks-.*\.xlsx$/);
    const rows = [...(await Array.fromAsync(readXlsx(workbook.bytes)))].flat();
    assert.equal(rows.filter(({ isHeader }) => !isHeader).length, counted.total);
  });
});

describe('issues', () => {
  test('are assigned from the roster and resolved, in the list itself', async (t) => {
    const { key, title } = await console.post('/v1/projects/APOLLO/issues', { title: 'Loose cable 4711' });
    const page = await console.open(t, '/issues?q=4711');
    if (!page) return;
    await settled(page);
    await page.getByRole('button', { name: `Assign…, ${key}` }).click();
    await page.getByRole('combobox', { name: 'Assign to' }).fill('adaeze');
    await page.getByRole('option', { name: /Adaeze Eze/ }).click();
    await page.getByRole('button', { name: `Adaeze Eze, ${key}` }).waitFor();
    await page.getByRole('button', { name: `Resolve ${key}` }).click();
    await page.getByRole('dialog').getByLabel('How').selectOption('workaround');
    await page.getByRole('dialog').getByRole('button', { name: 'Resolve' }).click();
    await page.getByText('No open issue matches').waitFor();
    const issue = await console.get(`/v1/projects/APOLLO/issues/${key}`);
    assert.deepEqual([issue.title, issue.status, issue.resolution], [title, 'resolved', 'workaround']);
    const resolved = page.locator('.toast', { hasText: `${key} is resolved` });
    await resolved.getByRole('button', { name: 'Undo' }).click();
    await page.getByText(title).waitFor();
  });

  test('one is offered only the moves it may make', async (t) => {
    const { key } = await console.post('/v1/projects/APOLLO/issues', { title: 'Issue moves' });
    const page = await console.open(t, `/issues/${key}`);
    if (!page) return;
    const moves = page.locator('.moves').first().getByRole('button');
    const labels = {
      open: 'Reopen',
      in_progress: 'Start work',
      blocked: 'Blocked…',
      resolved: 'Resolve…',
      closed: 'Close',
    };
    const offers = async (status: keyof typeof labels, word: string) => {
      await page.locator('#state .chip').getByText(word).waitFor();
      assert.deepEqual(
        await moves.allTextContents(),
        issueMoves[status].map((to) => labels[to]),
      );
    };
    await offers('open', 'Open');
    await moves.getByText('Blocked…').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('What blocks it').fill('The rain.');
    await dialog.getByRole('button', { name: 'Blocked' }).click();
    await offers('blocked', 'Blocked');
    await moves.getByText('Resolve…').click();
    await dialog.getByRole('button', { name: 'Resolve' }).click();
    await offers('resolved', 'Resolved');
    await moves.getByText('Close').click();
    await offers('closed', 'Closed');
  });
});

describe('projects', () => {
  test('one is made, changed, archived, brought back and deleted', async (t) => {
    const page = await console.open(t, '/projects');
    if (!page) return;
    await page.getByRole('button', { name: 'New project' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Zeppelin');
    await dialog.getByRole('button', { name: 'Create project' }).click();
    await page.waitForURL(/\/projects\/ZEPPELIN/);
    await page.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByLabel('Appetite').fill('9');
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

  test('one that is in use is kept, and the page says what uses it', async (t) => {
    const page = await console.open(t, '/projects/APOLLO');
    if (!page) return;
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('alert').getByText('is used by').waitFor();
  });
});

describe('personnel and groups', () => {
  test('people are found by typing, and a page shows what one carries', async (t) => {
    const page = await console.open(t, '/personnel');
    if (!page) return;
    await page.getByRole('searchbox').fill('adaeze');
    await page.waitForURL(/q=adaeze/);
    await page.locator('.summary-line').getByText('1 person').waitFor();
    await page.getByRole('link', { name: 'Adaeze Eze' }).click();
    await page.getByRole('heading', { level: 1, name: 'Adaeze Eze' }).waitFor();
    await settled(page);
    const user_id = new URL(page.url()).pathname.split('/').at(-1);
    const carried = await console.get(`/v1/personnel/${user_id}/assignments`);
    assert.match(
      (await page.locator('#carries').textContent()) ?? '',
      new RegExp(`Carries ${carried.page.total}$`),
    );
  });

  test('who leaves hands over what they carry, shown before it happens', async (t) => {
    const leaver = await console.post('/v1/personnel', { name: 'Leaving Larsson' });
    await console.post('/v1/personnel', { name: 'Heir Hansen' });
    const carried = { owner_user_id: leaver.user_id };
    const risk = await console.post('/v1/projects/APOLLO/risks', { title: 'Handed over', ...carried });
    const page = await console.open(t, `/personnel/${leaver.user_id}`);
    if (!page) return;
    await page.getByRole('button', { name: 'Deactivate…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('What does not move stays with them').waitFor();
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

  test('a person is added and changed', async (t) => {
    const page = await console.open(t, '/personnel');
    if (!page) return;
    await page.getByRole('button', { name: 'Add person' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Zora Quint');
    await dialog.getByLabel('E-mail').fill('no address');
    await dialog.getByRole('button', { name: 'Add person' }).click();
    await dialog.locator('.fault').waitFor();
    await dialog.getByLabel('E-mail').fill('zora@example.com');
    await dialog.getByRole('button', { name: 'Add person' }).click();
    await page.getByRole('heading', { level: 1, name: 'Zora Quint' }).waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByLabel('Title').fill('Surveyor');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.locator('.facts').getByText('Surveyor').waitFor();
  });

  test('groups are a tree; people come and go on a group’s page', async (t) => {
    const page = await console.open(t, '/groups');
    if (!page) return;
    await settled(page);
    await page.getByRole('row', { name: 'Cyber Security' }).waitFor();
    await page.getByRole('row', { name: 'Technology' }).press('ArrowLeft');
    await page.getByRole('row', { name: 'Cyber Security' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'New group' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Night watch');
    await dialog.getByRole('button', { name: 'Create group' }).click();
    await page.getByRole('heading', { level: 1, name: 'Night watch' }).waitFor();
    await page.getByRole('combobox', { name: 'Add a member' }).fill('adaeze');
    await page.getByRole('option', { name: /Adaeze Eze/ }).click();
    await page.getByRole('heading', { name: '1 member' }).waitFor();
    await page.getByRole('button', { name: 'Remove Adaeze Eze' }).click();
    await page.getByText('Nobody is in it yet').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL(/\/groups$/);
  });
});

describe('keys', () => {
  test('the secret of a new key is shown once and copied; revoked, it opens nothing', async (t) => {
    const page = await console.open(t, '/keys', { permissions: ['clipboard-read', 'clipboard-write'] });
    if (!page) return;
    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('nightly export');
    await dialog.getByLabel('personnel.read').check();
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
    await dialog.getByRole('button', { name: 'I have kept it' }).click();
    assert.ok(!(await page.content()).includes(secret));
    await page.getByRole('button', { name: 'Revoke nightly export' }).click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('row', { name: /nightly export.*Revoked/ }).waitFor();
    assert.equal(await status(), 401);
  });

  test('one is limited to some projects and to a rate, which the list tells', async (t) => {
    const page = await console.open(t, '/keys', { viewport: { width: 1440, height: 900 } });
    if (!page) return;
    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('two projects');
    await dialog.getByLabel('projects.read').check();
    await pick(page, 'Limited to projects', 'apollo');
    await pick(page, 'Limited to projects', 'saltmarsh');
    await pick(page, 'Limited to projects', 'kestrel');
    // The list is open for the next.
    await page.keyboard.press('Tab');
    await dialog.getByRole('button', { name: 'Remove KESTREL' }).click();
    await dialog.getByLabel('Requests a minute').fill('120');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByText('it is not shown again').waitFor();
    await dialog.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByRole('row', { name: /two projects.*APOLLO, SALTMARSH · 120 a minute/ }).waitFor();
    const made = (await console.get('/v1/keys')).data.find(
      ({ name }: { name: string }) => name === 'two projects',
    );
    assert.deepEqual([made.project_ids.length, made.rate_limit], [2, 120]);
  });

  test('one is changed, what is left alone stays as it is, and nobody else is overwritten', async (t) => {
    const { id } = await console.post('/v1/keys', {
      name: 'weekly export',
      scopes: ['personnel.read'],
      project_ids: ['APOLLO', 'SALTMARSH'],
      expires_at: '2031-02-03T04:05:06Z',
      rate_limit: 60,
    });
    const apollo = await console.get('/v1/projects/APOLLO');
    const page = await console.open(t, '/keys', { viewport: { width: 1440, height: 900 } });
    if (!page) return;
    await settled(page);
    const dialog = page.getByRole('dialog');
    const edit = (name: string) => page.getByRole('button', { name: `Edit ${name}`, exact: true }).click();
    const save = () => dialog.getByRole('button', { name: 'Save' }).click();
    await edit('weekly export');
    await dialog.getByLabel('Name').fill('monthly export');
    await dialog.getByLabel('projects.read').check();
    await dialog.getByRole('button', { name: 'Remove SALTMARSH' }).click();
    await dialog.getByLabel('Requests a minute').fill('');
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
    const { secret } = await console.makeKey();
    await fetch(`${console.app.baseUrl}/v1/keys/${id}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'theirs' }),
    });
    await save();
    await dialog.getByRole('alert').getByText('Read it again').waitFor();
    assert.notEqual((await console.get(`/v1/keys/${id}`)).expires_at, null);
  });

  test('one that has expired can be renamed, and stays expired', async (t) => {
    const { id } = await console.makeKey(['personnel.read'], '2020-01-01T00:00:00.000Z');
    const page = await console.open(t, '/keys?status=expired');
    if (!page) return;
    await page.getByRole('button', { name: 'Edit test' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('long gone');
    await dialog.getByLabel('Expires').fill('2021-01-01');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.locator('.fault').getByText('must be in the future').waitFor();
    await dialog.getByLabel('Expires').fill('2020-01-01');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /long gone.*Expired/ }).waitFor();
    assert.equal((await console.get(`/v1/keys/${id}`)).expires_at, '2020-01-01T00:00:00.000Z');
  });

  test('what one’s own key loses is shown no more', async (t) => {
    const page = await console.open(t, '/keys');
    if (!page) return;
    await settled(page);
    const { key_id } = await page.evaluate(async () => (await fetch('/v1/me')).json());
    const mine = await console.get(`/v1/keys/${key_id}`);
    const row = page.getByRole('row').filter({ hasText: mine.last_four });
    await row.getByRole('button', { name: 'Edit test' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('you are signed in with').waitFor();
    await dialog.getByLabel('personnel.read').uncheck();
    await dialog.getByLabel('personnel.manage').uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'Personnel' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Projects' }).waitFor();
  });

  test('one that holds more is not offered to be changed, nor is one that is revoked', async (t) => {
    await console.post('/v1/keys', { name: 'holds more', scopes: ['projects.read'] });
    await console.post('/v1/keys', { name: 'holds less', scopes: ['personnel.read'] });
    const revoked = await console.post('/v1/keys', { name: 'holds nothing', scopes: ['personnel.read'] });
    await console.revoke(revoked.id);
    const page = await console.open(t, '/keys?q=holds', { scopes: ['keys.manage', 'personnel.read'] });
    if (!page) return;
    await page.getByRole('row', { name: /holds more/ }).waitFor();
    assert.deepEqual(await page.getByRole('button', { name: /^Edit/ }).allTextContents(), ['holds less']);
  });

  test('a key gives only what it holds itself', async (t) => {
    const page = await console.open(t, '/keys', { scopes: ['keys.manage', 'personnel.read'] });
    if (!page) return;
    await page.getByRole('button', { name: 'New key' }).click();
    assert.deepEqual(await page.locator('.checks label').allTextContents(), [
      'personnel.read',
      'keys.read',
      'keys.manage',
    ]);
  });
});

test('the reference of the API is a click away', async (t) => {
  const page = await console.open(t, '/keys');
  if (!page) return;
  await settled(page);
  await page.getByRole('link', { name: 'API reference' }).click();
  await page.waitForURL(/\/docs$/);
  await page.getByRole('heading', { level: 1 }).waitFor();
});

test('the palette finds people, projects, and risks by key', async (t) => {
  const page = await console.open(t, '/');
  if (!page) return;
  const { data } = await console.get('/v1/risks?limit=1');
  const go = async (text: string, option: RegExp, heading: string) => {
    await page.keyboard.press('Control+k');
    await page.getByRole('searchbox', { name: 'Go to' }).fill(text);
    await page.getByRole('menuitem', { name: option }).waitFor();
    await page.getByRole('menuitem', { name: option }).click();
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  };
  await settled(page);
  await go('adaeze', /Adaeze Eze/, 'Adaeze Eze');
  await go('apollo', /^Apollo: passenger/, 'Apollo: passenger information on stations');
  await go(data[0].key, new RegExp(data[0].key), data[0].title);
});

test('the colours follow the system until they are chosen, and the choice is kept', async (t) => {
  const page = await console.open(t, '/', { colorScheme: 'dark' });
  if (!page) return;
  const isDark = () =>
    page.evaluate(() => getComputedStyle(document.body).backgroundColor === 'rgb(15, 17, 21)');
  await settled(page);
  assert.equal(await isDark(), true);
  await page.getByRole('button', { name: 'Light' }).click();
  assert.equal(await isDark(), false);
  await page.reload();
  await settled(page);
  assert.equal(await isDark(), false);
});

test('numbers and days are as the reader writes them', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Datum', due_on: '2031-02-03' });
  const page = await console.open(t, `/risks/${key}`, { locale: 'de-DE' });
  if (!page) return;
  await page.locator('.facts').getByText('03.02.2031').waitFor();
  await page.goto(console.app.baseUrl);
  await page
    .locator('.exposure .tick-label')
    .getByText(/^\d\.\d{3}$/)
    .first()
    .waitFor();
});

test('too many requests are waited out, and said', async (t) => {
  const page = await console.open(t, '/keys');
  if (!page) return;
  await settled(page);
  let refused = 0;
  await page.route('**/v1/issues?**', (route) => {
    refused += 1;
    if (refused > 1) return route.continue();
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

test('what a page needs before it shows is at most 250 kB of compressed JavaScript', async (t) => {
  for (const path of ['/', '/risks', '/personnel']) {
    const page = await console.open(t, '/livez');
    if (!page) return;
    let bytes = 0;
    page.on('response', async (response) => {
      if (response.url().endsWith('.js')) bytes += Number(response.headers()['content-length']);
    });
    await page.goto(`${console.app.baseUrl}${path}`);
    await settled(page);
    assert.ok(bytes > 50_000 && bytes <= 250_000, `${path} takes ${bytes} bytes`);
  }
});

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

async function pick(page: Page, label: string, text: string): Promise<void> {
  await page.getByRole('combobox', { name: label, exact: false }).first().fill(text);
  await page
    .getByRole('option', { name: new RegExp(text, 'i') })
    .first()
    .click();
}
