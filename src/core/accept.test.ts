import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { preferredEncoding, preferredType } from './accept.ts';

const available = ['zstd', 'br', 'gzip'] as const;

test('Accept-Encoding selects the greatest weight, of equal weights the first available', () => {
  const chosen = (header?: string) => {
    const { encoding, acceptsIdentity } = preferredEncoding(header, available);
    return `${encoding ?? 'none'}${acceptsIdentity ? '' : ' only'}`;
  };
  for (const [header, expected] of [
    [undefined, 'none'],
    ['', 'none'],
    ['identity', 'none'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip, deflate, br', 'br'],
    ['gzip, deflate', 'gzip'],
    ['x-gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['deflate', 'none'],
    ['*', 'zstd'],
    ['zstd;q=0, *', 'br'],
    ['gzip;q=1, br;q=0.5', 'gzip'],
    ['gzip;q=0.5, identity;q=0.8', 'none'],
    ['gzip;q=0.5, identity;q=0.5', 'gzip'],
    ['gzip;q=0', 'none'],
    ['gzip; q=0.001', 'gzip'],
    ['gzip;q=nonsense', 'none'],
    ['gzip;q=2', 'none'],
    ['identity;q=0', 'none only'],
    ['*;q=0', 'none only'],
    ['gzip, *;q=0', 'gzip only'],
    ['gzip, identity;q=0', 'gzip only'],
    ['identity, *;q=0', 'none'],
    [';;,,=', 'none'],
  ] as const)
    assert.equal(chosen(header), expected, String(header));
});

test('an encoding with weight 0 is never selected', () => {
  const element = fc.tuple(
    fc.constantFrom(...available, 'identity', '*', 'deflate'),
    fc.constantFrom('', ';q=0', ';q=0.5'),
  );
  fc.assert(
    fc.property(fc.array(element), (elements) => {
      const header = elements.map((parts) => parts.join('')).join(', ');
      const { encoding } = preferredEncoding(header, available);
      const last = new Map(elements);
      if (encoding !== undefined) assert.notEqual(last.get(encoding) ?? last.get('*') ?? ';q=0', ';q=0');
    }),
  );
});

test('Accept selects the greatest weight, of equal weights the type named first', () => {
  const types = ['application/json', 'application/x-ndjson', 'text/csv'] as const;
  for (const [header, expected] of [
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['text/html, application/xml;q=0.9, */*;q=0.8', 'application/json'],
    ['text/csv', 'text/csv'],
    ['TEXT/CSV; charset=utf-8', 'text/csv'],
    ['text/*', 'text/csv'],
    ['text/csv, */*', 'text/csv'],
    ['text/csv, application/json', 'text/csv'],
    ['text/csv;q=0.5, application/x-ndjson;q=0.7', 'application/x-ndjson'],
    ['application/json;version=2', 'application/json'],
    ['application/json;q=0, */*', 'application/x-ndjson'],
    ['application/json;q=0.1, */*', 'application/x-ndjson'],
    ['application/*;q=0, */*', 'text/csv'],
    ['image/png', undefined],
    ['application/json;q=0', undefined],
    ['application/json;q=nonsense', undefined],
    ['*/*;q=0', undefined],
    [';;,,=', undefined],
  ] as const)
    assert.equal(preferredType(header, types), expected, String(header));
});
