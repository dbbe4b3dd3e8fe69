import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertMention, mentionAt, toBody, toEditable } from '../src/comments/mentions.ts';
import { type Block, type Inline, parseMarkdown, plainText } from '../src/components/markdown.ts';

/** The parsed text as short HTML, to compare it at a glance. */
const show = (text: string) => parseMarkdown(text).map(showBlock).join('');

function showBlock(block: Block): string {
  if (block.kind === 'paragraph') return `<p>${block.children.map(showInline).join('')}</p>`;
  if (block.kind === 'code') return `<pre>${block.text}</pre>`;
  if (block.kind === 'quote') return `<quote>${block.children.map(showBlock).join('')}</quote>`;
  const tag = block.isOrdered ? `ol ${block.start}` : 'ul';
  return `<${tag}>${block.items.map((item) => `<li>${item.map(showBlock).join('')}</li>`).join('')}</${tag}>`;
}

function showInline(part: Inline): string {
  if (typeof part === 'string') return part;
  if (part.kind === 'code') return `<code>${part.text}</code>`;
  if (part.kind === 'mention') return `<${part.userId.slice(0, 4)}>`;
  const children = part.children.map(showInline).join('');
  return part.kind === 'link'
    ? `<a ${part.href}>${children}</a>`
    : `<${part.kind}>${children}</${part.kind}>`;
}

const ada = { user_id: `usr_${'a'.repeat(26)}`, name: 'Ada Eze' };
const otherAda = { user_id: `usr_${'b'.repeat(26)}`, name: 'Ada Eze' };
const al = { user_id: `usr_${'c'.repeat(26)}`, name: 'Al' };

test('emphasis, code, links, lists and quotes are recognized', () => {
  const cases: [text: string, shown: string][] = [
    [
      'a **b** *c* _d_ __e__',
      '<p>a <strong>b</strong> <emphasis>c</emphasis> <emphasis>d</emphasis> <strong>e</strong></p>',
    ],
    ['***a***', '<p><strong><emphasis>a</emphasis></strong></p>'],
    ['*a **b** c*', '<p><emphasis>a <strong>b</strong> c</emphasis></p>'],
    ['`a *b*` ``c`d``', '<p><code>a *b*</code> <code>c`d</code></p>'],
    [
      '[the *plan*](https://example.com/a_b)',
      '<p><a https://example.com/a_b>the <emphasis>plan</emphasis></a></p>',
    ],
    [
      'see https://example.com/x_y_z.',
      '<p>see <a https://example.com/x_y_z>https://example.com/x_y_z</a>.</p>',
    ],
    ['one\ntwo\n\nthree', '<p>one\ntwo</p><p>three</p>'],
    [
      '- a\n- b\n  - c\n- d',
      '<ul><li><p>a</p></li><li><p>b</p><ul><li><p>c</p></li></ul></li><li><p>d</p></li></ul>',
    ],
    ['3. a\n4. b', '<ol 3><li><p>a</p></li><li><p>b</p></li></ol 3>'],
    ['> a\n> - b\n\nc', '<quote><p>a</p><ul><li><p>b</p></li></ul></quote><p>c</p>'],
    ['```ts\n*a*\n\n<b>\n```\nc', '<pre>*a*\n\n<b></pre><p>c</p>'],
    [`for @${ada.user_id}!`, '<p>for <usr_>!</p>'],
  ];
  for (const [text, shown] of cases) assert.equal(show(text), shown, text);
});

test('the words of a text stand on one line without markup', () => {
  const nameOf = (userId: string) => (userId === ada.user_id ? ada.name : 'Deleted person');
  for (const [text, words] of [
    [
      `**Done** by @${ada.user_id}, see [the plan](https://example.com/a_b)`,
      'Done by @Ada Eze, see the plan',
    ],
    ['- one\n- *two*\n\n> quoted `code`', 'one two quoted code'],
    ['```\na\n  b\n```\nafter', 'a b after'],
    [`5 * 3 * 2 @${al.user_id}`, '5 * 3 * 2 @Deleted person'],
    ['  \n ', ''],
  ] as const)
    assert.equal(plainText(text, nameOf), words);
});

test('everything else is plain text', () => {
  for (const text of [
    '<script>alert(1)</script>',
    '# heading',
    '![image](x)',
    '2 * 3 * 4',
    'snake_case_name and a_b_',
    '**open and *open',
    '`open',
    '[a](javascript:alert(1))',
    '[a](data:text/html,x) [b](/relative)',
    '@usr_short and @Ada Eze',
    'a@b.example',
  ])
    assert.equal(show(text), `<p>${text}</p>`);
  assert.equal(show(String.raw`\*a\* \@b`), '<p>*a* @b</p>');
});

test('hostile text is parsed in bounded depth and reasonable time', () => {
  for (const part of ['*', '_', '`', '[', '](', '> ', '- ', '**a', '[a](', '``a`', '\\', '@', 'https://'])
    assert.ok(parseMarkdown(part.repeat(10_000 / part.length)).length > 0, part);
  assert.ok(parseMarkdown('> '.repeat(5000)).length > 0);
});

test('names of picked people are sent as user ids, and shown as names again', () => {
  const text = 'To @Ada Eze, @Al and @Alice; not ada@Example.';
  const body = toBody({ text, people: [al, ada] });
  assert.equal(body, `To @${ada.user_id}, @${al.user_id} and @Alice; not ada@Example.`);
  assert.deepEqual(toEditable(body, [ada, al]), { text, people: [ada, al] });
  const twins = toEditable(`@${ada.user_id} @${otherAda.user_id}`, [ada, otherAda]);
  assert.equal(twins.text, '@Ada Eze @Ada Eze (2)');
  assert.equal(toBody(twins), `@${ada.user_id} @${otherAda.user_id}`);
});

test('a mention starts at an @ before the caret, and a picked person replaces what was typed', () => {
  assert.deepEqual(mentionAt('Ask @ada e', 10), { start: 4, query: 'ada e' });
  assert.deepEqual(mentionAt('@', 1), { start: 0, query: '' });
  for (const text of ['ada@example', 'Ask @ ada', 'Ask @ada\n']) {
    assert.equal(mentionAt(text, text.length), undefined, text);
  }
  const { next, caret } = insertMention(
    { text: 'Ask @ada e today', people: [] },
    { start: 4, caret: 10, person: ada },
  );
  assert.equal(next.text, 'Ask @Ada Eze today');
  assert.equal(next.text.slice(0, caret), 'Ask @Ada Eze ');
  assert.deepEqual(next.people, [ada]);
});
