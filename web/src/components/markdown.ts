/** The Markdown of comments and long texts: emphasis, code, links, lists and quotes. Everything else is plain text. */
export type Inline =
  | string
  | { kind: 'strong' | 'emphasis'; children: Inline[] }
  | { kind: 'code'; text: string }
  | { kind: 'link'; href: string; children: Inline[] }
  | { kind: 'mention'; userId: string };

export type Block =
  | { kind: 'paragraph'; children: Inline[] }
  | { kind: 'code'; text: string }
  | { kind: 'quote'; children: Block[] }
  | { kind: 'list'; isOrdered: boolean; start: number; items: Block[][] };

/** Deeper nesting is shown as text, so that hostile input can't exhaust the stack. */
const maxDepth = 6;

export const parseMarkdown = (text: string): Block[] => parseBlocks(text.split('\n'), 0);

/** The words of a text on one line, without its markup. `nameOf` returns the name of a mentioned person. */
export function plainText(text: string, nameOf = (userId: string) => userId): string {
  const ofInline = (part: Inline): string => {
    if (typeof part === 'string') return part;
    if (part.kind === 'code') return part.text;
    if (part.kind === 'mention') return `@${nameOf(part.userId)}`;
    return part.children.map(ofInline).join('');
  };
  const ofBlock = (block: Block): string => {
    if (block.kind === 'code') return block.text;
    if (block.kind === 'quote') return block.children.map(ofBlock).join(' ');
    if (block.kind === 'list') return block.items.flat().map(ofBlock).join(' ');
    return block.children.map(ofInline).join('');
  };
  return parseMarkdown(text).map(ofBlock).join(' ').replace(/\s+/g, ' ').trim();
}

const bullet = /^ {0,3}[-*+] +(?=\S)/;
const number = /^ {0,3}(\d{1,9})[.)] +(?=\S)/;
const quote = /^ {0,3}> ?/;
const fence = /^ {0,3}(```+|~~~+)/;

function parseBlocks(lines: readonly string[], depth: number): Block[] {
  const blocks: Block[] = [];
  let index = 0;
  /** Reads the lines of one block. The first one is not tested again. */
  const takeWhile = (belongs: (line: string) => boolean) => {
    const start = index;
    index += 1;
    while (index < lines.length && belongs(lines[index] ?? '')) index += 1;
    return lines.slice(start, index);
  };
  while (index < lines.length) {
    const line = lines[index] ?? '';
    const [, opening] = fence.exec(line) ?? [];
    if (line.trim() === '') index += 1;
    else if (opening) {
      const body = takeWhile((next) => !next.trim().startsWith(opening));
      index += 1;
      blocks.push({ kind: 'code', text: body.slice(1).join('\n') });
    } else if (depth < maxDepth && quote.test(line)) {
      const body = takeWhile((next) => quote.test(next)).map((next) => next.replace(quote, ''));
      blocks.push({ kind: 'quote', children: parseBlocks(body, depth + 1) });
    } else if (depth < maxDepth && (bullet.test(line) || number.test(line))) {
      const marker = bullet.test(line) ? bullet : number;
      const body = takeWhile((next) => marker.test(next) || /^ {2,}\S/.test(next));
      blocks.push(listOf(body, marker, depth));
    } else {
      const body = takeWhile((next) => next.trim() !== '' && !startsBlock(next, depth));
      blocks.push({ kind: 'paragraph', children: parseInline(body.join('\n')) });
    }
  }
  return blocks;
}

const startsBlock = (line: string, depth: number) =>
  fence.test(line) || (depth < maxDepth && [quote, bullet, number].some((pattern) => pattern.test(line)));

function listOf(lines: readonly string[], marker: RegExp, depth: number): Block {
  const items: string[][] = [];
  let width = 0;
  for (const line of lines) {
    const [found] = marker.exec(line) ?? [];
    // A marker that is indented as far as the text of the item starts a list inside it.
    if (found && (items.length === 0 || line.search(/\S/) < width)) {
      width = found.length;
      items.push([line.slice(width)]);
    } else items.at(-1)?.push(line.replace(/^ {2,4}/, ''));
  }
  const start = Number(number.exec(lines[0] ?? '')?.[1] ?? 1);
  return {
    kind: 'list',
    isOrdered: marker === number,
    start,
    items: items.map((item) => parseBlocks(item, depth + 1)),
  };
}

const special = /[\\`*_[@]|https?:\/\//g;
const mention = /@(usr_[0-9a-v]{26})\b/y;
const bareUrl = /https?:\/\/[^\s<>"`]*[^\s<>"`.,:;!?'*_)\]]/y;
const linkTarget = /\]\(([^\s()]+)\)/y;

/** Emphasis that is opened but not closed is text. */
export function parseInline(text: string, depth = 0): Inline[] {
  if (depth > maxDepth) return [text];
  const parts: Inline[] = [];
  /** Delimiters without another one further on. They are not searched for again, which would take quadratic time. */
  const unclosed = new Set<string>();
  let plainFrom = 0;
  let index = 0;
  const findClosing = (delimiter: string, from: number) => {
    const at = unclosed.has(delimiter) ? -1 : indexOfDelimiter(text, delimiter, from);
    if (at === -1) unclosed.add(delimiter);
    return at;
  };
  const parse = (from: number, to: number) => parseInline(text.slice(from, to), depth + 1);
  /** The part that starts at `index` and where it ends. */
  const readPart = (): [part: Inline, end: number] | undefined => {
    const character = text[index] ?? '';
    if (character === '\\') {
      const escaped = text[index + 1] ?? '';
      return /[\\`*_[\]()@>#+.!-]/.test(escaped) ? [escaped, index + 2] : undefined;
    }
    if (character === '`') {
      const ticks = /`+/y;
      ticks.lastIndex = index;
      const [delimiter = '`'] = ticks.exec(text) ?? [];
      const from = index + delimiter.length;
      const end = findClosing(delimiter, from);
      return end === -1 ? undefined : [{ kind: 'code', text: text.slice(from, end) }, end + delimiter.length];
    }
    if (character === '@') {
      const [found, userId] = matchAt(mention, text, index);
      return userId ? [{ kind: 'mention', userId }, index + (found?.length ?? 0)] : undefined;
    }
    if (character === '[') {
      const end = findClosing('](', index + 1);
      const [found, target = ''] = end === -1 ? [] : matchAt(linkTarget, text, end);
      const href = safeUrl(target);
      if (!found || !href) return undefined;
      return [{ kind: 'link', href, children: parse(index + 1, end) }, end + found.length];
    }
    if (character === 'h') {
      const [found] = matchAt(bareUrl, text, index);
      const href = found && safeUrl(found);
      return href ? [{ kind: 'link', href, children: [found] }, index + found.length] : undefined;
    }
    const delimiter = text[index + 1] === character ? character.repeat(2) : character;
    const from = index + delimiter.length;
    const end = findClosing(delimiter, from);
    const isInWord = character === '_' && (isWord(text[index - 1]) || isWord(text[end + delimiter.length]));
    if (end <= from || isInWord || isSpace(text[from]) || isSpace(text[end - 1])) return undefined;
    const kind = delimiter.length === 2 ? 'strong' : 'emphasis';
    return [{ kind, children: parse(from, end) }, end + delimiter.length];
  };
  while (index < text.length) {
    special.lastIndex = index;
    const found = special.exec(text);
    if (!found) break;
    index = found.index;
    const part = readPart();
    if (part) {
      if (index > plainFrom) parts.push(text.slice(plainFrom, index));
      parts.push(part[0]);
      index = part[1];
      plainFrom = index;
    } else index += runLength(text, index);
  }
  if (plainFrom < text.length) parts.push(text.slice(plainFrom));
  return parts;
}

/** `**` does not end what `*` started. The last two of `***` end what `**` started. */
function indexOfDelimiter(text: string, delimiter: string, from: number): number {
  const [character = ''] = delimiter;
  let at = text.indexOf(delimiter, from);
  if (!'*_'.includes(character)) return at;
  while (at !== -1 && delimiter.length === 1 && text[at + 1] === character)
    at = text.indexOf(delimiter, at + runLength(text, at));
  return at !== -1 && delimiter.length === 2 && text[at + 2] === character ? at + 1 : at;
}

/** The number of delimiters in a row, which are text together. */
function runLength(text: string, index: number): number {
  let end = index + 1;
  while ('`*_'.includes(text[index] ?? ' ') && text[end] === text[index]) end += 1;
  return end - index;
}

const isWord = (character = '') => /[\p{L}\p{N}]/u.test(character);
const isSpace = (character = ' ') => /\s/.test(character);

function matchAt(pattern: RegExp, text: string, index: number): (string | undefined)[] {
  pattern.lastIndex = index;
  return pattern.exec(text) ?? [];
}

/** Only addresses that open a page or an e-mail: a `javascript:` link would run in the console. */
function safeUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, href } = new URL(text);
  return ['http:', 'https:', 'mailto:'].includes(protocol) ? href : undefined;
}
