import assert from 'node:assert/strict';
import { screenshot, startConsole, test, visit, waitUntilLoaded } from './console.ts';
import { fact, openHeatMap } from './page.ts';

const console = startConsole({
  isEmpty: true,
  async fill() {
    await console.post('/v1/projects', { name: 'Apollo' });
    const at = '/v1/projects/APOLLO/risks';
    await console.post(at, {
      title: 'Supplier fails',
      probability: 3,
      impact: 3,
      response_plan: 'A second one.',
    });
    await console.post(at, { title: 'Nobody has looked' });
    const high = { kind: 'opportunity', probability: 5, impact: 5, response_plan: 'Ask early.' };
    await console.post(at, { title: 'Early delivery', ...high });
    await console.post(at, { title: 'Rebate', ...high, impact: 2 });
  },
});

test('the numbers of the overview and of a project are those of threats, and lead to as many rows', async (t) => {
  const page = await console.open(t, '/overview');
  const tile = (name: string) => page.getByRole('list', { name: 'Risks' }).getByRole('link', { name });
  assert.match((await tile('Critical risks').textContent()) ?? '', /^0/);
  assert.match((await tile('Active risks').textContent()) ?? '', /^2/);
  assert.match((await tile('Not assessed').textContent()) ?? '', /^1/);
  await page.getByRole('heading', { name: 'Total risk score 9' }).waitFor();
  const top = page.getByRole('region', { name: 'Top 10 risks' }).getByRole('listitem');
  assert.equal(await top.count(), 2);
  const matrix = page.getByRole('region', { name: 'Risk matrix' });
  await matrix.getByRole('link', { name: 'Probability 5, impact 5: 0 risks' }).waitFor();
  await page.getByRole('region', { name: 'Project health' }).getByText('On track').first().waitFor();
  await screenshot(page, 'opportunities-overview', { isWhole: true });

  assert.match((await tile('Opportunities').textContent()) ?? '', /^2/);
  await tile('Opportunities').click();
  await page.waitForURL(/kind=opportunity/);
  await waitUntilLoaded(page);
  await page.getByText('2 active risks').waitFor();
  await screenshot(page, 'opportunities-list');
  // Its heat map has their words and colors.
  await openHeatMap(page);
  await page.getByRole('link', { name: 'Likelihood 5, benefit 5: 1 opportunity' }).click();
  await page.waitForURL(/kind=opportunity&probability=5&impact=5/);
  await page.getByRole('link', { name: 'Early delivery' }).waitFor();

  await visit(page, '/overview');
  await tile('Active risks').click();
  await waitUntilLoaded(page);
  await page.getByText('2 active risks, 1 not assessed').waitFor();
  await visit(page, '/projects/APOLLO');
  const health = page.getByRole('region', { name: 'Health' });
  await health.getByRole('link', { name: '2 Active risks' }).waitFor();
  await health.getByRole('link', { name: '2 Opportunities' }).waitFor();
  assert.match(await page.getByRole('tab', { name: /Risks/ }).innerText(), /4/);
});

test('without a filter, the list has both kinds, and its heat map threats', async (t) => {
  const page = await console.open(t, '/risks');
  await page.getByText('4 active risks, 1 not assessed').waitFor();
  await page.getByText('Heat map of threats').waitFor();
  await openHeatMap(page);
  await page.getByRole('link', { name: 'Probability 3, impact 3: 1 risk' }).click();
  await page.waitForURL(/kind=threat&probability=3&impact=3/);
  await page.getByText('1 active risk').first().waitFor();
});

test('an opportunity has a benefit, and is realized', async (t) => {
  const page = await console.open(t, '/risks/APOLLO-R3');
  await fact(page, 'Benefit').waitFor();
  await fact(page, 'Likelihood').waitFor();
  assert.equal(await fact(page, 'Level').innerText(), 'Very high');
  await page.getByRole('heading', { name: 'Opportunity score' }).waitFor();
  await screenshot(page, 'opportunities-page');
  await page.getByRole('button', { name: 'Mark as realized…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Mark APOLLO-R3 as realized' });
  await dialog.getByRole('button', { name: 'Create issue' }).click();
  await page.waitForURL(/\/issues\/APOLLO-I1/);
  await visit(page, '/risks/APOLLO-R3');
  await page.getByText('Realized').first().waitFor();
});
