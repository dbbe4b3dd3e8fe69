import { type Fragment, html } from './html.ts';

export const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

/** A value as written in a URL: items of a list are separated by commas. */
export const inUrl = (value: unknown) => (Array.isArray(value) ? value.map(shown).join(',') : value);

export const codes = (values: readonly unknown[], by: string) =>
  separated(
    values.map((value) => html`<code>${shown(value)}</code>`),
    by,
  );

/** Long names and paths may wrap between their parts. */
export const breakable = (text: string, at = /(?<=[_.])|(?=\/)/) => separated(text.split(at), html`<wbr>`);

export const separated = (parts: readonly Fragment[], by: Fragment): Fragment[] =>
  parts.flatMap((part, index) => (index === 0 ? [part] : [by, part]));
