import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { hashSecret, looksLikeSecret, newSecret } from './secret.ts';

test('a secret is mst_, 32 random characters and a checksum', () => {
  const secrets = Array.from({ length: 200 }, newSecret);
  assert.equal(new Set(secrets).size, 200);
  for (const secret of secrets) {
    assert.match(secret, /^mst_[0-9A-Za-z]{38}$/);
    assert.ok(looksLikeSecret(secret));
  }
});

test('a secret with one changed character is rejected without a query', () => {
  const other = (character: string) => (character === 'a' ? 'b' : 'a');
  fc.assert(
    fc.property(fc.integer({ min: 4, max: 41 }), (at) => {
      const secret = newSecret();
      assert.ok(!looksLikeSecret(secret.slice(0, at) + other(secret[at] ?? '') + secret.slice(at + 1)));
    }),
  );
  for (const text of ['', 'mst_', 'mst_x', `${newSecret()}x`, ` ${newSecret()}`])
    assert.ok(!looksLikeSecret(text));
});

test('only the SHA-256 of a secret is stored', () => {
  assert.equal(hashSecret('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});
