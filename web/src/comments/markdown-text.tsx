import { createElement, Fragment, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useHasScope } from '../api/session.ts';
import { type Block, type Inline, parseMarkdown } from './markdown.ts';
import type { Mention } from './mentions.ts';

/** The text of a comment. Everything in it becomes elements or text, never HTML. */
export function MarkdownText({ text, mentions }: { text: string; mentions: readonly Mention[] }) {
  const canOpen = useHasScope()('personnel.read');
  const mentionOf = (userId: string) => {
    const name = mentions.find(({ user_id }) => user_id === userId)?.name;
    if (name === undefined) return <span className="mention">@Deleted person</span>;
    if (!canOpen) return <bdi className="mention">@{name}</bdi>;
    return (
      <Link className="mention" href={`/personnel/${userId}`}>
        <bdi>@{name}</bdi>
      </Link>
    );
  };
  // Spread children need no keys: the parts of a text have no identity.
  const inline = (parts: readonly Inline[]): ReactNode =>
    createElement(Fragment, null, ...parts.map(inlineElement));
  const inlineElement = (part: Inline): ReactNode => {
    if (typeof part === 'string') return part;
    switch (part.kind) {
      case 'strong':
        return <strong>{inline(part.children)}</strong>;
      case 'emphasis':
        return <em>{inline(part.children)}</em>;
      case 'code':
        return <code>{part.text}</code>;
      case 'link':
        return (
          <a href={part.href} target="_blank" rel="noreferrer">
            {inline(part.children)}
          </a>
        );
      case 'mention':
        return mentionOf(part.userId);
    }
  };
  const blocks = (parts: readonly Block[]): ReactNode =>
    createElement(Fragment, null, ...parts.map(blockElement));
  const blockElement = (block: Block): ReactNode => {
    switch (block.kind) {
      case 'paragraph':
        return <p dir="auto">{inline(block.children)}</p>;
      case 'code':
        return <pre>{block.text}</pre>;
      case 'quote':
        return <blockquote>{blocks(block.children)}</blockquote>;
      case 'list': {
        const items = block.items.map((item) => createElement('li', null, blocks(item)));
        return block.isOrdered
          ? createElement('ol', { start: block.start }, ...items)
          : createElement('ul', null, ...items);
      }
    }
  };
  return <div className="markdown">{blocks(parseMarkdown(text))}</div>;
}
