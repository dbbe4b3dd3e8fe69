import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addActivity } from '../demo/activity.ts';
import { fillDemo } from '../demo/fill.ts';
import { inviteDemoPerson } from '../demo/sign-in.ts';
import { startService } from '../src/commands/serve.ts';
import { fileDatabaseUrl, readConfig } from '../src/config.ts';
import { systemClock } from '../src/core/clock.ts';
import { launchBrowser } from '../test/browser.ts';
import { waitUntilLoaded } from './tests/page.ts';
import { describePicture, pictures } from './tests/picture.ts';

/** Takes the pictures in the README from the demo, as its person sees it: `npm run screenshots`. */
const target = join(import.meta.dirname, '../docs/images');
const folder = mkdtempSync(join(tmpdir(), 'muster-screenshots-'));
const { app } = await startService(
  readConfig({ MUSTER_DATABASE_URL: fileDatabaseUrl(join(folder, 'muster.db')), MUSTER_PORT: '0' }),
);
const browser = await launchBrowser();
try {
  if (!browser) throw new Error('No Chromium here: install one or set TEST_BROWSER.');
  await fillDemo(app.database, systemClock());
  await addActivity(app.database, systemClock());
  mkdirSync(target, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({
      colorScheme,
      locale: 'en-GB',
      timezoneId: 'UTC',
      viewport: { width: 1440, height: 860 },
    });
    await context.request.post(`${app.baseUrl}/v1/session`, {
      data: { link: (await inviteDemoPerson(app.database, systemClock())).token },
      headers: { origin: app.baseUrl },
    });
    const page = await context.newPage();
    for (const { name, path } of pictures) {
      await page.goto(app.baseUrl + path);
      await waitUntilLoaded(page);
      await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)));
      await page.screenshot({ path: join(target, `${name}-${colorScheme}.png`) });
      const description = JSON.stringify(await describePicture(page), null, 2);
      writeFileSync(join(target, `${name}.json`), `${description}\n`);
    }
    await context.close();
  }
} finally {
  await browser?.close();
  await app.close();
  rmSync(folder, { recursive: true });
}
