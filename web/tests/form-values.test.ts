import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedValues, type FieldOf, toDraft } from '../src/components/form-values.ts';

type Input = { skills: string[] };

const fields: FieldOf<Input>[] = [{ name: 'skills', label: 'Skills', kind: 'list' }];

const changed = (from: string[], to: string) =>
  changedValues<Input>(fields, { skills: to }, { skills: from });

test('an item of a list that has a comma stays one item', () => {
  const skills = ['Planning, budgets', 'Law', '"Agile", by the book', '24" pipes', ' Spaces'];
  const draft = toDraft(fields, { skills });
  assert.equal(draft.skills, '"Planning, budgets", Law, """Agile"", by the book", 24" pipes,  Spaces');
  assert.deepEqual(changedValues<Input>(fields, draft, { skills }), {});
  assert.deepEqual(changed(skills, `${draft.skills}, Rust`), {
    skills: [...skills.slice(0, 4), 'Spaces', 'Rust'],
  });
});

test('items are separated by commas, and a quote that does not end is a character', () => {
  for (const [text, items] of [
    ['', []],
    [' , ,', []],
    ['a,b , c', ['a', 'b', 'c']],
    ['"a, b", c', ['a, b', 'c']],
    ['"a, b" , "c"', ['a, b', 'c']],
    ['"a, b', ['"a', 'b']],
    ['"a" b, c', ['"a" b', 'c']],
    ['5" pipe, 6" pipe', ['5" pipe', '6" pipe']],
  ] as const)
    assert.deepEqual(changed(['other'], text), { skills: items }, text);
});
