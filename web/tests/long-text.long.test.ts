import assert from 'node:assert/strict';
import { assertAccessible } from './axe.ts';
import { startConsole, test, visit } from './console.ts';

const console = startConsole();

test('long texts are shown as Markdown with links, and edited as they were entered', async (t) => {
  const plan = '1. Ask the *second* supplier\n2. See [the contract](https://files.example.com/c?a=1)';
  const risk = await console.post('/v1/projects/APOLLO/risks', {
    title: 'Written in Markdown',
    description: 'First line\nsecond line\n\n- **Cost**: https://costs.example.com\n- Time',
    response_plan: plan,
  });
  await console.patch(`/v1/projects/APOLLO/risks/${risk.id}`, {
    status: 'closed',
    closure_reason: 'See [the minutes](https://minutes.example.com/7)',
    lessons: '> Ask *earlier*',
  });
  const page = await console.open(t, `/risks/${risk.key}`);
  const fact = (name: string) => page.locator('.fact', { has: page.locator('dt', { hasText: name }) });
  const link = fact('Response plan').getByRole('link', { name: 'the contract' });
  assert.deepEqual(await link.evaluate(({ href, rel, target }: HTMLAnchorElement) => [href, rel, target]), [
    'https://files.example.com/c?a=1',
    'noopener noreferrer',
    '_blank',
  ]);
  assert.equal(await fact('Response plan').locator('ol > li').count(), 2);
  assert.equal(await fact('Description').locator('ul strong').textContent(), 'Cost');
  assert.equal(await fact('Description').locator('p').first().innerText(), 'First line\nsecond line');
  await fact('Closure reason').getByRole('link', { name: 'the minutes' }).waitFor();
  assert.equal(await fact('Lessons learned').locator('blockquote em').textContent(), 'earlier');
  await assertAccessible(page, 'Markdown in a risk');

  await page.getByRole('button', { name: 'Edit Response plan' }).press('Enter');
  const input = page.getByRole('textbox', { name: 'Response plan' });
  assert.equal(await input.inputValue(), plan, 'the source is edited');
  await input.press('Escape');
  await page.emulateMedia({ media: 'print' });
  const printed = await page.evaluate(() =>
    [...document.querySelectorAll('.markdown a')].map((one) => getComputedStyle(one, '::after').content),
  );
  assert.deepEqual(
    printed.filter((content) => content !== 'none'),
    ['" (https://minutes.example.com/7)"', '" (https://files.example.com/c?a=1)"'],
    'on paper, the address follows the name of a link',
  );
});

test('hostile text is inert wherever a long text is shown', async (t) => {
  const hostile =
    '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\n' +
    '[a](javascript:window.hacked=1) [b](data:text/html,x) [c](//evil.example) ![d](https://evil.example/d.png)\n' +
    '<a href="javascript:window.hacked=1">e</a> [f](JaVaScRiPt:window.hacked=1) @usr_00000000000000000000000000';
  const texts = { description: hostile, response_plan: hostile, contingency_plan: hostile, trigger: hostile };
  const risk = await console.post('/v1/projects/APOLLO/risks', { title: 'Hostile', ...texts });
  await console.patch(`/v1/projects/APOLLO/risks/${risk.id}`, {
    status: 'closed',
    closure_reason: hostile,
    lessons: hostile,
  });
  await console.patch(`/v1/projects/APOLLO/risks/${risk.id}`, { status: 'open', reason: hostile });
  const issue = await console.post('/v1/projects/APOLLO/issues', {
    title: 'Hostile',
    severity: 'critical',
    priority: 'urgent',
    description: hostile,
    status: 'blocked',
    blocked_reason: hostile,
  });
  const group = await console.post('/v1/groups', { name: 'Hostile', description: hostile });
  const page = await console.open(t, '/');
  for (const path of [
    `/risks/${risk.key}`,
    `/issues/${issue.key}`,
    `/groups/${group.id}`,
    '/groups',
    '/report?project=APOLLO',
  ]) {
    await visit(page, path);
    await page.getByText('onerror').first().waitFor();
    const found: unknown = await page.evaluate(() => ({
      elements: [...document.querySelectorAll('main img, main script, main [onerror], main iframe')].length,
      links: [...document.querySelectorAll('main a')]
        .map((one) => (one as HTMLAnchorElement).protocol)
        .filter((protocol) => !protocol.startsWith('http')),
      isHacked: 'hacked' in window,
    }));
    assert.deepEqual(found, { elements: 0, links: [], isHacked: false }, path);
    const names: (string | null)[][] = await page
      .locator('main a[target=_blank]')
      .evaluateAll((all) => all.map((one) => [one.textContent, one.getAttribute('href')]));
    for (const [name, href] of names)
      assert.deepEqual([name, href], ['d', 'https://evil.example/d.png'], 'an image is only a link');
    assert.equal(await page.getByText('Deleted person').count(), 0);
  }
});
