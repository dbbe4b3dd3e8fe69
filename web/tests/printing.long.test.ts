import assert from 'node:assert/strict';
import { inflateSync } from 'node:zlib';
import { startConsole, test, visit } from './console.ts';
import { hold } from './page.ts';

const console = startConsole();

test('the printed page of an item has the date, space between its cards, and nothing to fill in', async (t) => {
  const base = '/v1/projects/APOLLO';
  const risk = await console.post(`${base}/risks`, { title: 'Printed risk' });
  const issue = await console.post(`${base}/issues`, { title: 'Printed issue' });
  const task = await console.post(`${base}/tasks`, { title: 'Printed task' });
  const project = await console.post('/v1/projects', { key: 'PRINTED', name: 'Printed project' });
  const page = await console.open(t, '/');
  for (const path of [
    `/risks/${risk.key}`,
    `/issues/${issue.key}`,
    `/tasks/${task.key}`,
    `/projects/${project.key}`,
  ]) {
    await page.emulateMedia({ media: 'screen' });
    await visit(page, path);
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
  await page.emulateMedia({ media: 'print' });
  const text = await page.locator('main').innerText();
  assert.equal(text.match(/Printed \d/g)?.length, 1);
});

test('a printed list has all loaded rows, its filters and the date, and nothing around it', async (t) => {
  const person = await console.post('/v1/personnel', { name: 'Printed Person' });
  const group = await console.post('/v1/groups', { name: 'Printed Group' });
  const page = await console.open(t, '/risks', { viewport: { width: 760, height: 900 } });
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  assert.equal(await page.locator('.table tbody tr').count(), 100);
  assert.ok(await page.getByText('100 of').isVisible());
  for (const name of ['Status', 'Owner', 'Due'])
    assert.equal(await page.getByRole('columnheader', { name, exact: true }).isVisible(), true, name);
  for (const hidden of ['.sidebar', '.filters button', '.filters input', '.title .button', '.heat-map-card'])
    assert.equal(await page.locator(hidden).first().isVisible(), false, hidden);

  // The filters are named as their controls are, without the order.
  for (const [query, ...printed] of [
    ['project=APOLLO&level=high', 'Project: Apollo: passenger information on stations', 'Level: High'],
    [
      `q=todo%20print&owner_user_id=${person.user_id}&sort=-updated_at`,
      'Search: todo print',
      'Owner: Printed Person',
    ],
    [`owner_group_id=${group.id}&status=open,closed`, 'Status: Open, Closed', 'Owning group: Printed Group'],
  ] as const) {
    await page.emulateMedia({ media: 'screen' });
    await page.goto(`/risks?${query}`);
    for (const filter of printed)
      await page.locator('.filters').getByText(filter).waitFor({ state: 'attached' });
    await page.emulateMedia({ media: 'print' });
    const text = await page.locator('.filters').evaluate((bar) => (bar as HTMLElement).innerText);
    assert.match(text, new RegExp(`^Printed .*${printed.join('\\s*')}$`, 's'));
  }
  await visit(page, '/issues');
  assert.equal(await page.getByRole('columnheader', { name: 'Actions' }).count(), 0);
  assert.equal(await page.locator('td .person').first().isVisible(), true);
});

test('a list that is printed before it is counted says that it has more rows', async (t) => {
  const page = await console.newPage(t);
  const release = await hold(page, '**/v1/risks?**count=true**');
  await page.goto('/risks');
  await page.locator('tbody .row-link').first().waitFor();
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  await page.getByText('The first 100 rows; there are more. Export the list to get all rows.').waitFor();
  release();
  await page.getByText(/^100 of \d+ rows\. Export/).waitFor();
});

test('a printed title follows its key at once', async (t) => {
  await console.post('/v1/projects', { key: 'P1', name: 'Short key' });
  await console.post('/v1/projects/P1/issues', { title: 'Follows its key' });
  const page = await console.open(t, '/issues?project=P1');
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
  await page.evaluate(() => {
    window.print = () => document.body.setAttribute('data-printed', '');
  });
  await page.getByRole('button', { name: 'Print' }).click();
  await page.waitForSelector('body[data-printed]');
});

test('every printed page has the title of the page, and a list its headers', async (t) => {
  const page = await console.open(t, '/risks?project=APOLLO');
  const pages = readPages(await page.pdf({ preferCSSPageSize: true }));
  assert.ok(pages.length > 1);
  for (const text of pages) {
    assert.match(text, /Risks/);
    assert.match(text, /Owner/);
  }
});

/** The text of each page of a PDF file that Chromium has made. */
function readPages(pdf: Buffer): string[] {
  const raw = pdf.toString('latin1');
  const objects = new Map<string, string>();
  for (const [, id = '', body = ''] of raw.matchAll(/(\d+) 0 obj\n([\s\S]*?)endobj/g)) objects.set(id, body);
  const referenced = (body: string, name: string) =>
    objects.get(new RegExp(`/${name} (\\d+) 0 R`).exec(body)?.[1] ?? '') ?? '';
  const streamOf = (body: string) => {
    const stream = /stream\n([\s\S]*?)\nendstream/.exec(body)?.[1] ?? '';
    return stream && inflateSync(Buffer.from(stream, 'latin1')).toString('latin1');
  };
  const fontOf = (page: string, font: string) => {
    const letters = new Map<number, string>();
    const map = streamOf(referenced(referenced(page, font), 'ToUnicode'));
    for (const [, from = '', to = '', first] of map.matchAll(/^<(\w+)> <(\w+)>(?: <(\w+)>)?$/gm)) {
      const start = Number.parseInt(from, 16);
      const end = first ? Number.parseInt(to, 16) : start;
      const letter = Number.parseInt(first ?? to, 16);
      for (let code = start; code <= end; code += 1)
        letters.set(code, String.fromCharCode(letter + code - start));
    }
    return letters;
  };
  return [...objects.values()]
    .filter((body) => /\/Type \/Page\b(?!s)/.test(body))
    .map((body) => {
      let letters = new Map<number, string>();
      const parts = streamOf(referenced(body, 'Contents')).matchAll(/\/(F\d+) [\d.]+ Tf|<(\w+)> Tj|BT/g);
      return [...parts]
        .map(([whole, font, codes]) => {
          if (font) letters = fontOf(body, font);
          if (whole === 'BT') return ' ';
          return (
            (codes?.match(/../g) ?? [])
              .map((code) => letters.get(Number.parseInt(code, 16)) ?? '')
              .join('')
              // The first half of a code with four digits.
              .replaceAll('\uffff', '')
          );
        })
        .join('');
    });
}
