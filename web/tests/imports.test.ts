import assert from 'node:assert/strict';
import { startConsole, test, visit } from './console.ts';
import { drop } from './page.ts';

const console = startConsole();

test('a dropped CSV file: columns are mapped, rows are checked, then imported, and errors can be downloaded', async (t) => {
  const page = await console.open(t, '/personnel');
  const before = (await console.get('/v1/personnel?limit=1&count=true')).page.total;
  await drop(
    page,
    'people.csv',
    'Full name,E-mail,Badge,Shoe size,Reports to\n' +
      'Imported Ines,ines@import.example,B1,38,Imported Ivo\n' +
      'Imported Ivo,ivo@import.example,B2,44,\n' +
      'Imported Iris,not an address,B3,39,Nobody At All\n',
  );
  const dialog = page.getByRole('dialog', { name: 'Import people' });
  await dialog.getByText('3 columns mapped, 2 will be skipped').waitFor();
  await dialog.getByText('Skipped “Badge” and “Shoe size”.').waitFor();
  await dialog.getByLabel('Badge').selectOption('Import as custom field');
  await dialog.getByLabel('Shoe size').selectOption('Skip');

  await dialog.getByText('3 rows: 2 new, 1 with errors. Nothing has been imported yet.').waitFor();
  // The result of the previous check has the same text.
  await dialog.locator('.import-outdated').waitFor({ state: 'detached' });
  assert.equal(
    await dialog.getByRole('combobox', { name: 'Reports to', exact: true }).inputValue(),
    'manager_user_id',
  );
  assert.equal(await dialog.getByLabel('Badge').inputValue(), 'attributes.Badge');
  const rows = dialog.locator('.import-rows tbody tr');
  assert.equal(await rows.count(), 1, 'only the rows with errors are shown first');
  assert.match(
    (await rows.textContent()) ?? '',
    /^4Error.*Imported Iris.*E-mail.*Reports to.*Not found. Choose a person\./,
  );
  await dialog.getByRole('button', { name: 'New 2' }).click();
  assert.deepEqual(await dialog.locator('.import-rows tbody td:first-child').allTextContents(), ['2', '3']);
  assert.equal(
    (await console.get('/v1/personnel?limit=1&count=true')).page.total,
    before,
    'nothing is imported yet',
  );

  await dialog.getByRole('button', { name: 'Import 2 rows' }).click();
  await dialog.getByText('Import finished. 3 rows: 2 new, 1 with errors.').waitFor();
  const [ines] = (await console.get('/v1/personnel?q=imported ines')).data;
  const [ivo] = (await console.get('/v1/personnel?q=imported ivo')).data;
  assert.deepEqual([ines.attributes, ines.manager_user_id], [{ Badge: 'B1' }, ivo.user_id]);
  const download = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Download error report' }).click();
  const saved = Buffer.concat(await (await (await download).createReadStream()).toArray()).toString();
  assert.match(saved, /^"Full name",.*"Import errors"\r\n"Imported Iris",.*E-mail: /);
  await dialog.getByRole('link', { name: 'View people' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText(`${before + 2} people`).waitFor();
});

test('a read-only key has no import', async (t) => {
  const page = await console.open(t, '/personnel', { scopes: ['personnel.read', 'projects.read'] });
  for (const path of ['/personnel', '/groups', '/projects', '/projects/APOLLO']) {
    await visit(page, path);
    assert.equal(await page.getByRole('button', { name: 'Import' }).count(), 0, path);
  }
  const status = await page.evaluate(async () => {
    const headers = { 'content-type': 'text/csv' };
    return (await fetch('/v1/personnel/import', { method: 'POST', headers, body: 'name\nEve\n' })).status;
  });
  assert.equal(status, 403);
});
