import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { startConsole, test } from './console.ts';
import { describePicture, pictures } from './picture.ts';

const console = startConsole();

test('the pictures in the README show the navigation, the title and the heading of this version', async (t) => {
  const [person] = (await console.get('/v1/personnel?limit=1')).data;
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  for (const { name, path } of pictures) {
    const page = await console.open(t, path, { user_id: person.user_id });
    const described = readFileSync(new URL(`../../docs/images/${name}.json`, import.meta.url), 'utf8');
    assert.deepEqual(await describePicture(page), JSON.parse(described), 'run `npm run screenshots`');
    for (const theme of ['light', 'dark']) assert.ok(readme.includes(`docs/images/${name}-${theme}.png`));
  }
});
