import type { Page } from 'playwright-core';

/** The pictures in the README: `npm run screenshots` takes them, and writes beside each what it shows. */
export const pictures = [{ name: 'overview', path: '/overview' }];

/** What in a picture tells a reader which version it shows. */
export const describePicture = async (page: Page) => ({
  title: await page.title(),
  heading: await page.getByRole('heading', { level: 1 }).innerText(),
  navigation: await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allInnerTexts(),
});
