import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { startConsole, test } from './console.ts';
import { editorClosed } from './page.ts';

const console = startConsole();

/** Begins to compose a text in the focused input, as an input method of Japanese, Chinese or Korean does. */
async function compose(page: Page, text: string) {
  const input = await page.context().newCDPSession(page);
  await input.send('Input.imeSetComposition', {
    text,
    selectionStart: text.length,
    selectionEnd: text.length,
  });
  return {
    // The key enters nothing, because the input method takes it.
    press: (key: string) => input.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', key }),
    accept: (chosen: string) => input.send('Input.insertText', { text: chosen }),
  };
}

test('the Enter and the Escape of a composition neither save nor discard a field', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Composed', category: 'supply' });
  const path = `/v1/projects/APOLLO/risks/${key}`;
  const page = await console.open(t, `/risks/${key}`);
  await page.getByRole('button', { name: 'Edit Category', exact: true }).click();
  const field = page.getByLabel('Category', { exact: true });
  await field.fill('');
  const { press, accept } = await compose(page, 'きょう');
  await press('Enter');
  await press('Escape');
  assert.equal(await field.inputValue(), 'きょう');
  await accept('供給');
  assert.equal((await console.get(path)).category, 'supply');
  await field.press('Enter');
  await editorClosed(page);
  assert.equal((await console.get(path)).category, '供給');
});

test('the Escape of a composition stays in the comment of a preview', async (t) => {
  await console.post('/v1/projects/APOLLO/risks', { title: 'Composed 9041' });
  const page = await console.open(t, '/risks?q=9041');
  await page.getByRole('link', { name: 'Composed 9041' }).press('Space');
  const comment = page.getByRole('textbox', { name: 'Write a comment' });
  await comment.click();
  const { press, accept } = await compose(page, 'か');
  await press('Escape');
  assert.equal(await comment.evaluate((element) => element === document.activeElement), true);
  await accept('確認');
  assert.equal(await comment.inputValue(), '確認');
});
