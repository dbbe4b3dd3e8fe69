import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { sheetRows, workbookOf } from '../../test/workbook.ts';
import { assertAccessible } from './axe.ts';
import { startConsole, test, visit } from './console.ts';
import { assertFits, drop, pick } from './page.ts';

const console = startConsole();

const sample = (name: string) => readFile(new URL(`../../test/samples/${name}`, import.meta.url));

/** Chooses a file of any content, which `drop` can only do with texts. */
async function choose(page: Page, name: string, buffer: Buffer, button = 'Choose file'): Promise<void> {
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('dialog').getByRole('button', { name: button }).click();
  await (await chooser).setFiles({ name, mimeType: '', buffer });
}

test('each unknown name is asked for once: a person, a placeholder or nobody, and the choice outlives corrections', async (t) => {
  const page = await console.open(t, '/projects/APOLLO');
  const ada = await console.post('/v1/personnel', { name: 'Picked Paula' });
  await drop(
    page,
    'register.csv',
    'Risk,Due,Owner,Raised by\nChosen one,,jdoe,jdoe\nChosen two,someday,"Doe, Jane",\nChosen three,,K. Johnson,\n' +
      'Chosen four,,Former Fritz,jdoe\n',
  );
  const dialog = page.getByRole('dialog', { name: 'Import risks' });
  await dialog.getByText('4 rows, all with errors.').waitFor();
  await dialog.getByText('People, 4 not found').waitFor();
  await dialog.getByText('Not found. Choose a person or group.').first().waitFor();
  assert.doesNotMatch((await dialog.textContent()) ?? '', /unknown_people|map_values|`/);
  await assertAccessible(page, 'unknown people');
  const choiceOf = (name: string) => dialog.getByRole('combobox', { name: new RegExp(`^${name}`) });
  await choiceOf('jdoe').selectOption('Choose person or group');
  await pick(page, 'Person for jdoe', ada.name);
  await choiceOf('Doe, Jane').selectOption('Choose person or group');
  await pick(page, 'Person for Doe, Jane', ada.name);
  await choiceOf('K. Johnson').selectOption('Create as placeholder');
  await choiceOf('Former Fritz').selectOption('Leave empty');
  await dialog.getByText('4 rows: 3 new, 1 with errors.').waitFor();
  assert.doesNotMatch((await dialog.textContent()) ?? '', /usr_/);
  await dialog.getByRole('group', { name: 'Line 3:' }).getByLabel('Due').fill('2099-01-02');
  await dialog.getByRole('button', { name: 'Check again' }).click();
  await dialog.getByText('4 rows: 4 new.').waitFor();
  assert.equal(await dialog.getByLabel('Person for jdoe').inputValue(), ada.name);
  await dialog.getByRole('button', { name: 'Import 4 rows' }).click();
  await dialog.getByText('Import finished. 4 rows: 4 new.').waitFor();
  await dialog.getByRole('link', { name: 'View risks' }).click();
  await page.getByText(/^4 risks/).waitFor();
  await page.getByText('Changed since').first().waitFor();
  const { data } = await console.get('/v1/risks?q=chosen&sort=title');
  assert.deepEqual(
    data.map(({ title, owner_name }: Record<string, string>) => [title, owner_name]),
    [
      ['Chosen four', null],
      ['Chosen one', ada.name],
      ['Chosen three', 'K. Johnson'],
      ['Chosen two', ada.name],
    ],
  );
  const { data: placeholders } = await console.get('/v1/personnel?kind=placeholder&q=johnson');
  assert.deepEqual(
    placeholders.map(({ name }: { name: string }) => name),
    ['K. Johnson'],
  );
});

test('the sheet, the header and the encoding of a file can be chosen, and lines without data are shown as skipped', async (t) => {
  const page = await console.open(t, '/projects/APOLLO?import=true');
  const sheet = (name: string, ...rows: string[][]) => ({ name, rows: sheetRows(...rows) });
  const raid = await workbookOf([
    sheet('Cover', ['How to use this log']),
    sheet('Old log', ['Title', 'Status'], ['An old one', 'Open']),
    sheet(
      'Risks',
      ['Register of the sheets'],
      ['Title', 'Status', 'Impact'],
      ['A', 'Open', '2'],
      ['Technical risks', '', ''],
      ['Total', '', '2'],
    ),
  ]);
  await choose(page, 'raid.xlsx', raid);
  const dialog = page.getByRole('dialog', { name: 'Import risks' });
  await dialog.getByText('2 rows: 2 new.').waitFor();
  assert.equal(await dialog.getByLabel('Sheet').inputValue(), 'Risks');
  assert.equal(await dialog.getByLabel('Column names').inputValue(), '2');
  const skipped = dialog.getByRole('button', { name: 'Skipped 2' });
  await skipped.click();
  assert.deepEqual(await dialog.locator('.import-rows tbody td:first-child').allTextContents(), ['1', '5']);
  await dialog.locator('.import-rows').getByText('It is a row of totals.').waitFor();
  await dialog.getByLabel('Sheet').selectOption('Cover');
  await dialog.getByText('That line has no known column names.').waitFor();
  await dialog.getByLabel('Sheet').selectOption('Old log');
  await dialog.getByText('1 row: 1 new.').waitFor();

  const windows = Buffer.from('Bericht,2026\nTitel;Status\nM\xfcller f\xe4llt aus;Offen\n', 'latin1');
  await choose(page, 'latin.csv', windows, 'Choose another file');
  await dialog.getByText("This file isn't UTF-8. Encoding:").waitFor();
  await dialog.locator('.import-rows').getByText('Müller fällt aus').waitFor();
  await dialog.getByLabel("This file isn't UTF-8").selectOption('Cyrillic');
  await dialog.locator('.import-rows').getByText('Mьller fдllt aus').waitFor();
  await dialog.getByLabel('Column names').selectOption('3');
  await dialog.getByText('That line has no known column names.').waitFor();
  await assertAccessible(page, 'another header');
  await dialog.getByLabel('Column names').selectOption('2');
  await dialog.getByText('1 row: 1 new.').waitFor();

  await choose(page, 'programme.csv', await sample('risk-register-merged.csv'), 'Choose another file');
  await dialog.getByText(/columns mapped/).waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  await assertFits(page, 'the import dialog on a phone');
});

test('choices are saved as a mapping and used again, with values for columns that the file lacks', async (t) => {
  const page = await console.open(t, '/projects/APOLLO');
  const file = (title: string) => `Was,Wie schlimm,Wer\n${title},4,Nobody Known\n`;
  await drop(page, 'first.csv', file('Mapped one'));
  const dialog = page.getByRole('dialog', { name: 'Import risks' });
  await dialog.getByRole('combobox', { name: 'Was' }).selectOption('Title');
  await dialog.getByRole('combobox', { name: 'Wie schlimm' }).selectOption('Impact');
  await dialog.getByText('1 row: 1 new.').waitFor();
  await dialog.getByText('Values for all rows').click();
  await dialog.getByLabel('Add value').selectOption('Raised');
  await dialog.locator('.import-constant input').fill('2026-01-02');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Save mapping…' }).click();
  await dialog.getByLabel('Name of the mapping').fill('Office register');
  await dialog.getByRole('button', { name: 'Save mapping', exact: true }).click();
  await page.getByText('Saved the mapping Office register').waitFor();
  const [mapping] = (await console.get('/v1/mappings?list=risks')).data;
  assert.deepEqual(Object.fromEntries(new URLSearchParams(mapping.query)), {
    map: 'Was=title,Wie schlimm=impact',
    set: 'raised_on:2026-01-02',
  });
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Discard' }).click();
  await drop(page, 'second.csv', file('Mapped two'));
  await dialog.getByLabel('Saved mapping').selectOption('Office register');
  await dialog.getByText('1 row: 1 new.').waitFor();
  await dialog.getByRole('button', { name: 'Import 1 row' }).click();
  await dialog.getByText('Import finished.').waitFor();
  await dialog.getByRole('link', { name: /View APOLLO-R/ }).click();
  await page.getByRole('heading', { name: 'Mapped two' }).waitFor();
  const [risk] = (await console.get('/v1/risks?q=mapped')).data;
  assert.deepEqual([risk.impact, risk.raised_on], [4, '2026-01-02']);
});

test('a file is imported on the list of all projects, which creates missing ones, and a page of one project says so', async (t) => {
  const page = await console.open(t, '/projects/APOLLO');
  const apollo = await console.get('/v1/projects/APOLLO');
  const file = 'Project,Issue\nAPOLLO,Across one\nNew Hermes,Across two\n';
  await drop(page, 'log.csv', file);
  const dialog = page.getByRole('dialog', { name: /^Import/ });
  await dialog.getByRole('button', { name: 'Issues' }).click();
  await dialog.getByText('1 row names another project: New Hermes.').waitFor();
  await dialog.getByRole('button', { name: 'Use the projects of the file' }).click();
  await dialog.getByText('2 rows: 1 new, 1 with errors.').waitFor();
  await dialog.getByText('Choose above what becomes of its rows.').waitFor();
  await dialog.getByLabel('New Hermes').selectOption('Create project');
  await dialog.getByText('2 rows: 2 new.').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();

  await visit(page, '/issues');
  await drop(page, 'log.csv', 'Issue\nAcross three\n');
  await dialog.getByText('No column is mapped to Project.').waitFor();
  await pick(page, 'Project', 'Apollo');
  await dialog.getByText('1 row: 1 new.').waitFor();
  await choose(page, 'log.csv', Buffer.from(file), 'Choose another file');
  await dialog.getByText('2 rows: 1 new, 1 with errors.').waitFor();
  await dialog.getByLabel('New Hermes').selectOption('Create project');
  await dialog.getByRole('button', { name: 'Import 2 rows' }).click();
  await dialog.getByText('Import finished. 2 rows: 2 new.').waitFor();
  await dialog.getByRole('link', { name: 'View issues' }).click();
  await page.getByText('2 issues').waitFor();
  const { data } = await console.get('/v1/issues?q=across&sort=title');
  assert.deepEqual(
    data.map(({ title, project_name }: Record<string, string>) => [title, project_name]),
    [
      ['Across one', apollo.name],
      ['Across two', 'New Hermes'],
    ],
  );
});

test('choices that change faster than the service checks them end with the last ones', async (t) => {
  const page = await console.open(t, '/risks?project=APOLLO');
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await choose(page, 'register.csv', await sample('risk-register-unknown-owners.csv'));
  const dialog = page.getByRole('dialog');
  await dialog.getByText(/^People, \d not found/).waitFor();
  for (const label of ['Create as placeholder', 'Leave empty', 'Create as placeholder', 'Leave empty'])
    for (const name of ['jdoe', 'John Doe', 'Ada Lovelace'])
      await dialog.getByRole('combobox', { name: new RegExp(`^${name}`) }).selectOption({ label });
  await dialog.getByText('3 rows: 3 new.').waitFor();
  await dialog.getByText('“n/a” is empty').waitFor();
});
