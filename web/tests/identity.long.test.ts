import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { startConsole, test, waitUntilLoaded } from './console.ts';
import { setHidden } from './page.ts';

const console = startConsole();

const newPerson = (name: string): Promise<{ user_id: string }> => console.post('/v1/personnel', { name });

const newRisk = async (title: string) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title });
  return { key: String(key), path: `/v1/projects/APOLLO/risks/${key}` };
};

/** Signs another person in in the browser of a page, as another tab does. */
async function signInElsewhere(page: Page, { user_id }: { user_id: string }): Promise<void> {
  const data = { link: await console.createSignInLink(user_id) };
  const headers = { origin: console.app.baseUrl };
  const response = await page.context().request.post('/v1/session', { data, headers });
  assert.equal(response.status(), 204);
}

/** Waits until the page belongs to another person and says so. */
async function belongsTo(page: Page, now: string, before: string): Promise<void> {
  const message = `${now} has signed in in this browser. What ${before} had not saved was discarded.`;
  await page.locator('.toast').getByText(message).waitFor();
  await page.getByRole('button', { name: `${now}: account menu` }).waitFor();
}

/** Who has changed a risk since it was created, and the authors of its comments. */
async function writersOf(path: string): Promise<string[]> {
  const [history, comments] = [await console.get(`${path}/history`), await console.get(`${path}/comments`)];
  const names = [...history.data.slice(1), ...comments.data].map((one) => (one.actor ?? one.author).name);
  return [...new Set(names)] as string[];
}

const events = 'events.read';

test('a tab that is shown again reads first who has signed in, and is theirs', async (t) => {
  const [ada, ben] = [await newPerson('Ada Former'), await newPerson('Ben Latter')];
  const { key } = await newRisk('Seen by Ada');
  const page = await console.open(t, `/risks/${key}`, { user_id: ada.user_id });
  await setHidden(page, true);
  await signInElsewhere(page, ben);
  const read: string[] = [];
  page.on('request', (request) => read.push(new URL(request.url()).pathname));
  await setHidden(page, false);
  await belongsTo(page, 'Ben Latter', 'Ada Former');
  // Nothing else until the page is loaded again.
  assert.deepEqual(read.slice(0, 2), ['/v1/me', `/risks/${key}`]);
});

test('a page never writes as the person who has signed in meanwhile', async (t) => {
  const [ada, ben] = [await newPerson('Ada Visible'), await newPerson('Ben Visible')];
  const { key, path } = await newRisk('Written by Ada');
  // Without `events.read` nothing tells the page that its session has ended.
  const scopes = ['projects.manage', 'personnel.read'] as const;
  for (const write of ['comment', 'status', 'field']) {
    const page = await console.open(t, `/risks/${key}`, { user_id: ada.user_id, scopes });
    const comment = page.getByRole('textbox', { name: 'Write a comment' });
    if (write === 'comment') await comment.fill('Of Ada');
    await signInElsewhere(page, ben);
    if (write === 'comment') await page.getByRole('button', { name: 'Comment', exact: true }).click();
    if (write === 'status') await page.getByRole('button', { name: 'Move to Mitigating' }).click();
    if (write === 'field') {
      await page.getByRole('button', { name: 'Edit Category' }).click();
      await page.getByRole('combobox', { name: 'Category' }).fill('Of Ada');
      await page.keyboard.press('Enter');
    }
    await belongsTo(page, 'Ben Visible', 'Ada Visible');
    assert.deepEqual(await writersOf(path), []);
  }

  // Signing in again as the same person is no reason to lose anything.
  const page = await console.open(t, `/risks/${key}`, { user_id: ada.user_id, scopes });
  await page.getByRole('textbox', { name: 'Write a comment' }).fill('Of Ada');
  await signInElsewhere(page, ada);
  await page.getByRole('button', { name: 'Comment', exact: true }).click();
  await page.locator('.timeline .history').getByText('Of Ada').waitFor();
  assert.deepEqual(await writersOf(path), ['Ada Visible']);
});

test('a visible tab learns from the other tabs who has signed in', async (t) => {
  const [ada, ben] = [await newPerson('Ada Beside'), await newPerson('Ben Beside')];
  const page = await console.open(t, '/risks', { user_id: ada.user_id, scopes: ['projects.read'] });
  await signInElsewhere(page, ben);
  const other = await page.context().newPage();
  await other.goto('/risks');
  await belongsTo(page, 'Ben Beside', 'Ada Beside');
});

test('a visible tab whose session has ended learns from the other tabs who has signed in', async (t) => {
  const [ada, ben] = [await newPerson('Ada Ended'), await newPerson('Ben Ended')];
  const { key, path } = await newRisk('Left by Ada');
  const page = await console.open(t, `/risks/${key}`, { user_id: ada.user_id, scopes: ['projects.manage'] });
  await page.context().clearCookies();
  await page.getByRole('button', { name: 'Move to Mitigating' }).click();
  await page.getByRole('dialog', { name: 'Sign in' }).waitFor();
  await signInElsewhere(page, ben);
  const other = await page.context().newPage();
  await other.goto('/risks');
  await belongsTo(page, 'Ben Ended', 'Ada Ended');
  assert.deepEqual(await writersOf(path), []);
});

test('a tab that is shown again keeps nothing of what may no longer be seen or changed', async (t) => {
  const ada = await newPerson('Ada Narrowed');
  const scopes = ['projects.manage', 'personnel.read', events] as const;
  const page = await console.open(t, '/risks', { user_id: ada.user_id, scopes });
  const { id } = await console.get('/v1/projects/APOLLO');
  const narrow = async (held: readonly string[], project_ids: string[] | null) => {
    await setHidden(page, true);
    await console.put(`/v1/personnel/${ada.user_id}/access`, { scopes: held, project_ids });
    await setHidden(page, false);
    await page.locator('.toast').getByText('Your access has changed.').waitFor();
    await waitUntilLoaded(page);
  };
  await page.locator('.cell-edit').first().waitFor();
  await narrow(['projects.read', 'personnel.read', events], null);
  await page.locator('tbody tr[data-row]').first().waitFor();
  assert.equal(await page.locator('.cell-edit').count(), 0);
  await page.getByRole('button', { name: 'Dismiss' }).click();
  const keys = () =>
    page
      .locator('tbody tr[data-row] a[href^="/risks/"]')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')?.slice('/risks/'.length) ?? ''));
  assert.ok((await keys()).some((key) => !key.startsWith('APOLLO')));
  await narrow(['projects.read', 'personnel.read', events], [id]);
  await page.locator('tbody tr[data-row]').first().waitFor();
  assert.deepEqual([...new Set((await keys()).map((key) => key.split('-')[0]))], ['APOLLO']);
});
