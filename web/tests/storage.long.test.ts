import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { startConsole, test, visit } from './console.ts';
import { editorClosed, signIn } from './page.ts';

const console = startConsole();

const makeFull = () => {
  Storage.prototype.setItem = () => {
    throw new DOMException('The quota has been exceeded.', 'QuotaExceededError');
  };
};

const block = () => {
  for (const name of ['localStorage', 'sessionStorage'])
    Object.defineProperty(window, name, {
      get: () => {
        throw new DOMException('Access is denied for this document.', 'SecurityError');
      },
    });
};

/** Opens the link of the navigation, which keeps the page. */
const follow = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).first().click();

for (const [state, restrict] of [
  ['full', makeFull],
  ['blocked', block],
] as const)
  test(`storage that is ${state} stops neither the sign-in nor typing`, async (t) => {
    const { key } = await console.post('/v1/projects/APOLLO/risks', { title: `Typed while ${state}` });
    const path = `/v1/projects/APOLLO/risks/${key}`;
    const page = await console.newPage(t, { signedIn: false });
    await page.addInitScript(restrict);
    await page.goto(`/risks?q=Typed while ${state}`);
    await signIn(page, (await console.newKey()).secret);
    await follow(page, `Typed while ${state}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Edit Category', exact: true }).click();
    await page.getByLabel('Category', { exact: true }).fill('supply');
    await page.keyboard.press('Enter');
    await editorClosed(page);
    assert.equal((await console.get(path)).category, 'supply');
    await page.getByRole('textbox', { name: 'Write a comment' }).fill('Not sent yet');
    await follow(page, 'Issues');
    await page.getByRole('heading', { level: 1, name: 'Issues' }).waitFor();
    await page.goBack();
    assert.equal(await page.getByRole('textbox', { name: 'Write a comment' }).inputValue(), 'Not sent yet');
    await visit(page, '/risks?sort=-updated_at');
  });
