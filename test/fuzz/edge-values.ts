/** Lists texts that contain no space. */
const split = (texts: string) => texts.split(' ');

/** A small set, so that names collide and searches find matches. */
export const words = [
  'Ada',
  'Bo',
  'ada lovelace',
  ...split("Łukasz supply x Zoë ops 100% a_b O'Hara hr-1 7"),
];

/** Valid texts that often break programs. */
export const strangeTexts = [
  // Special in a spreadsheet, SQL, HTML, a path or JavaScript.
  ...[...split('=1+1 -5 @x " "" \\ % _ !'), "'; drop table people; --", ...split('null true $1 {{1}}')],
  ...[...split('a,b a;b <b> &amp; .. /'), 'a b  c', '__proto__', 'constructor'],
  // Change under Unicode normalization or case folding, have unusual lengths, or reverse the text direction.
  ...['\u202eabc', 'e\u0301', 'ﷺ', 'İ', 'ß', 'ﬁ', 'क़', '２', '½', 'ᄀ\u1161\u11a8', 'Z͑ͫ̓ͪ̂ͫ̽a', '𐍈', '👩‍👩‍👧‍👦'],
  ...['\ufeffx', 'a\u2028b', 'x\u00ady', '\u200d', '\u{10ffff}', '\uffff'],
];

/** Texts that are invalid or close to it. */
export const edgeTexts = [
  ...strangeTexts,
  ...['', ' ', ...split('\t \n a\nb \u0000 a\u0000b \u001b[31m \u0085 \ud800 a\udc00b \udc00\ud800')],
  ...[...split('NaN Infinity -0 1e3 0x10 01 1.0'), ' 1'],
  ...split('9007199254740993 -1 99999999999999999999'),
  ...split('2026-02-30 2026-13-01 0000-01-01 10000-01-01 2026-1-1 2026-11-15T25:00:00Z'),
  ...split('2026-11-15T09:30:00 0000-12-31T23:59:59-14:00 9999-12-31T23:59:59-14:00 2026-12-31T23:59:60Z'),
  ...split('toString hasOwnProperty prototype ../../etc/passwd %00 %zz javascript:alert(1) Mars/Phobos'),
  ...split('usr_ usr_00000000000000000000000000 prj_zzzzzzzzzzzzzzzzzzzzzzzzzz APOLLO-R0 A ABCDEFGHIJK'),
  ...['x'.repeat(201), 'x'.repeat(10_001), 'e\u0301\u0301'.repeat(300), '𐍈'.repeat(201), ' '.repeat(300)],
];

export const edgeNumbers = [
  ...[-1, 0, 0.5, 1.5, -0, 6, 26, 1001, 604_801],
  ...[2 ** 31, 2 ** 53, 2 ** 63, 1e21, 1e308, 5e-324],
];

/** Nearly valid bodies. */
export const edgeBodies = (valid: string, pick: number): (string | Buffer)[] => [
  valid.slice(0, pick % valid.length),
  ...[`${valid},`, valid + valid, `\ufeff${valid}`, '', ' '],
  ...split('\u0000 NaN {\'a\':1} {"a":1,} {"a":1e999} {"a":-}'),
  ...split('{"name":"a","name":"b"} {"__proto__":{"x":1},"name":"a"} {"constructor":{"prototype":1}}'),
  ...split('"\\ud800" "\u0000"'),
  Buffer.from(valid, 'utf16le'),
  Buffer.concat([
    Buffer.from(valid.slice(0, -1)),
    Buffer.from([0xff, 0xc0, 0x80]),
    Buffer.from(valid.slice(-1)),
  ]),
  Buffer.from([0xed, 0xa0, 0x80]),
];

export const edgeContentTypes = [
  ...['text/plain', 'application/xml', 'text/csv', 'application/x-ndjson', 'multipart/form-data; boundary=x'],
  ...['application/json; charset=utf-8', 'application/json;charset=latin1'],
  ...split('APPLICATION/JSON application/json; application/merge-patch+json application/json-patch+json'),
  ...split('application/vnd.api+json application/json5 application/x-www-form-urlencoded json / ; ,'),
  ...['', ' '],
];

export const edgePaths = (path: string): string[] => [
  ...[`${path}/`, `/${path}`, path.replaceAll('/', '//'), `${path}/..`, `${path}/.`, `/x/..${path}`],
  path.toUpperCase(),
  ...split('% %zz %00 %2F %C3%28 %E0%A4 ;x=1 #x * ? &limit=1').map((end) => path + end),
  ...split('%ED%A0%80 __proto__ . .. %2e%2e %00').map((last) => path.replace(/[^/]+$/, last)),
  ...[path.replace('v1', '%76%31'), path.replace('/v1', '/v2')],
  ...split('* // /% /v1 /v1/ //example.com/v1/risks http://example.com/v1/risks'),
  `http://127.0.0.1${path}`,
];

/** Unusual header values; `tag` is an ETag from the service. */
export function edgeHeaders(tag: string, text: string): [name: string, values: string[]][] {
  const printable = text.replace(/[^\x20-\x7e\xa0-\xff]/g, '?');
  const tags = ['*', '"1"', 'W/"1"', '"1", "2", "3"', '"999999"', '1', '', `${'"x",'.repeat(500)}"1"`];
  const headers: Record<string, string[]> = {
    'if-match': [...tags, tag],
    'if-none-match': [...tags, tag, `W/${tag}`, `"a", ${tag}`],
    'idempotency-key': ['k', '"k"', '', '"', '""', 'a b', 'x'.repeat(255), 'x'.repeat(256), 'ü'],
    accept: [
      ...split('*/* text/csv text/* application/*;q=0 */*;q=0 application/json;q=x image/png ;;,'),
      'text/csv;q=1.0, */*;q=0.9',
    ],
    'accept-encoding': ['identity;q=0', '*;q=0', 'gzip;q=2', 'nonsense', 'gzip,,br', 'zstd'],
    range: ['bytes=0-10', 'bytes=-1', 'rows=1-2'],
    'x-request-id': ['x', 'x'.repeat(5000), 'a b'],
    traceparent: ['00-00000000000000000000000000000000-0000000000000000-00', 'ff-x'],
    authorization: ['Basic YTpi', 'Bearer', 'Bearer ', 'bearer x', 'Bearer a b'],
    expect: ['100-continue', 'x'],
    origin: ['https://evil.example', 'null'],
    'access-control-request-method': ['DELETE'],
    'x-http-method-override': ['DELETE'],
    'x-forwarded-for': ['1.2.3.4, x', '::1'],
    'x-forwarded-host': ['evil.example'],
    host: ['evil.example', '['],
    te: ['trailers'],
    prefer: ['return=minimal'],
    'if-modified-since': ['x', 'Thu, 01 Jan 2099 00:00:00 GMT'],
    'if-unmodified-since': ['Thu, 01 Jan 1970 00:00:00 GMT'],
    'content-encoding': ['gzip', 'x'],
    cookie: ['a=b'],
    'accept-language': ['de'],
    'last-event-id': ['1'],
  };
  return Object.entries(headers).map(([name, values]) => [name, [...values, printable]]);
}
