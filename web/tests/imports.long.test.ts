import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { sheetRows, workbook, workbookOf } from '../../test/workbook.ts';
import { assertAccessible } from './axe.ts';
import { startConsole, test } from './console.ts';
import { press, tabTo } from './focus.ts';
import { assertFits, drop, hold } from './page.ts';

const console = startConsole();

test('the error report contains the rows with errors, which can be corrected and imported', async (t) => {
  const page = await console.open(t, '/personnel');
  await drop(
    page,
    'people.csv',
    'Name;Email;Title\nGood Gwen;;Pilot\n"Bad; Bella";no address;"Chief\n""of"" all"\n',
  );
  const dialog = page.getByRole('dialog', { name: 'Import people' });
  await dialog.getByText('2 rows: 1 new, 1 with errors.').waitFor();
  await dialog.getByRole('button', { name: 'New 1' }).click();
  await dialog.locator('.import-rows tbody').getByText('New').waitFor();
  assert.doesNotMatch((await dialog.textContent()) ?? '', /usr_/);
  const download = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Download error report' }).click();
  const report = Buffer.concat(await (await (await download).createReadStream()).toArray()).toString();
  const [header, ...rows] = report.trim().split('\r\n');
  assert.equal(header, '"Name","Email","Title","Import errors"');
  assert.match(rows.join('\n'), /^"Bad; Bella","no address","Chief\n""of"" all","Email: .*"$/);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  const fixed = report.replace('no address', 'bella@example.com').replace('Chief\n""of"" all', 'Chief');
  await drop(page, 'fixed.csv', fixed);
  await dialog.getByText('1 row: 1 new.').waitFor();
});

test('rows with errors are corrected in the dialog by keyboard, checked again and imported', async (t) => {
  const page = await console.open(t, '/personnel');
  await drop(
    page,
    'people.csv',
    'Staff;;;;\n\nName;Email;Phone;Start date;Reports to\n' +
      'Fixed Fay;fay@;+41 44 1;2026-02-03;Fixed Finn\n' +
      'Fixed Flo;flo@fix.example;+41 44 2;someday;\n' +
      '"Fixed\nFinn";finn@fix.example;=1+1;2026-02-03;\n' +
      'Fixed Fred;fred@fix.example;2026-02-03;Fixed Finn\n' +
      'Fixed Finn;x@fix.example;+41 44 3;;\n',
  );
  const dialog = page.getByRole('dialog', { name: 'Import people' });
  await dialog.getByText('5 rows: 1 new, 4 with errors.').waitFor();
  const line = (number: number) => dialog.getByRole('group', { name: `Line ${number}:` });
  const email = line(4).getByLabel('Email');
  assert.equal(await email.getAttribute('aria-invalid'), 'true');
  const described = await email.getAttribute('aria-describedby');
  assert.match((await page.locator(`[id="${described}"]`).textContent()) ?? '', /email address/);
  assert.equal(await line(5).getByLabel('Email').count(), 0, 'only the wrong cells are shown');

  await tabTo(page, 'Email');
  await page.keyboard.press('End');
  await page.keyboard.type('fix.example');
  assert.equal(await email.getAttribute('aria-invalid'), null);
  await dialog.getByRole('cell', { name: 'Edited' }).waitFor();
  const importButton = dialog.getByRole('button', { name: 'Import 1 row', exact: true });
  assert.equal(await importButton.isDisabled(), true, 'corrections are checked first');
  await line(5).getByRole('button', { name: 'Show all columns' }).click();
  assert.equal(await line(5).getByLabel('Phone').inputValue(), '+41 44 2');
  await line(5).getByLabel('Start date').fill('2026-03-04');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Keep editing' }).click();
  await press(page, 'Check again');
  await dialog.getByText('5 rows: 3 new, 2 with errors.').waitFor();
  assert.match(
    await page.evaluate(() => document.activeElement?.textContent ?? ''),
    /^5 rows/,
    'the focus is on the result',
  );
  await line(8).getByText('This row has 4 cells, but the header has 5.').waitFor();
  assert.equal(await dialog.getByRole('group', { name: /^Line/ }).count(), 2);
  await line(6).getByLabel('Name').fill('Fixed Fritz');
  await line(8).getByLabel('Phone').fill('');
  await line(8).getByLabel('Start date').fill('2026-02-03');
  await line(8).getByLabel('Reports to').fill('fay@fix.example');
  await dialog.getByRole('button', { name: 'Check again' }).click();
  await dialog.getByText('5 rows: 5 new.').waitFor();
  await dialog.getByRole('button', { name: 'Import 5 rows' }).click();
  await dialog.getByText('Import finished. 5 rows: 5 new.').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  const { data } = await console.get('/v1/personnel?q=fixed');
  const [fay, finn, flo, fred, fritz] = data;
  assert.deepEqual(
    data.map(({ name, phone, start_on }: typeof fay) => [name, phone, start_on]),
    [
      ['Fixed Fay', '+41 44 1', '2026-02-03'],
      ['Fixed Finn', '+41 44 3', null],
      ['Fixed Flo', '+41 44 2', '2026-03-04'],
      ['Fixed Fred', null, '2026-02-03'],
      ['Fixed Fritz', '=1+1', '2026-02-03'],
    ],
  );
  assert.deepEqual([fay.email, fay.manager_user_id], ['fay@fix.example', finn.user_id]);
  assert.deepEqual(
    [flo.manager_user_id, fred.manager_user_id, fritz.email],
    [null, fay.user_id, 'finn@fix.example'],
  );
});

test('workbooks and NDJSON are corrected in the dialog as well', async (t) => {
  const page = await console.open(t, '/projects/APOLLO');
  const dialog = page.getByRole('dialog', { name: 'Import risks' });
  const line = (number: number) => dialog.getByRole('group', { name: `Line ${number}:` });
  await drop(
    page,
    'risks.ndjson',
    '{"title":"Corrected object","probability":"high","impact":9,"attributes":{"a":"1"}}\n\nnot JSON\n{"title":"Other object"}\n',
  );
  await dialog.getByText('3 rows: 1 new, 2 with errors.').waitFor();
  await dialog.getByText('1 row can only be corrected in the file.').waitFor();
  await line(1).getByLabel('probability').fill('4');
  await line(1).getByLabel('impact').fill('5');
  await dialog.getByRole('button', { name: 'Check again' }).click();
  await dialog.getByText('3 rows: 2 new, 1 with errors.').waitFor();
  await dialog.getByRole('button', { name: 'Import 2 rows' }).click();
  await dialog.getByText('Import finished.').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  const [risk] = (await console.get('/v1/risks?project=APOLLO&q=corrected object')).data;
  assert.deepEqual([risk.score, risk.attributes], [20, { a: '1' }]);

  const rows = [
    ['Title', 'Due', 'Owner'],
    ['Corrected sheet', 60_000, 'Nobody At All'],
    ['Other sheet', 60_001, ''],
  ];
  await page.getByRole('button', { name: 'Import' }).click();
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose file' }).click();
  const buffer = Buffer.from(await workbook(rows));
  await (await chooser).setFiles({ name: 'risks.xlsx', mimeType: '', buffer });
  await line(2).getByLabel('Owner').fill('');
  await dialog.getByRole('button', { name: 'Check again' }).click();
  await dialog.getByText('2 rows: 2 new.').waitFor();
  await dialog.getByRole('button', { name: 'Import 2 rows' }).click();
  await dialog.getByText('Import finished.').waitFor();
  const { data } = await console.get('/v1/risks?project=APOLLO&q=sheet');
  const dues = data.filter(({ title }: typeof risk) => / sheet$/.test(title));
  assert.deepEqual(dues.map(({ title, due_on }: typeof risk) => [title, due_on]).sort(), [
    ['Corrected sheet', '2064-04-08'],
    ['Other sheet', '2064-04-09'],
  ]);
});

test('an error of the file itself says what is wrong with it', async (t) => {
  const page = await console.open(t, '/personnel');
  await page.getByRole('button', { name: 'Import' }).click();
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose file' }).click();
  const buffer = await workbookOf([{ name: 'Staff', state: 'hidden', rows: sheetRows(['Name'], ['Ada']) }]);
  await (await chooser).setFiles({ name: 'people.xlsx', mimeType: '', buffer });
  const alert = page.getByRole('dialog').getByRole('alert');
  await alert.waitFor();
  assert.match((await alert.textContent()) ?? '', /^All sheets of the workbook are hidden\./);
});

test('a question about a scale has buttons, and cells that are not imported are listed before and after', async (t) => {
  const page = await console.open(t, '/projects/APOLLO');
  const file = 'Title,Impact,,Status\nOn ten points,8,lost,Parked\nOn ten too,2,,Open\n';
  await drop(page, 'risks.csv', file);
  const dialog = page.getByRole('dialog', { name: 'Import risks' });
  await dialog.getByRole('alert').getByText('“8” on line 2 and “2” on line 3?').waitFor();
  await dialog.getByRole('button', { name: '1 to 10' }).click();
  const skipped = dialog.getByText('1 cell will not be imported');
  await skipped.click();
  await dialog.getByText('1 cell, from line 2. Column C has no name in the header.').first().waitFor();
  await assertAccessible(page, 'cells that are not imported');
  // A value that was assigned to a text does not stop the import after the text is gone.
  await dialog.getByRole('combobox', { name: 'Parked' }).selectOption('monitoring');
  await dialog.getByText('2 rows: 2 new.').waitFor();
  await dialog.locator('summary').filter({ hasText: 'columns mapped' }).click();
  await dialog.getByRole('combobox', { name: 'Status', exact: true }).selectOption('');
  await dialog.getByText('2 rows: 2 new.').waitFor();
  await dialog.getByRole('button', { name: 'Import 2 rows' }).click();
  await dialog.getByText('Import finished.').waitFor();
  await dialog.getByText('3 cells not imported').waitFor();
  const { data } = await console.get('/v1/risks?project=APOLLO&q=On ten');
  const impacts = data.map(({ title, impact, status }: Record<string, unknown>) => [title, impact, status]);
  assert.deepEqual(impacts.sort(), [
    ['On ten points', 4, 'open'],
    ['On ten too', 1, 'open'],
  ]);
});

test('a name that several people have is reported with their ids', async (t) => {
  const people = [
    await console.post('/v1/personnel', { name: 'Twin Theo' }),
    await console.post('/v1/personnel', { name: 'Twin Theo' }),
  ];
  const page = await console.open(t, '/projects/APOLLO');
  await drop(page, 'risks.csv', 'Title,Owner\nOwned by a twin,Twin Theo\n');
  const dialog = page.getByRole('dialog', { name: 'Import risks' });
  const error = dialog.getByText('“Twin Theo” matches several').first();
  await error.waitFor();
  for (const { user_id } of people) assert.ok((await error.textContent())?.includes(user_id), user_id);
});

test('groups from a workbook by keyboard; existing groups are reported as unchanged', async (t) => {
  const { secret } = await console.newKey();
  const headers = { authorization: `Bearer ${secret}` };
  const file = await fetch(`${console.app.baseUrl}/v1/groups?include=members&format=xlsx`, { headers });
  const { data } = await console.get('/v1/groups');
  const page = await console.open(t, '/groups');
  await press(page, 'Import');
  await page.getByRole('dialog').getByText('Drop a CSV').waitFor();
  const chooser = page.waitForEvent('filechooser');
  await press(page, 'Choose file');
  const buffer = Buffer.from(await file.arrayBuffer());
  await (await chooser).setFiles({ name: 'groups.xlsx', mimeType: '', buffer });
  const dialog = page.getByRole('dialog', { name: 'Import groups' });
  await dialog.getByText(`${data.length} rows, all with errors.`).waitFor();
  assert.match((await dialog.locator('.import-rows tbody tr').first().textContent()) ?? '', /already/);
  await tabTo(page, 'Update existing groups');
  await page.keyboard.press('Space');
  await dialog.getByText(`${data.length} rows: ${data.length} unchanged.`).waitFor();
  assert.equal(await dialog.getByRole('button', { name: 'Import', exact: true }).isDisabled(), true);
  await press(page, 'Cancel');
  await dialog.waitFor({ state: 'detached' });
});

test('a project imports risks, issues or tasks, optionally only if every row is valid', async (t) => {
  const page = await console.open(t, '/projects/APOLLO');
  const file =
    '{"title":"Imported issue 815","badge":"x"}\n{"title":"Imported issue 816","severity":"terrible"}\n';
  await drop(page, 'issues.ndjson', file);
  const dialog = page.getByRole('dialog');
  await dialog.getByText('2 rows, all with errors.').waitFor();
  await dialog.getByRole('button', { name: 'Issues' }).click();
  await page.getByRole('dialog', { name: 'Import issues' }).waitFor();
  await dialog.getByRole('combobox', { name: 'badge' }).selectOption('Import as custom field');
  await dialog.getByText('2 rows: 1 new, 1 with errors.').waitFor();
  await dialog.getByLabel('Import only if every row is valid').check();
  await dialog.getByText('Nothing can be imported').waitFor();
  await dialog.getByRole('button', { name: 'Skipped 1' }).waitFor();
  await dialog.getByLabel('Import only if every row is valid').uncheck();
  await dialog.getByRole('button', { name: 'Import 1 row', exact: true }).click();
  await dialog.getByRole('link', { name: /^View APOLLO-I/ }).click();
  await page.waitForURL(/\/issues\/APOLLO-I/);
  await page.getByRole('heading', { name: 'Imported issue 815' }).waitFor();
});

test('the values of a file are shown with what they are read as, and can be changed', async (t) => {
  const page = await console.open(t, '/projects/APOLLO');
  await drop(page, 'log.csv', 'Issue,Status: now\nKettle 817,To Do\nWindow 818,"Parked, for now"\n');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Issues' }).click();
  await dialog.getByLabel('Status: now').selectOption('Status');
  await dialog.getByText('1 understood, 1 not recognized').waitFor();
  await dialog.getByText('2 rows: 1 new, 1 with errors.').waitFor();
  const parked = dialog.getByLabel('Status: now: Parked, for now');
  assert.equal(await parked.locator('option:checked').textContent(), 'Not recognized');
  await parked.selectOption('In progress');
  await dialog.getByText('2 rows: 2 new.').waitFor();
  await dialog.getByText('2 understood').waitFor();
  await dialog.getByLabel('Status: now: To Do').selectOption('In progress');
  await dialog.getByText('“To Do” is In progress').waitFor();
  await dialog.getByRole('button', { name: 'Import 2 rows', exact: true }).click();
  await dialog.getByRole('link', { name: 'View issues' }).waitFor();
  const { data } = await console.get('/v1/issues?project=APOLLO&status=in_progress');
  const titles = data.map(({ title }: { title: string }) => title);
  for (const title of ['Kettle 817', 'Window 818']) assert.ok(titles.includes(title), title);
});

test('each row of the preview shows its name and its values, by the fields they are imported into', async (t) => {
  const page = await console.open(t, '/projects/APOLLO');
  await console.post('/v1/projects/APOLLO/risks', { title: 'Known flood', external_id: 'F-1' });
  const long = 'water '.repeat(200);
  const file =
    'Ref,Risk,Details,Impact,Shoe size,Plan\n' +
    `F-1,Known flood,${long},5,38,Pump\nF-2,New drought,Dry,4,39,Dig wells\n`;
  await drop(page, 'risks.csv', file);
  const dialog = page.getByRole('dialog', { name: 'Import risks' });
  const row = (line: number) =>
    dialog.locator('.import-rows tbody tr', {
      has: page.getByRole('cell', { name: `${line}`, exact: true }),
    });
  const details = async (line: number) =>
    (await row(line).locator('td').nth(2).innerText()).replaceAll(/\s+/g, ' ').trim();
  // The service runs only a few checks at once, also when the page no longer waits for them.
  const settle = () =>
    dialog.locator('.import-progress, .import-outdated').first().waitFor({ state: 'detached' });
  const map = async (column: string, field: string) => {
    await settle();
    await dialog.getByRole('combobox', { name: column, exact: true }).selectOption(field);
    await settle();
  };
  await map('Plan', 'Response plan');
  await dialog.getByLabel('Update existing risks').check();
  await dialog.getByText('2 rows: 1 new, 1 updated.').waitFor();
  await settle();
  assert.equal(
    await details(3),
    'New drought External ID: F-2 · Description: Dry · Impact: 4 · Response plan: Dig wells',
  );
  assert.match(
    await details(2),
    /^APOLLO-R\d+ Known flood Description: water water .*… · Impact: 5 · Response plan: Pump$/,
  );
  const box = await row(2).boundingBox();
  assert.ok(box && box.height < 90, 'a long text is cut');

  // A wrong column is seen.
  await map('Risk', 'Trigger');
  await map('Plan', 'Title');
  await dialog.getByText('Trigger: New drought').waitFor();
  assert.match(await details(3), /^Dig wells External ID: F-2 · Trigger: New drought/);
});

test('changed mappings are changes, which Escape does not drop without a question', async (t) => {
  const page = await console.open(t, '/personnel');
  const dialog = page.getByRole('dialog', { name: 'Import people' });
  const discard = page.getByRole('alertdialog', { name: 'Discard changes?' });
  const change = async (mapping: () => Promise<unknown>) => {
    await drop(page, 'people.csv', 'Name,Badge,Status\nMapped Mo,B1,Enabled\n');
    await dialog.getByText('1 row: 1 new.').waitFor();
    await mapping();
    await dialog.locator('.import-outdated').waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await discard.waitFor();
    await discard.getByRole('button', { name: 'Keep editing' }).click();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await discard.getByRole('button', { name: 'Discard' }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  await change(() => dialog.getByLabel('Badge').selectOption('Title'));
  await change(async () => {
    await dialog.getByText('1 understood').click();
    await dialog.getByLabel('Status: Enabled').selectOption('Inactive');
  });
  await drop(page, 'people.csv', 'Name,Badge\nMapped Mo,B1\n');
  await dialog.getByText('1 row: 1 new.').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});

test('a running import shows its progress, and its dialog cannot be closed', async (t) => {
  const page = await console.open(t, '/personnel');
  const release = await hold(page, '**/import?**dry_run=false**', 'POST');
  await drop(page, 'one.csv', 'name\nHeld Hana\n');
  const dialog = page.getByRole('dialog', { name: 'Import people' });
  await dialog.getByRole('button', { name: 'Import 1 row', exact: true }).click();
  await dialog.getByRole('progressbar').waitFor();
  await assertAccessible(page, 'a running import');
  await page.keyboard.press('Escape');
  assert.equal(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled(), true);
  release();
  await dialog.getByText('Import finished. 1 row: 1 new.').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});

test('a file that cannot be read shows the reason, and another file can be chosen', async (t) => {
  const page = await console.open(t, '/personnel');
  await drop(page, 'people.xlsx', 'name\nNo workbook\n');
  const dialog = page.getByRole('dialog', { name: 'Import people' });
  await dialog.getByRole('alert').getByText('The file is not a workbook').waitFor();
  await drop(page, 'people.csv', 'Titel\nNo name\n');
  await dialog.getByRole('alert').getByText('That line has no known column names.').waitFor();
  await dialog.getByLabel('Titel').selectOption('Name');
  await dialog.getByText('1 row: 1 new.').waitFor();
  await drop(page, 'people.csv', 'Title,Phone\nNo name,12\n');
  await dialog.getByRole('alert').getByText('No column is mapped to Name. Choose one above.').waitFor();
  await dialog.getByRole('combobox', { name: 'Title' }).selectOption('Name');
  await dialog.getByText('1 row: 1 new.').waitFor();
  await drop(page, 'people.csv', 'Name,Full name\nTwice,Twice\n');
  await dialog.getByText('Skipped “Full name”.').waitFor();
  await dialog.getByRole('combobox', { name: 'Full name' }).selectOption('Title');
  await dialog.getByText('Skipped “Full name”.').waitFor({ state: 'detached' });
  await drop(page, 'people.csv', 'Name,Start date\nDated,03/04/2020\n');
  await dialog.getByRole('alert').getByText('day/month or month/day?').waitFor();
  await dialog.getByRole('button', { name: 'Day/month/year' }).click();
  await dialog.getByText('Dates are day/month/year.').waitFor();
  await drop(page, 'large.csv', 'name\n', 33 * 1024 ** 2);
  await dialog.getByRole('alert').getByText('at most 32 MiB').waitFor();
});

test('10,000 rows are virtualized, also on a phone', async (t) => {
  const viewport = { width: 390, height: 844 };
  const page = await console.open(t, '/personnel', { viewport });
  const emails = Array.from({ length: 10_000 }, (_, i) => (i % 2 ? 'no address' : `p${i}@many.example`));
  await drop(page, 'many.csv', `name,email\n${emails.map((email, i) => `Person ${i},${email}\n`).join('')}`);
  const dialog = page.getByRole('dialog', { name: 'Import people' });
  await dialog.getByText('10,000 rows: 5,000 new, 5,000 with errors.').waitFor();
  assert.ok(
    (await dialog.locator('.import-rows tbody tr').count()) < 60,
    'only the visible rows are in the DOM',
  );
  await dialog.locator('.import-rows').evaluate((box) => box.scrollTo(0, box.scrollHeight));
  await dialog.getByRole('cell', { name: '10,001', exact: true }).waitFor();
  await assertFits(page, 'a long import');
});

/** Lets the next upload take effect, but loses its response. */
const loseNextUpload = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const { send } = XMLHttpRequest.prototype;
    XMLHttpRequest.prototype.send = function (body) {
      XMLHttpRequest.prototype.send = send;
      this.onload = this.onerror;
      send.call(this, body);
    };
  });

test('an import whose response was lost does not add its rows twice', async (t) => {
  const page = await console.open(t, '/projects/APOLLO');
  const dialog = page.getByRole('dialog', { name: 'Import risks' });
  const named = async (q: string) => (await console.get(`/v1/risks?q=${q}`)).data.length;
  const lost = dialog.getByRole('alert').getByText("Can't reach the service.");
  const start = async (label: string) => {
    await dialog.getByRole('button', { name: label }).click();
  };

  await drop(page, 'all-or-nothing.csv', 'title,description\nAtomic 1,a\nAtomic 2,b\n');
  await dialog.getByRole('checkbox', { name: 'Import only if every row is valid' }).check();
  await dialog.getByText('2 rows: 2 new.').waitFor();
  await dialog.locator('.import-outdated').waitFor({ state: 'detached' });
  await loseNextUpload(page);
  await start('Import 2 rows');
  await lost.waitFor();
  assert.equal(await named('atomic'), 2);
  await start('Import 2 rows');
  await dialog.getByText('Import finished.').waitFor();
  await page.locator('.toast').getByText('An earlier attempt had been saved').waitFor();
  assert.equal(await named('atomic'), 2);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'detached' });
});

test('where an import cannot be repeated safely, the console first asks what has arrived', async (t) => {
  const page = await console.open(t, '/projects/APOLLO');
  const dialog = page.getByRole('dialog', { name: 'Import risks' });
  const found = async () => (await console.get('/v1/risks?q=arriving')).data.length;
  await drop(page, 'risks.csv', 'title\nArriving 1\nArriving 2\n');
  await dialog.getByText('2 rows: 2 new.').waitFor();
  await loseNextUpload(page);
  await dialog.getByRole('button', { name: 'Import 2 rows' }).click();
  await dialog.getByRole('alert').getByText("Can't reach the service.").waitFor();
  assert.equal(await found(), 2);
  await dialog.getByRole('button', { name: 'Import 2 rows' }).click();
  await dialog.getByText('The response to the last attempt was lost, and 2 rows here have been').waitFor();
  assert.equal(await found(), 2);
  await dialog.getByRole('button', { name: 'Import again' }).click();
  await dialog.getByText('Import finished.').waitFor();
  assert.equal(await found(), 4);
});
