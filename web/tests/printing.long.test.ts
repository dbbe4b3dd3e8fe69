import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Console, startConsole, waitUntilLoaded } from './console.ts';

let console: Console;
before(async () => {
  console = await startConsole();
});
after(() => console.stop());

test('the printed page of an item has the date, space between its cards, and nothing to fill in', async (t) => {
  const base = '/v1/projects/APOLLO';
  const risk = await console.post(`${base}/risks`, { title: 'Printed risk' });
  const issue = await console.post(`${base}/issues`, { title: 'Printed issue' });
  const task = await console.post(`${base}/tasks`, { title: 'Printed task' });
  const project = await console.post('/v1/projects', { key: 'PRINTED', name: 'Printed project' });
  const page = await console.open(t, '/');
  if (!page) return;
  for (const path of [
    `/risks/${risk.key}`,
    `/issues/${issue.key}`,
    `/tasks/${task.key}`,
    `/projects/${project.key}`,
  ]) {
    await page.emulateMedia({ media: 'screen' });
    await page.goto(`${console.app.baseUrl}${path}`);
    await waitUntilLoaded(page);
    if (!path.startsWith('/projects')) await page.getByLabel('Write a comment').first().waitFor();
    await page.emulateMedia({ media: 'print' });
    const text = await page.locator('main').innerText();
    assert.match(text, /Printed \d{1,2} \w+ \d{4}/, path);
    assert.doesNotMatch(text, /Ctrl\+Enter|Custom fields|Description|How health is determined/, path);
    assert.equal(await page.locator('textarea:visible').count(), 0, path);
    const boxes = await page.locator('.card:visible').evaluateAll((cards) =>
      cards.map((card) => {
        const { top, bottom } = card.getBoundingClientRect();
        return { top, bottom };
      }),
    );
    boxes.slice(1).forEach(({ top }, index) => {
      assert.ok(top - (boxes[index]?.bottom ?? 0) >= 8, `${path}: card ${index + 1} touches the one above`);
    });
  }
});

test('the page of a project prints the date once, also above a list', async (t) => {
  const page = await console.open(t, '/projects/APOLLO?tab=risks');
  if (!page) return;
  await waitUntilLoaded(page);
  await page.emulateMedia({ media: 'print' });
  const text = await page.locator('main').innerText();
  assert.equal(text.match(/Printed \d/g)?.length, 1);
});

test('a printed title follows its key at once', async (t) => {
  await console.post('/v1/projects', { key: 'P1', name: 'Short key' });
  await console.post('/v1/projects/P1/issues', { title: 'Follows its key' });
  const page = await console.open(t, '/issues?project=P1');
  if (!page) return;
  await waitUntilLoaded(page);
  await page.emulateMedia({ media: 'print' });
  const gap = await page.locator('td:has(.row-link)').evaluate((cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell.querySelector('.inline-key') as Element);
    const title = cell.querySelector('.row-link')?.getBoundingClientRect().left ?? 0;
    return title - range.getBoundingClientRect().right;
  });
  assert.ok(gap > 0 && gap < 16, `${gap} px between the key and the title`);
});

test('projects can be printed like other lists', async (t) => {
  const page = await console.open(t, '/projects');
  if (!page) return;
  await waitUntilLoaded(page);
  await page.evaluate(() => {
    window.print = () => document.body.setAttribute('data-printed', '');
  });
  await page.getByRole('button', { name: 'Print' }).click();
  await page.waitForSelector('body[data-printed]');
});
