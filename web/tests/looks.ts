type Options = {
  /** Selects what is open. What is under it is not looked at. */
  layers: string;
  /** The looks that need no further check. */
  checked: readonly number[];
  checksPerLook: number;
};

/**
 * Runs in a page. Marks the elements with the attribute `data-contrast-checked` that look like those that were checked
 * before: elements, attributes and styles are the same in them and around them, at the same width and in the same theme.
 * Only texts, links and positions differ, such as in the rows of a list. Returns the looks of the others, and whether text
 * is in them.
 */
export function markCheckedLooks({ layers, checked, checksPerLook }: Options) {
  const mark = 'data-contrast-checked';
  const ignored =
    /^(id|href|for|title|value|name|datetime|tabindex|style|aria-(label|labelledby|describedby|controls|owns|rowindex)|data-(initials|key|contrast-checked))$/;
  const isPosition =
    /^(top|left|right|bottom|position|z-index|width|(min|max)-(width|height)|height|--trigger.*|--visual.*)$/;
  /** 53 bits, so that no two looks share one. */
  const hash = (text: string) => {
    let [a, b] = [0xdeadbeef, 0x41c6ce57];
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      a = Math.imul(a ^ code, 2654435761);
      b = Math.imul(b ^ code, 1597334677);
    }
    return (b & 0x1fffff) * 0x1_0000_0000 + (a >>> 0);
  };
  const isText = (node: Node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim() !== '';
  const ownLook = (one: Element) => {
    const attributes = [...one.attributes].filter(({ name }) => !ignored.test(name));
    const { style } = one as HTMLElement;
    const styles = [...style].filter((name) => !isPosition.test(name));
    return [
      one.tagName,
      ...attributes.map(({ name, value }) => `${name}=${value}`),
      ...styles.map((name) => `${name}:${style.getPropertyValue(name)}`),
    ].join(' ');
  };
  const inner = new Map<Element, number>();
  const innerLook = (one: Element): number => {
    const parts = [...one.childNodes].map((child) =>
      child instanceof Element ? innerLook(child) : isText(child) ? 'text' : '',
    );
    const look = hash([ownLook(one), ...parts].join('|'));
    inner.set(one, look);
    return look;
  };
  const counts = new Map(checked.map((look) => [look, checksPerLook]));
  const looks: number[] = [];
  let hasText = false;
  const walk = (one: Element, around: number) => {
    const look = hash(`${around} ${inner.get(one)}`);
    const count = counts.get(look) ?? 0;
    if (count >= checksPerLook) {
      for (const marked of [one, ...one.querySelectorAll('*')]) marked.setAttribute(mark, '');
      return;
    }
    counts.set(look, count + 1);
    looks.push(look);
    hasText ||= one.matches('input, select, textarea') || [...one.childNodes].some(isText);
    const path = hash(`${around} ${ownLook(one)}`);
    for (const child of one.children) walk(child, path);
  };
  const pathTo = (one: Element | null): number =>
    one ? hash(`${pathTo(one.parentElement)} ${ownLook(one)}`) : hash(theme);
  const theme = `${innerWidth} ${matchMedia('(prefers-color-scheme: dark)').matches}`;
  for (const one of document.querySelectorAll(`[${mark}]`)) one.removeAttribute(mark);
  const open = [...document.querySelectorAll(layers)];
  for (const root of open.length > 0 ? open : [document.body]) {
    innerLook(root);
    walk(root, pathTo(root.parentElement));
  }
  return { looks, hasText };
}
