import assert from 'node:assert/strict';
import { startConsole, test, waitUntilLoaded } from './console.ts';
import { tabTo } from './focus.ts';
import { assertFits, signIn } from './page.ts';

const console = startConsole();

const createRisk = async (title: string) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title });
  const comments = `/v1/projects/APOLLO/risks/${key}/comments`;
  return {
    page: `/risks/${key}`,
    path: `/v1/projects/APOLLO/risks/${key}`,
    comments,
    bodies: async (): Promise<string[]> =>
      (await console.get(comments)).data.map(({ body }: { body: string }) => body),
  };
};

test('comments and changes are one timeline, newest last, on the pages of all commented items', async (t) => {
  const risk = await createRisk('Commented');
  await console.post(risk.comments, { body: 'First words' });
  await console.patch(risk.path, { probability: 4, impact: 4 });
  await console.post(risk.comments, { body: 'Last words' });
  const page = await console.open(t, risk.page);
  const entries = page.locator('.timeline .history > li');
  await entries.getByText('Last words').waitFor();
  const texts = await entries.allTextContents();
  const places = ['Created', 'First words', 'Probability', 'Last words'].map((part) =>
    texts.findIndex((text) => text.includes(part)),
  );
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  );
  assert.ok(!places.includes(-1), texts.join('\n'));

  const issue = (await console.get('/v1/issues?limit=1')).data[0];
  const task = (await console.get('/v1/tasks?limit=1')).data[0];
  for (const [path, item] of [
    [`/issues/${issue.key}`, `/v1/projects/${issue.project_key}/issues/${issue.key}`],
    [`/tasks/${task.key}`, `/v1/projects/${task.project_key}/tasks/${task.key}`],
    ['/projects/APOLLO?tab=activity', '/v1/projects/APOLLO'],
  ] as const) {
    await page.goto(path);
    await page.getByRole('textbox', { name: 'Write a comment' }).fill(`About ${path}`);
    await page.keyboard.press('Control+Enter');
    await page.getByRole('article', { name: 'Comment by test' }).getByText(`About ${path}`).waitFor();
    const { data } = await console.get(`${item}/comments`);
    assert.equal(data.at(-1).body, `About ${path}`);
    await waitUntilLoaded(page);
  }
});

test('the keyboard alone mentions a person, writes Markdown and sends it', async (t) => {
  const person = await console.post('/v1/personnel', { name: 'Quirina Quast', title: 'Pilot' });
  await console.post('/v1/personnel', { name: 'Quirin Quitt' });
  const risk = await createRisk('Mentioned');
  const page = await console.open(t, risk.page);
  await page.getByText('No comments yet').waitFor();
  await tabTo(page, 'Write a comment');
  await page.keyboard.type('Ask **now** @quir');
  await page.getByRole('option').nth(1).waitFor();
  await page.keyboard.press('ArrowDown');
  const active = page.locator('[role=option][aria-selected=true]');
  const first = await active.textContent();
  await page.keyboard.press('ArrowUp');
  assert.notEqual(await active.textContent(), first);
  await page.keyboard.press('Escape');
  await page.getByRole('option').first().waitFor({ state: 'detached' });
  await page.keyboard.press('Backspace');
  await page.keyboard.type(' @quirina');
  await page.getByRole('option', { name: /Quirina Quast/ }).waitFor();
  await page.waitForFunction(() => document.querySelectorAll('[role=option]').length === 1);
  await page.keyboard.press('Enter');
  const input = page.getByRole('textbox', { name: 'Write a comment' });
  assert.equal(await input.inputValue(), 'Ask **now** @qui @Quirina Quast ');
  await page.keyboard.type('<b>please</b>');
  await page.keyboard.press('Control+Enter');
  const comment = page.getByRole('article', { name: 'Comment by test' });
  await comment.getByRole('link', { name: '@Quirina Quast' }).waitFor();
  assert.equal(await comment.locator('strong').textContent(), 'now');
  assert.match((await comment.locator('.markdown').textContent()) ?? '', /<b>please<\/b>$/);
  assert.equal(await input.inputValue(), '');
  const { data } = await console.get(risk.comments);
  assert.deepEqual(
    data[0].mentions.map(({ user_id }: { user_id: string }) => user_id),
    [person.user_id],
  );
});

test('a failed request keeps the text, and a retry after a lost response adds no second comment', async (t) => {
  const risk = await createRisk('Unlucky');
  const page = await console.open(t, risk.page);
  const input = page.getByRole('textbox', { name: 'Write a comment' });
  await input.fill('Kept words');
  let failure: 'error' | 'lost' | 'none' = 'error';
  await page.route('**/comments', async (route) => {
    if (route.request().method() !== 'POST' || failure === 'none') return route.continue();
    if (failure === 'error') return route.fulfill({ status: 500, json: { detail: 'Out of order.' } });
    await route.fetch();
    await route.abort();
  });
  await input.press('Control+Enter');
  await page.getByRole('alert').getByText('Out of order.').waitFor();
  assert.equal(await input.inputValue(), 'Kept words');
  assert.deepEqual(await risk.bodies(), []);

  failure = 'lost';
  await page.getByRole('button', { name: 'Comment', exact: true }).click();
  await page.getByRole('alert').getByText("Can't reach the service").waitFor();
  assert.equal(await input.inputValue(), 'Kept words');
  assert.deepEqual(await risk.bodies(), ['Kept words']);

  // The draft and its idempotency key survive a reload too.
  await page.reload();
  assert.equal(await input.inputValue(), 'Kept words');
  failure = 'none';
  await input.press('Control+Enter');
  await page.getByRole('status').getByText('Comment added').waitFor();
  assert.equal(await input.inputValue(), '');
  assert.deepEqual(await risk.bodies(), ['Kept words']);
  assert.equal(await page.getByRole('article').count(), 1);
});

test('a draft survives another page and the end of the session', async (t) => {
  const risk = await createRisk('Interrupted');
  const page = await console.open(t, risk.page, { signedIn: false });
  const { secret } = await console.newKey();
  await signIn(page, secret);
  const input = page.getByRole('textbox', { name: 'Write a comment' });
  await input.fill('Half a thought');
  await page.getByRole('link', { name: 'Issues', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Issues' }).waitFor();
  await page.goBack();
  await input.waitFor();
  assert.equal(await input.inputValue(), 'Half a thought');
  await page.context().clearCookies();
  await input.press('Control+Enter');
  await page.getByText('Your session has ended. Sign in again.').waitFor();
  await signIn(page, secret);
  assert.equal(await input.inputValue(), 'Half a thought');
  await input.press('Control+Enter');
  await page.getByRole('article').getByText('Half a thought').waitFor();
  assert.deepEqual(await risk.bodies(), ['Half a thought']);
});

test('pressing the shortcut twice sends one comment', async (t) => {
  const risk = await createRisk('Impatient');
  const page = await console.open(t, risk.page);
  await page.getByRole('textbox', { name: 'Write a comment' }).fill('Once');
  await page.getByRole('textbox', { name: 'Write a comment' }).evaluate((input) => {
    const press = () =>
      input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true, bubbles: true }));
    press();
    press();
  });
  await page.getByRole('article').getByText('Once').waitFor();
  await waitUntilLoaded(page);
  assert.deepEqual(await risk.bodies(), ['Once']);
});

test('own comments are edited and deleted; a concurrent change is shown before it is overwritten', async (t) => {
  const person = await console.post('/v1/personnel', { name: 'Rhea Rast' });
  const risk = await createRisk('Edited');
  const foreign = await console.post(risk.comments, { body: 'By another key' });
  const page = await console.open(t, risk.page);
  const other = page.locator('.comment', { hasText: 'By another key' });
  await other.waitFor();
  assert.equal(await other.getByRole('button', { name: 'Edit comment' }).count(), 0);
  await page.getByRole('textbox', { name: 'Write a comment' }).fill('Mine, first');
  await page.keyboard.press('Control+Enter');
  const own = page.locator('.comment', { has: page.getByRole('button', { name: 'Edit comment' }) });
  await own.getByText('Mine, first').waitFor();
  const id = (await console.get(risk.comments)).data.find((one: { id: string }) => one.id !== foreign.id).id;
  await console.patch(`${risk.comments}/${id}`, { body: `Mine with @${person.user_id}` });
  await page.reload();
  await own.getByText('(edited)').waitFor();

  await own.getByRole('button', { name: 'Edit comment' }).press('Enter');
  const editor = page.getByRole('textbox', { name: 'Edit comment' });
  assert.equal(await editor.inputValue(), 'Mine with @Rhea Rast');
  await editor.fill('Mine for @Rhea Rast');
  await editor.press('Escape');
  await page.getByRole('button', { name: 'Keep editing' }).click();
  await console.patch(`${risk.comments}/${id}`, { body: 'Changed elsewhere' });
  await editor.press('Control+Enter');
  await page.getByRole('alert').getByText('Changed elsewhere').waitFor();
  assert.equal(await editor.inputValue(), 'Mine for @Rhea Rast');
  await page.getByRole('button', { name: 'Overwrite' }).click();
  await own.getByRole('link', { name: '@Rhea Rast' }).waitFor();
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Edit comment');
  assert.deepEqual(await risk.bodies(), ['By another key', `Mine for @${person.user_id}`]);

  await own.getByRole('button', { name: 'Delete comment' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await own.waitFor({ state: 'detached' });
  assert.deepEqual(await risk.bodies(), ['By another key']);
});

test('a key that can only read sees comments but no form', async (t) => {
  const risk = await createRisk('Read only');
  const person = await console.post('/v1/personnel', { name: 'Selma Sund' });
  await console.post(risk.comments, { body: `For @${person.user_id}` });
  const page = await console.open(t, risk.page, { scopes: ['projects.read'] });
  await page.getByRole('article').getByText('@Selma Sund').waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Write a comment' }).count(), 0);
  assert.equal(await page.getByRole('button', { name: /comment/ }).count(), 0);
  assert.equal(await page.getByRole('article').getByRole('link').count(), 0);
});

test('the timeline fits a phone', async (t) => {
  const risk = await createRisk('Narrow');
  const person = await console.post('/v1/personnel', { name: 'Tove Tang' });
  await console.post(risk.comments, {
    body: `> Who asks?\n\n@${person.user_id} **today**:\n\n- \`code\`\n- ${'long'.repeat(40)}\n\n\`\`\`\n${'x'.repeat(200)}\n\`\`\``,
  });
  const viewport = { width: 390, height: 844 };
  const page = await console.open(t, risk.page, { viewport, hasTouch: true, isMobile: true });
  await page.getByRole('article').waitFor();
  await waitUntilLoaded(page);
  await page.getByRole('textbox', { name: 'Write a comment' }).fill('Ask @tove');
  await page.getByRole('option', { name: 'Tove Tang' }).waitFor();
  await assertFits(page, 'a timeline');
  await page.getByRole('option', { name: 'Tove Tang' }).tap();
  assert.equal(await page.getByRole('textbox', { name: 'Write a comment' }).inputValue(), 'Ask @Tove Tang ');
});
