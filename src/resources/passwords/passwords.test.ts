import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashPassword, verifyPassword } from './hash.ts';
import { passwordErrors } from './rules.ts';

const ada = { name: 'Ada Lovelace', email: 'ada.lovelace@engines.example' };
const codesOf = (password: string) => passwordErrors(password, ada).map(({ code }) => code);

test('a password has at least 15 characters, of any kind', () => {
  assert.deepEqual(codesOf('fourteen chars'), ['minLength']);
  assert.deepEqual(codesOf('x'.repeat(201)), ['maxLength']);
  for (const password of [
    'nine sparrows on a warm roof',
    'my dog loves sunshine and football',
    'ünterwegs nach Östersund',
    '雨の日は静かな図書館で古い地図を読む',
    '💡🌲🚲 lantern forest bicycle',
    'q7#Tz!m2@Lw9$Kx5',
    '8#2$9!4&7%1*6^3(0)',
    'tr0mbone-Xylophone',
    `${'long sentence with many words '.repeat(4)}`,
  ])
    assert.deepEqual(codesOf(password), [], password);
});

test('a password that is easy to guess is rejected', () => {
  for (const password of [
    'passwordpassword',
    'Password1234567!',
    'P@ssw0rdP@ssw0rd',
    'qwertyuiopasdfghjkl',
    '123456789012345',
    '987654321098765',
    'aaaaaaaaaaaaaaaaaaaa',
    'abcabcabcabcabcabc',
    'letmeinletmeinletmein',
    'iloveyou iloveyou',
    'welcome2026welcome',
    'correct horse battery staple',
    'Ada Lovelace 1815',
    'ada.lovelace@engines.example',
    'lovelaceadalovelace',
    'Summer2026Summer2026',
    'mustermustermuster',
  ])
    assert.deepEqual(codesOf(password), ['too_common'], password);
});

test('a rejected password says which rule, and what to use', () => {
  for (const [password, reason] of [
    ['1qaz2wsx3edc4rfv', /keys of the keyboard/],
    ['q1w2e3r4t5y6u7i8', /keys of the keyboard/],
    ['zaq12wsxcde34rfv', /keys of the keyboard/],
    ['qwertyuiop123456', /keys of the keyboard/],
    ['thequickbrownfox', /“thequickbrownfox” is a well-known password/],
    ['correct horse battery staple 9', /“correcthorsebatterystaple” is a well-known password/],
    ['manchesterunited', /well-known/],
    ['mynameisjohn1234', /common words/],
    ['monkey-sunshine-2026', /common words/],
    ['footballfootball', /well-known/],
    ['trustno1trustno1', /common words|repeats|well-known/],
    ['iloveyouforever1', /well-known/],
    ['1234qwerasdfzxcv', /keys of the keyboard/],
    ['Ada.Lovelace.2026', /your own name/],
  ] as const) {
    const [error] = passwordErrors(password, ada);
    assert.match(error?.detail ?? 'accepted', reason, password);
    assert.match(error?.detail ?? '', /four words and something of your own/);
  }
});

test('a password is stored as an argon2id hash with its parameters, each with a salt of its own', async () => {
  const [one, other] = await Promise.all([hashPassword('ﬁve words'), hashPassword('ﬁve words')]);
  assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  assert.notEqual(one, other);
  assert.ok(await verifyPassword('ﬁve words', one));
  // The same text in another Unicode form.
  assert.ok(await verifyPassword('five words', one));
  assert.ok(!(await verifyPassword('five words ', one)));
  for (const stored of [undefined, '', 'x', one.slice(0, -1)])
    assert.ok(!(await verifyPassword('five words', stored)));
});

test('checking an account without a password costs as much as a wrong password', async () => {
  const stored = await hashPassword('nine sparrows on a warm roof');
  // CPU time of all threads, which other work on the machine hardly changes.
  const costOf = async (hash: string | undefined) => {
    const start = process.cpuUsage();
    await verifyPassword('a wrong guess', hash);
    const { user, system } = process.cpuUsage(start);
    return user + system;
  };
  const costs: [number, number][] = [];
  for (let i = 0; i < 15; i++) costs.push([await costOf(stored), await costOf(undefined)]);
  const median = (at: 0 | 1) => costs.map((pair) => pair[at]).sort((a, b) => a - b)[7] ?? 0;
  const ratio = median(0) / median(1);
  assert.ok(ratio > 0.6 && ratio < 1.6, `${median(0)} µs and ${median(1)} µs`);
});
