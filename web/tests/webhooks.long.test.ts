import assert from 'node:assert/strict';
import { startReceiver } from '../../test/receiver.ts';
import { assertAccessible } from './axe.ts';
import { startConsole, test, waitUntilLoaded } from './console.ts';
import { press, tabTo } from './focus.ts';

const console = startConsole();

test('a webhook is created with its secret shown once, and receives events that the log shows', async (t) => {
  const receiver = await startReceiver(t, (response) => response.writeHead(200).end('thank you'));
  const page = await console.open(t, '/webhooks');
  await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
  await page.getByRole('button', { name: 'Create webhook' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('URL').fill('http://intranet.example/hook');
  await dialog.getByRole('button', { name: 'Create webhook' }).click();
  await dialog.locator('.field-error').first().waitFor();
  await dialog.getByLabel('URL').fill(receiver.url);
  await dialog.getByText('Issue', { exact: true }).click();
  await dialog.getByLabel('Issue created').check();
  await dialog.getByText('Risk', { exact: true }).click();
  await dialog.getByLabel('All risk events').check();
  await page.getByRole('combobox', { name: 'Limited to projects' }).fill('apollo');
  await page.getByRole('option', { name: /Apollo/ }).click();
  await page.keyboard.press('Tab');
  await dialog.getByRole('button', { name: 'Create webhook' }).click();
  await dialog.getByText("you won't see it again").waitFor();
  assert.match((await dialog.locator('.secret code').textContent()) ?? '', /^whsec_/);
  await page.keyboard.press('Escape');
  await dialog.getByRole('button', { name: 'Done' }).click();
  await dialog.waitFor({ state: 'detached' });
  const {
    data: [created],
  } = await console.get('/v1/webhooks');
  const apollo = await console.get('/v1/projects/APOLLO');
  assert.deepEqual([created.types, created.project_ids], [['issue.created', 'risk.*'], [apollo.id]]);

  await page.getByRole('row', { name: /Issue created, All risk events.*Enabled.*APOLLO/ }).waitFor();
  await page.getByRole('link', { name: receiver.url.replace('http://', '') }).click();
  await page.getByRole('heading', { name: 'No deliveries yet' }).waitFor();
  await console.post('/v1/projects/APOLLO/issues', { title: 'Sent to the receiver' });
  await page.getByRole('row', { name: /Issue created.*Delivered 200 in \d+ ms 1/ }).waitFor();
  await page.getByRole('button', { name: 'Issue created, details' }).click();
  await dialog.getByText('thank you').waitFor();
  await dialog.getByRole('button', { name: 'Redeliver Issue created' }).click();
  await receiver.receive(2);
  const [first, second] = receiver.received;
  assert.equal(first?.headers['webhook-id'], second?.headers['webhook-id']);
  await page
    .getByRole('row', { name: /Issue created.*Delivered/ })
    .nth(1)
    .waitFor();

  await page.getByRole('button', { name: 'Replay…' }).click();
  await dialog.getByLabel('After sequence number').fill('0');
  await dialog.getByRole('button', { name: 'Replay' }).click();
  await page.locator('.toast').getByText('Replaying events').waitFor();
  await receiver.receive(3);

  const [{ secret: _, ...before }] = (await console.get('/v1/webhooks')).data;
  await page.getByRole('button', { name: 'Rotate secret…' }).click();
  await dialog.getByRole('button', { name: 'Rotate', exact: true }).click();
  await dialog.getByText("you won't see it again").waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();
  assert.ok((await console.get(`/v1/webhooks/${before.id}`)).version > before.version);

  await page.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
});

test('a test shows the response of the receiver, and a disabled webhook shows why', async (t) => {
  let status = 500;
  const receiver = await startReceiver(t, (response) => response.writeHead(status).end('out of paper'));
  const { id } = await console.post('/v1/webhooks', { url: receiver.url, types: ['issue.*'] });
  const page = await console.open(t, `/webhooks/${id}`);
  await page.getByRole('button', { name: 'Send test' }).click();
  const dialog = page.getByRole('dialog', { name: 'Webhook test' });
  await dialog.getByText('out of paper').waitFor();
  await dialog.getByText('Failed', { exact: true }).waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await page.getByRole('row', { name: /Webhook test.*Failed 500 in/ }).waitFor();

  status = 410;
  await console.post('/v1/projects/APOLLO/issues', { title: 'Gone' });
  await page.locator('.notice').getByText('The receiver responded with 410 Gone.').waitFor();
  await page.reload();
  await page.locator('.notice').waitFor();
  await waitUntilLoaded(page);
  await assertAccessible(page, 'a disabled webhook');
  status = 204;
  await page.locator('.notice').getByRole('button', { name: 'Enable' }).click();
  await page.locator('.notice').waitFor({ state: 'detached' });
  await page.locator('.title-summary').getByText('Enabled').waitFor();
  await page.getByRole('button', { name: 'Disable' }).click();
  await page.locator('.title-summary').getByText('Disabled').waitFor();

  await page.getByRole('button', { name: 'Edit' }).click();
  const form = page.getByRole('dialog', { name: 'Edit webhook' });
  await form.getByLabel('Description').fill('Prints new issues');
  await console.patch(`/v1/webhooks/${id}`, { description: 'Theirs' });
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByRole('alert').getByText('Someone else changed this').waitFor();
  await form.getByRole('button', { name: 'Overwrite' }).click();
  await form.waitFor({ state: 'detached' });
  assert.equal((await console.get(`/v1/webhooks/${id}`)).description, 'Prints new issues');
});

test('a key that can only read events changes nothing, and a webhook that reads more is explained', async (t) => {
  const { id } = await console.post('/v1/webhooks', { url: 'https://example.com/hook', types: ['*'] });
  const page = await console.open(t, '/webhooks', { scopes: ['events.read'] });
  await page.getByRole('link', { name: 'example.com/hook' }).click();
  await page.waitForURL(new RegExp(id));
  await page.getByText('This webhook reads more than your key').waitFor();
  for (const name of ['Send test', 'Edit', 'Disable', 'Delete', 'Rotate secret…', 'Replay…']) {
    assert.equal(await page.getByRole('button', { name }).count(), 0, name);
  }
  const other = await console.open(t, '/webhooks', { scopes: ['projects.read'] });
  await other?.getByText("Page not found, or you don't have access").waitFor();
});

test('a webhook is created and opened with the keyboard', async (t) => {
  const page = await console.open(t, '/webhooks');
  await page.keyboard.press('c');
  await page.getByRole('dialog', { name: 'Create webhook' }).waitFor();
  await page.keyboard.type('https://example.com/keyboard');
  await tabTo(page, 'All events');
  await page.keyboard.press('Space');
  await press(page, 'Create webhook');
  await page.getByText("you won't see it again").waitFor();
  await press(page, 'Done');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await waitUntilLoaded(page);
  await press(page, 'example.com/keyboard');
  await page.getByRole('heading', { level: 1, name: 'example.com/keyboard' }).waitFor();
});
