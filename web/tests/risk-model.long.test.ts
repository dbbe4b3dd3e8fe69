import assert from 'node:assert/strict';
import { assertAccessible } from './axe.ts';
import { startConsole, test, waitUntilLoaded } from './console.ts';
import { openHeatMap } from './page.ts';

const console = startConsole({ isEmpty: true });

test('a 4 × 4 matrix with own labels and colors is set up, rates a risk, and is undone', async (t) => {
  await console.post('/v1/projects', { name: 'Apollo' });
  const { key } = await console.post('/v1/projects/APOLLO/risks', {
    title: 'Leak',
    probability: 5,
    impact: 5,
  });
  const page = await console.open(t, '/settings/risk-model');
  await waitUntilLoaded(page);
  await page.getByRole('button', { name: '4 × 4' }).click();
  await page.getByLabel('Label of probability 4').fill('Fast sicher');
  await page.getByLabel('Label of Critical').fill('Untragbar');
  await page.getByLabel('Color of Critical').fill('#8000ff');
  await page.getByLabel('Level of probability 1, impact 4').selectOption('Untragbar');
  await assertAccessible(page, 'the editor of the risk model');
  await page.getByRole('button', { name: 'Preview changes' }).click();
  const preview = page.getByRole('region', { name: 'What would change' });
  await preview.getByText('1 get a new version').waitFor();
  await assertAccessible(page, 'the preview of a risk model');
  await preview.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('Version 2 of the risk model applies').waitFor();
  const model = await console.get('/v1/risk-model');
  assert.deepEqual([model.version, model.cells.length, model.cells[3].level], [2, 16, 'critical']);
  assert.equal(model.probability[3].word, 'Fast sicher');

  await page.goto(page.url().replace('/settings/risk-model', `/risks/${key}`));
  await page.getByText('Untragbar').first().waitFor();
  await page.goto(page.url().replace(`/risks/${key}`, '/risks'));
  await openHeatMap(page);
  await page.getByRole('link', { name: 'Probability 4, impact 4: 1 risk' }).waitFor();
  assert.equal(await page.getByRole('link', { name: /^Probability 5/ }).count(), 0);

  await page.goto(page.url().replace('/risks', '/settings/risk-model'));
  await page.getByRole('button', { name: 'Return to version 1' }).click();
  await preview.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('Version 3 of the risk model applies').waitFor();
  const risk = await console.get(`/v1/risks/${key}`);
  assert.deepEqual([risk.probability, risk.impact, risk.score], [5, 5, 25]);
});
