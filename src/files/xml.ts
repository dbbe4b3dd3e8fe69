export type Element = { attributes: string; content: string; start: number; end: number };

/**
 * The elements of a name in a text, in its order, as far as they are there in whole. Only what the files of spreadsheets
 * need: an element never stands inside another of its name. It looks at each character a fixed number of times,
 * whatever the text.
 */
export function* elementsIn(text: string, name: string): Generator<Element> {
  const opening = `<${name}`;
  const closing = `</${name}>`;
  for (let at = text.indexOf(opening); at !== -1; at = text.indexOf(opening, at)) {
    const start = at;
    const afterName = start + opening.length;
    at = afterName;
    // A longer name that begins alike is another element.
    if (!/[\s/>]/.test(text[afterName] ?? '')) continue;
    const tagEnd = text.indexOf('>', afterName);
    if (tagEnd === -1) return;
    const isEmpty = text[tagEnd - 1] === '/';
    const contentEnd = isEmpty ? tagEnd + 1 : text.indexOf(closing, tagEnd);
    if (contentEnd === -1) return;
    at = isEmpty ? contentEnd : contentEnd + closing.length;
    yield {
      attributes: text.slice(afterName, isEmpty ? tagEnd - 1 : tagEnd),
      content: isEmpty ? '' : text.slice(tagEnd + 1, contentEnd),
      start,
      end: at,
    };
  }
}

/** The content of the first element of a name. */
export function contentIn(text: string, name: string): string | undefined {
  const [first] = elementsIn(text, name);
  return first?.content;
}

/** Makes a reader of one attribute. */
export function attributeNamed(name: string) {
  const pattern = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`);
  return (attributes: string): string | undefined => {
    const [, double, single] = pattern.exec(attributes) ?? [];
    const value = double ?? single;
    return value === undefined ? undefined : unescapeXml(value);
  };
}

export function unescapeXml(text: string): string {
  if (!text.includes('&') && !text.includes('<')) return text;
  return text
    .split(/<!\[CDATA\[(.*?)\]\]>/s)
    .map((part, i) => (i % 2 === 1 ? part : part.replace(/&(#x?)?(\w+);/g, character)))
    .join('');
}

const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function character(entity: string, number: string | undefined, name: string): string {
  if (number === undefined) return named[name] ?? entity;
  const point = Number.parseInt(name, number === '#x' ? 16 : 10);
  return point <= 0x10ffff ? String.fromCodePoint(point) : entity;
}

export const escapeXml = (text: string) =>
  /[&<>"]/.test(text)
    ? text.replace(/[&<>"]/g, (special) => `&${{ '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot' }[special]};`)
    : text;
