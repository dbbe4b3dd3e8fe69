import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createContext, runInContext } from 'node:vm';
import { type AST, parseRegExpLiteral, visitRegExpAST } from '@eslint-community/regexpp';
import { parseSync, Visitor } from 'oxc-parser';
import { idPattern } from '../src/core/ids.ts';

/** Expressions that take more than linear time for some texts, with the reason why they never see a long one. */
const bounded: Record<string, string> = {
  'src/commands/checks/values.ts: /\\w+\\b(?!\\()/g': 'the names of columns of an index',
  'src/config.ts: /\\/+$/': 'a setting of the operator',
  'src/config.ts: /[\\r\\n]+$/': 'a file of the operator',
  'src/formats/json.ts: /"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"/g': 'valid JSON only, in which every string ends',
  "src/formats/json.ts: new RegExp(`${strings.source}|[{}:]`, 'g')":
    'valid JSON only, in which every string ends',
  'src/import/recognize/names.ts: /\\s*(?:\\/|\\bout of)\\s*\\d+\\s*$/': 'at most 100 characters',
  'src/import/recognize/values.ts: /\\d.*\\s|\\s.*\\d/': 'at most 100 characters',
  'src/import/write.ts: / and (?!.* and )/': 'names of fields',
  'src/pages/reference-operations.ts: /([^\\s/?&]* \\\\\\n)/':
    'examples of requests from the document of the API',
  'src/resources/passwords/hash.ts: /=+$/': 'hashes, which have one length',
  'src/resources/passwords/rules.ts: /^(.+?)\\1*$/': 'passwords, of at most 200 characters',
  'src/resources/risks/rules/scoring.ts: / and (?!.* and )/': 'the words of at most seven ratings',
};

/** What is made while the service runs, with an example of each. */
const madeLater: Record<string, RegExp> = {
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: they are how the sources read
  'new RegExp(idPattern(kind))': new RegExp(idPattern('person')),
  'new RegExp(idPattern(what))': new RegExp(idPattern('person')),
  'new RegExp(idPattern(importable.what))': new RegExp(idPattern('person')),
  "new RegExp(idPattern('project'))": new RegExp(idPattern('project')),
  "new RegExp(`@(${idPattern('person').slice(1, -1)})\\\\b`, 'g')": /@(usr_[0-9a-v]{26})\b/g,
  "new RegExp(`^([A-Z0-9]{2,10})-${kind[0]}[1-9][0-9]{0,9}$`, 'i')": /^([A-Z0-9]{2,10})-R[1-9][0-9]{0,9}$/i,
  "new RegExp(`^${url.replaceAll('.', '\\\\.').replace(/:\\w+/g, '[^/]+')}$`)":
    /^\/v1\/projects\/[^/]+\/risks\/[^/]+$/,
  "new RegExp(`^${route.replace(/:\\w+/, '[^/]+')}$`)": /^\/projects\/[^/]+$/,
  "new RegExp(`@(${names})(?![\\\\p{L}\\\\p{M}\\\\p{N}])`, 'gu')":
    /@(Ada Lovelace|Ada)(?![\p{L}\p{M}\p{N}])/gu,
  'new RegExp(`;\\\\s*${name}=(?:"((?:[^"\\\\\\\\]|\\\\\\\\.)*)"|([^\\\\s;]+))`, \'i\')':
    /;\s*filename=(?:"((?:[^"\\]|\\.)*)"|([^\s;]+))/i,
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: they are how the sources read
};

const root = join(import.meta.dirname, '..');

test('no regular expression takes more than linear time', async (t) => {
  const expressions = new Map([...(await inSources()), ...inSchemas()]);
  const known = new Set(Object.keys(bounded));
  const slow: string[] = [];
  for (const [name, expression] of expressions) {
    const slowness = slownessOf(expression);
    if (slowness && !known.delete(name)) slow.push(`${name}: ${slowness}`);
  }
  assert.deepEqual(slow, []);
  assert.deepEqual([...known], [], 'no longer there, or no longer slow');
  t.diagnostic(`${expressions.size} expressions`);
});

/** Those of the service and the console, and those with which the validator checks formats. */
async function inSources(): Promise<Map<string, RegExp>> {
  const found = new Map<string, RegExp>();
  const files = globSync(
    ['src/**/*.ts', 'web/src/**/*.{ts,tsx}', 'node_modules/typebox/build/format/email.mjs'],
    { cwd: root },
  );
  for (const file of files.filter((name) => !name.endsWith('.test.ts'))) {
    const text = readFileSync(join(root, file), 'utf8');
    const made: { source: string; line: number }[] = [];
    new Visitor({
      Literal(node) {
        if ('regex' in node)
          found.set(`${file}: ${node.raw}`, new RegExp(node.regex.pattern, node.regex.flags));
      },
      Property({ key, value }) {
        const isPattern = key.type === 'Identifier' && key.name === 'pattern';
        if (isPattern && value.type === 'Literal' && typeof value.value === 'string')
          found.set(`${file}: ${value.raw}`, new RegExp(value.value, 'u'));
      },
      NewExpression({ callee, start, end }) {
        if (callee.type === 'Identifier' && callee.name === 'RegExp')
          made.push({ source: text.slice(start, end), line: text.slice(0, start).split('\n').length });
      },
    }).visit(parseSync(file, text).program);
    const later = made.filter(({ source }) => !madeLater[source]);
    const loaded = later.length > 0 ? await madeByLoading(file) : new Map();
    for (const { source, line } of made) {
      const expression = madeLater[source] ?? loaded.get(line);
      assert.ok(expression, `${file}:${line}: add an example of ${source} to the table above`);
      found.set(`${file}: ${source}`, expression);
    }
  }
  return found;
}

/** The expressions that a module makes while it is loaded, by line. */
async function madeByLoading(file: string): Promise<Map<number, RegExp>> {
  const made = new Map<number, RegExp>();
  const original = RegExp;
  globalThis.RegExp = new Proxy(RegExp, {
    construct(target, args: [string, string?]) {
      const expression = new target(...args);
      const [, line] = new Error().stack?.match(`${file}[^:]*:(\\d+):`) ?? [];
      if (line) made.set(Number(line), expression);
      return expression;
    },
  });
  try {
    // A query makes it another module, which is loaded again.
    await import(`${join(root, file)}?expressions`);
  } finally {
    globalThis.RegExp = original;
  }
  return made;
}

/** The patterns of the schemas. */
function inSchemas(): Map<string, RegExp> {
  const found = new Map<string, RegExp>();
  JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8'), (key, value) => {
    if (key === 'pattern' && typeof value === 'string') found.set(`pattern ${value}`, new RegExp(value, 'u'));
    return value;
  });
  return found;
}

const lengths = [40, 1024, 8 * 1024];
const megabyte = 1024 * 1024;

interface Attack {
  prefix: string;
  repeated: string[];
  suffix: string;
}

const textOf = ({ prefix, repeated, suffix }: Attack, length: number) =>
  prefix +
  repeated.map((part) => part.repeat(Math.ceil(length / part.length / repeated.length))).join('') +
  suffix;

/** Says for which text the time of an expression grows faster than its length; undefined if there is none. */
function slownessOf(expression: RegExp): string | undefined {
  const everywhere = new RegExp(expression.source, `${expression.flags.replace('g', '')}g`);
  const attacks = attacksOn(everywhere);
  let current: { attack: Attack; length: number } | undefined;
  const attempt = (attack: Attack, length: number) => {
    current = { attack, length };
    const ms = msOf(everywhere, textOf(attack, length));
    const growth = ms < suspectMs ? 1 : growthOf(everywhere, attack, length);
    if (growth > pieces / 2) throw new Error(`${growth.toFixed(1)} times the time of ${pieces} pieces`);
    return ms;
  };
  try {
    return withTimeout(() => {
      for (const length of lengths.slice(0, -1)) for (const attack of attacks) attempt(attack, length);
      const times = new Map(attacks.map((attack) => [attack, attempt(attack, lengths.at(-1) as number)]));
      const slowest = attacks.toSorted((a, b) => (times.get(b) ?? 0) - (times.get(a) ?? 0)).slice(0, 3);
      for (const attack of slowest) attempt(attack, megabyte);
    });
  } catch (error) {
    return `${(error as Error).message}: ${JSON.stringify(current)}`;
  }
}

const context = createContext({ work() {} });

/** Ends work that would take hours: V8 looks for a limit of the time while it matches. */
function withTimeout(work: () => void): undefined {
  context.work = work;
  runInContext('work()', context, { timeout: 300_000 });
}

/** What takes less is not looked at again. */
const suspectMs = 2;

/**
 * How much longer a text takes than as much text in pieces: 1 in linear time, the number of pieces in quadratic time. It
 * compares the shortest of several attempts, because whatever else runs on the machine only adds to them.
 */
function growthOf(expression: RegExp, attack: Attack, length: number): number {
  const text = textOf(attack, length);
  const piece = textOf(attack, length / pieces);
  let whole = Number.POSITIVE_INFINITY;
  let apart = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 20; i++) {
    apart = Math.min(apart, msOf(expression, piece, pieces));
    whole = Math.min(whole, msOf(expression, text));
    if (whole < suspectMs || whole < 2 * apart) return 1;
  }
  return whole / apart;
}

const pieces = 16;

/** The time of looking for all matches. */
function msOf(expression: RegExp, text: string, times = 1): number {
  const start = performance.now();
  for (let i = 0; i < times; i++) {
    expression.lastIndex = 0;
    for (let last = -1; expression.test(text); last = expression.lastIndex)
      if (expression.lastIndex === last) expression.lastIndex++;
  }
  return performance.now() - start;
}

/**
 * What comes before each repeated part, then each kind of character that the expression tells apart, two of them, or a
 * text that a part matches. There is nothing to try if no part repeats without a bound: each place takes constant time.
 */
function attacksOn(expression: RegExp): Attack[] {
  const { pattern } = parseRegExpLiteral(expression);
  const kinds = kindsOf(pattern, expression.flags);
  const prefixes = new Set<string>();
  const words = new Set<string>();
  visitRegExpAST(pattern, {
    onQuantifierEnter(node) {
      if (node.max < 500) return;
      prefixes.add('').add(before(node));
      words.add(sample(node.element));
    },
    onAlternativeEnter: (node) => void words.add(node.elements.map(sample).join('')),
  });
  words.delete('');
  const pairs = kinds.flatMap((a) => kinds.flatMap((b) => (a === b ? [] : [[a + b], [a, b]])));
  const repeated = [...[...words, ...kinds].map((part) => [part]), ...pairs];
  return [...prefixes].flatMap((prefix) =>
    repeated.flatMap((parts) => ['', '\0'].map((suffix) => ({ prefix, repeated: parts, suffix }))),
  );

  function before(node: AST.Node): string {
    const { parent } = node;
    if (!parent) return '';
    if (parent.type !== 'Alternative') return before(parent);
    const earlier = parent.elements.slice(0, parent.elements.indexOf(node as AST.Element));
    return before(parent) + earlier.map(sample).join('');
  }

  /** A text that the part of the expression matches. */
  function sample(node: AST.Element): string {
    switch (node.type) {
      case 'Character':
        return String.fromCodePoint(node.value);
      case 'CharacterSet':
      case 'CharacterClass':
      case 'ExpressionCharacterClass':
        return kinds.find((kind) => new RegExp(`^(?:${node.raw})$`, expression.flags).test(kind)) ?? '';
      case 'CapturingGroup':
      case 'Group':
        return node.alternatives[0]?.elements.map(sample).join('') ?? '';
      case 'Quantifier':
        return sample(node.element).repeat(Math.max(1, node.min));
      case 'Backreference':
        return Array.isArray(node.resolved) ? '' : sample(node.resolved);
      default:
        return '';
    }
  }
}

const candidates = Array.from({ length: 0x180 }, (_, code) => String.fromCharCode(code)).concat(
  [...'\u0301\u200b\u2028–—’“”…，＝＋－＠ſK가中אक'],
  '😀',
  '\ud800',
);

/** One character of each kind: two are of a kind if no part of the expression matches only one of them. */
function kindsOf(pattern: AST.Pattern, flags: string): string[] {
  const parts = new Set<string>();
  visitRegExpAST(pattern, {
    onCharacterEnter: ({ value, raw }) =>
      void parts.add(value > 0xffff ? raw : `\\u${value.toString(16).padStart(4, '0')}`),
    onCharacterSetEnter: (node) => void parts.add(node.raw),
    onCharacterClassEnter: (node) => void parts.add(node.raw),
  });
  const matchers = [...parts].map((part) => new RegExp(`^(?:${part})$`, flags.replace(/[gy]/g, '')));
  return [
    ...Map.groupBy(candidates, (char) => matchers.map((matcher) => Number(matcher.test(char))).join('')),
  ].map(([, [char]]) => char as string);
}
