import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { startReceiver } from '../../test/receiver.ts';
import { screenshot, startConsole, test, visit, waitUntilLoaded } from './console.ts';
import { openHeatMap } from './page.ts';

const console = startConsole();

const boxOf = async (locator: Locator) => {
  const box = await locator.boundingBox();
  assert.ok(box, 'not visible');
  return box;
};

const widths = [1440, 1024] as const;

test('the actions of an item stay beside its title, however long it is', async (t) => {
  const title =
    'The interface between the server and the engine is understood differently by both sides of it';
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title });
  const page = await console.open(t, `/risks/${key}`);
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    await waitUntilLoaded(page);
    const heading = await boxOf(page.getByRole('heading', { level: 1, name: title, exact: true }));
    const edit = await boxOf(page.getByRole('button', { name: 'Edit', exact: true }));
    assert.ok(edit.y < heading.y + heading.height && edit.x > heading.x + heading.width, `at ${width}`);
  }
});

test('the actions of a list are beside its title', async (t) => {
  const page = await console.open(t, '/risks');
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    await waitUntilLoaded(page);
    const heading = await boxOf(page.getByRole('heading', { level: 1, name: 'Risks', exact: true }));
    const create = await boxOf(page.getByRole('button', { name: 'Create risk', exact: true }));
    assert.ok(create.y < heading.y + heading.height, `at ${width}`);
  }
});

test('the column without a fixed width has room on a small laptop', async (t) => {
  const page = await console.open(t, '/keys', { viewport: { width: 1280, height: 800 } });
  for (const path of ['/keys', '/projects', '/personnel', '/risks', '/issues', '/tasks']) {
    await visit(page, path);
    const cell = page.locator('tbody td:has(.row-link, .cell-name)').first();
    assert.ok((await boxOf(cell)).width > 150, path);
  }
});

test('titles of risks have room on a laptop, also below an open heat map', async (t) => {
  const page = await console.open(t, '/risks');
  await openHeatMap(page);
  for (const [width, room] of [
    [1210, 240],
    [1280, 300],
    [1366, 380],
    [1440, 440],
  ] as const) {
    await page.setViewportSize({ width, height: 800 });
    assert.ok((await boxOf(page.locator('tbody td:has(.row-link)').first())).width > room, `at ${width}`);
  }
});

test('a first and a last name are not cut off, and rows with a title of one line keep their height', async (t) => {
  const page = await console.open(t, '/issues');
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    for (const path of ['/issues', '/tasks', '/risks', '/personnel']) {
      await visit(page, path);
      const cut: (string | null)[] = await page.locator('td .person bdi').evaluateAll((names) =>
        names
          .filter(({ textContent }) => textContent?.split(' ').length === 2)
          .filter((name) => name.scrollWidth > name.clientWidth || name.scrollHeight > name.clientHeight + 1)
          .map((name) => name.textContent),
      );
      assert.deepEqual(cut, [], `${path} at ${width}`);
      const heights: number[] = await page
        .locator('tr:has(.row-link)')
        .evaluateAll((rows) =>
          rows
            .filter((row) => (row.querySelector('.row-link bdi')?.getClientRects().length ?? 0) === 1)
            .map((row) => Math.round(row.getBoundingClientRect().height)),
        );
      assert.deepEqual(new Set([41, ...heights]), new Set([41]), `${path} at ${width}`);
      await screenshot(page, `rows-${path.slice(1)}-${width}`);
    }
  }
});

test('the search of a list is wide enough for its label, also when filters are set', async (t) => {
  const page = await console.open(t, '/risks');
  for (const path of ['/risks', '/risks?project=APOLLO&level=high,critical', '/issues', '/tasks']) {
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      await visit(page, path);
      const input = page.getByRole('searchbox', { name: 'Search by title or key', exact: true });
      // The width of the label itself, between the icon and the end of the field.
      const room = await input.evaluate((element: HTMLInputElement) => {
        const { font, paddingLeft, paddingRight } = getComputedStyle(element);
        const context = document.createElement('canvas').getContext('2d');
        if (!context) throw new Error('no canvas');
        context.font = font;
        const label = context.measureText(element.placeholder).width;
        return element.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight) - label;
      });
      assert.ok(room >= 0, `${path} at ${width}: ${room}`);
    }
  }
});

test('on a phone, the actions of a list take one line, and the selected tab of a project is in view', async (t) => {
  const viewport = { width: 390, height: 844 };
  const page = await console.open(t, '/risks', { viewport, hasTouch: true, isMobile: true });
  const heading = await boxOf(page.getByRole('heading', { level: 1, name: 'Risks', exact: true }));
  const create = await boxOf(page.getByRole('button', { name: 'Create risk', exact: true }));
  assert.ok(create.y < heading.y + heading.height);

  await visit(page, '/projects/APOLLO?tab=activity');
  // The last tab moves when the counts of the others arrive.
  await page.getByRole('tab', { name: /^Tasks\s*\d/ }).waitFor();
  const tabIsInView = () =>
    page.waitForFunction(() => {
      const tab = document.querySelector('[role=tab][aria-selected=true]')?.getBoundingClientRect();
      const list = document.querySelector('[role=tablist]')?.getBoundingClientRect();
      return tab && list && tab.left >= list.left - 1 && tab.right <= list.right + 1;
    });
  await tabIsInView();
  await page.setViewportSize({ width: 844, height: 390 });
  await tabIsInView();
  // Nobody turns a phone back within a frame, in which the page would not notice that its width has changed.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
  await page.setViewportSize(viewport);
  await tabIsInView();
});

test('on a phone, the list of a combo box is as wide as its field', async (t) => {
  const viewport = { width: 390, height: 844 };
  const page = await console.open(t, '/issues', { viewport, hasTouch: true, isMobile: true });
  await page.getByRole('button', { name: 'Create issue', exact: true }).click();
  const field = page.getByRole('combobox', { name: 'Project', exact: true });
  await field.fill('a');
  await page.getByRole('option').first().waitFor();
  const [list, input] = [await boxOf(page.locator('.picker .popover')), await boxOf(field)];
  assert.ok(Math.abs(list.width - input.width) < 2, `${list.width} and ${input.width}`);
});

test('on a phone, rows with short texts are as high as a virtual list expects, and names take two lines', async (t) => {
  const name = 'Nightly export to the warehouse';
  await console.post('/v1/keys', { name, scopes: ['projects.read'] });
  const viewport = { width: 390, height: 844 };
  const page = await console.open(t, '/keys', { viewport, hasTouch: true, isMobile: true });
  await page
    .getByRole('button', { name: `Edit ${name}` })
    .locator('bdi')
    .evaluate((element) => {
      if (element.scrollHeight > element.clientHeight || element.scrollWidth > element.clientWidth)
        throw new Error('the name is cut off');
    });
  // Risks have a third line: status, owner, due date and change.
  for (const [path, height] of Object.entries({
    '/keys': 57,
    '/personnel': 57,
    '/risks?q=one%20person': 81,
  })) {
    await page.goto(path);
    await page.locator('.table .cell-name, .table .row-link').first().waitFor();
    const heights: number[] = await page
      .locator('.table tbody tr:not(.spacer)')
      .evaluateAll((rows) => rows.map((row) => Math.round(row.getBoundingClientRect().height)));
    assert.deepEqual([...new Set(heights)], [height], path);
  }
});

test('a risk past its due date is marked in the list, on its page and in the report', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', {
    title: 'Long overdue',
    raised_on: '2020-01-01',
    due_on: '2020-01-02',
    probability: 5,
    impact: 5,
  });
  const page = await console.open(t, '/risks?q=Long%20overdue');
  await page.locator('td .overdue').getByText('2 Jan 2020').waitFor();
  await page.goto(`/risks/${key}`);
  await page.locator('.title-summary .overdue').getByText('Due 2 Jan 2020').waitFor();
  await page.goto('/report?project=APOLLO');
  await page.locator('[aria-labelledby=top-risks] .overdue').getByText('2 Jan 2020').first().waitFor();
});

test('the report on one project says how that project is', async (t) => {
  const page = await console.open(t, '/report?project=APOLLO');
  await page
    .locator('.headline')
    .getByText(/^Apollo: passenger information on stations is (off track|at risk|on track); /)
    .waitFor();
});

test('the fields that one request has changed are one entry, with its reason once', async (t) => {
  const risk = await console.post('/v1/projects/APOLLO/risks', {
    title: 'Changed at once',
    category: 'supply',
  });
  await console.patch(`/v1/projects/APOLLO/risks/${risk.key}`, {
    probability: 4,
    impact: 3,
    category: null,
    reason: 'After the audit.',
  });
  const page = await console.open(t, `/risks/${risk.key}`);
  const entry = page.locator('.timeline .history > li').filter({ hasText: 'Probability' });
  await entry.getByText('Probability set to 4').waitFor();
  await entry.getByText('Impact set to 3').waitFor();
  await entry.getByText('Category removed, was Supply').waitFor();
  assert.equal(await page.locator('.timeline q').getByText('After the audit.').count(), 1);
  assert.equal(await entry.locator('time').count(), 1);
});

test('the counts of the heat map take one line, also on a laptop', async (t) => {
  const page = await console.open(t, '/risks');
  await page.route('**/v1/risks/heatmap**', async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    await route.fulfill({ response, json: { ...body, data: body.data.map(manyRisks) } });
  });
  for (const [path, width] of [
    ['/', 1440],
    ['/risks', 1440],
    ['/risks', 1210],
    ['/', 390],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    await visit(page, path);
    if (path === '/risks' && width === 1440) await openHeatMap(page);
    const cell = page.locator('a.heat-cell').first();
    await cell.getByText('1,980').waitFor();
    const lines: number = await cell.evaluate((one) => {
      const range = document.createRange();
      range.selectNodeContents(one);
      return range.getClientRects().length;
    });
    assert.equal(lines, 1, `${path} at ${width}`);
    assert.ok(await cell.evaluate((one) => one.scrollWidth <= one.clientWidth), `${path} at ${width}`);
  }
});

const manyRisks = (cell: object) => ({ ...cell, count: 1980 });

test('facts have space to the buttons above them', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Spaced' });
  await console.patch(`/v1/projects/APOLLO/risks/${key}`, { status: 'closed', closure_reason: 'Over.' });
  const issue = await console.post('/v1/projects/APOLLO/issues', { title: 'Spaced' });
  await console.patch(`/v1/projects/APOLLO/issues/${issue.key}`, {
    status: 'blocked',
    blocked_reason: 'No crane.',
  });
  const page = await console.open(t, `/risks/${key}`);
  for (const path of [`/risks/${key}`, `/issues/${issue.key}`]) {
    await visit(page, path);
    const card = page.locator('.card', { has: page.locator('#status') });
    const buttons = await boxOf(card.locator('.button-row'));
    const facts = await boxOf(card.locator('.facts'));
    assert.ok(facts.y - (buttons.y + buttons.height) >= 8, path);
  }
});

test('messages with Undo expire, and cover no field or button of a dialog', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Uncovered' });
  const page = await console.open(t, `/risks/${key}`, { viewport: { width: 390, height: 844 } });
  await page.clock.install();
  await page.getByRole('button', { name: 'Move to Mitigating' }).click();
  const message = page.locator('.toast', { hasText: `Moved ${key} to Mitigating` });
  await message.getByRole('button', { name: 'Undo' }).waitFor();
  await page.getByRole('button', { name: 'Move to Monitoring' }).click();
  const next = page.locator('.toast', { hasText: `Moved ${key} to Monitoring` });
  await next.waitFor();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: `Edit ${key}` });
  await dialog.waitFor();
  for (const [width, height] of [
    [390, 844],
    [390, 560],
    [1024, 560],
  ] as const) {
    await page.setViewportSize({ width, height });
    const top = (await boxOf(dialog)).y;
    const end: number = await page.locator('.toasts').evaluate((one) => one.getBoundingClientRect().bottom);
    assert.ok(end <= top, `at ${width} × ${height} they end at ${end}, the dialog starts at ${top}`);
    const save = await boxOf(dialog.getByRole('button', { name: 'Save' }));
    assert.ok(save.y + save.height <= height, `the button is in view at ${width} × ${height}`);
  }
  await page.clock.fastForward(16_000);
  await message.waitFor({ state: 'detached' });
  await next.waitFor({ state: 'detached' });

  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Move to Mitigating' }).click();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await message.getByRole('button', { name: 'Dismiss' }).click();
  await message.waitFor({ state: 'detached' });
  assert.equal(await dialog.isVisible(), true);
});

test('the space of the scroll bar beside a dialog is as dark as the page under it, in both themes', async (t) => {
  const page = await console.open(t, '/groups?new=true');
  await page.getByRole('dialog', { name: 'Create group' }).waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const [strip, covered]: [number[], number[]] = await page.evaluate(() => {
      const paint = (...selectors: string[]) => {
        const context = document.createElement('canvas').getContext('2d');
        if (!context) throw new Error('no canvas');
        for (const one of selectors) {
          context.fillStyle = getComputedStyle(document.querySelector(one) as Element).backgroundColor;
          context.fillRect(0, 0, 1, 1);
        }
        return [...context.getImageData(0, 0, 1, 1).data];
      };
      return [paint('html'), paint('body', '.overlay')];
    });
    for (const [index, value] of covered.entries())
      assert.ok(Math.abs(value - (strip[index] ?? 0)) <= 1, `${colorScheme}: ${strip}, not ${covered}`);
  }
});

test('the text of the chart is as large at every width', async (t) => {
  const page = await console.open(t, '/');
  for (const width of [1440, 1024, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await waitUntilLoaded(page);
    await page.waitForFunction(() => {
      const figure = document.querySelector('.trend');
      const svg = figure?.querySelector('svg');
      return (
        figure &&
        svg &&
        svg.clientWidth === svg.viewBox.baseVal.width &&
        svg.clientWidth <= figure.clientWidth
      );
    });
  }
});

const height = 900;

/** The words of the elements that take more than one line, or only the elements' whole texts that do. */
const brokenTexts = (elements: Locator, { isWhole = false } = {}): Promise<string[]> =>
  elements.evaluateAll((found, isWhole) => {
    const broken: string[] = [];
    for (const element of found) {
      const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      for (let node = texts.nextNode(); node; node = texts.nextNode()) {
        // A line may also end at a hyphen.
        for (const word of (node.textContent ?? '').matchAll(isWhole ? /\S.*\S|\S/g : /[^\s/—–-]+/g)) {
          const range = document.createRange();
          range.setStart(node, word.index);
          range.setEnd(node, word.index + word[0].length);
          const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
          if (lines.size > 1) broken.push(word[0]);
        }
      }
    }
    return broken;
  }, isWhole);

test('the events of deliveries can be read at every width', async (t) => {
  const receiver = await startReceiver(t, (response) => response.writeHead(200).end());
  const webhook = await console.post('/v1/webhooks', { url: receiver.url, types: ['*'] });
  await console.post('/v1/projects/APOLLO/issues', { title: 'Delivered' });
  await receiver.receive(1);
  const page = await console.open(t, `/webhooks/${webhook.id}`);
  const event = page.locator('td').filter({ has: page.getByRole('button', { name: /, details$/ }) });
  for (const width of [390, 600, 831, 840, 1023, 1030, 1199, 1210, 1280, 1366, 1440, 1599, 1610]) {
    await page.setViewportSize({ width, height });
    await event.first().waitFor({ state: 'attached' });
    const room = (await event.first().boundingBox())?.width ?? 0;
    assert.ok(room >= 130, `${room} at ${width}`);
  }
});

test('a score over time takes one line', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Assessed late' });
  await console.patch(`/v1/projects/APOLLO/risks/${key}`, { probability: 4, impact: 5 });
  const page = await console.open(t, `/risks/${key}`);
  const score = page.locator('.score-history strong');
  await score.getByText('20').waitFor();
  for (const width of [390, 1210, 1280, 1366, 1440, 1536]) {
    await page.setViewportSize({ width, height });
    assert.deepEqual(await brokenTexts(page.locator('.score-history li')), [], `at ${width}`);
  }
});

test('a title that is cut off stays in place when its row gets the focus', async (t) => {
  const page = await console.open(t, '/risks', { viewport: { width: 1280, height } });
  for (const path of ['/risks', '/issues']) {
    await visit(page, path);
    for (let row = 0; row < 10; row++) {
      await page.keyboard.press('j');
      const scrolled: number = await page.locator('td:has(:focus)').evaluate((cell) => cell.scrollLeft);
      assert.equal(scrolled, 0, `${path}, row ${row}`);
    }
  }
});

test('a printout of the register breaks no word and no date', async (t) => {
  // The width of A4 without its margins, which some browsers print upright.
  const page = await console.open(t, '/risks', { viewport: { width: 703, height } });
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  assert.ok((await page.locator('.table tbody tr').count()) > 50);
  assert.deepEqual(await brokenTexts(page.locator('.table :is(td, th)')), []);
  assert.deepEqual(await brokenTexts(page.locator('.table td:last-child'), { isWhole: true }), []);
  const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(tooWide <= 0, `${tooWide} too wide`);
});
