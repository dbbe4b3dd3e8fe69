import { createElement, Fragment, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useHasScope } from '../api/session.ts';
import { type Block, type Inline, parseInline, parseMarkdown } from './markdown.ts';
import './markdown.css';

/** The people that a comment mentions. A text without them shows a mention as it was entered. */
type Mentions = readonly { user_id: string; name: string }[];

type Props = { text: string; mentions?: Mentions };

/** A text of several paragraphs. Everything in it becomes elements or text, never HTML. */
export function MarkdownText({ text, mentions }: Props) {
  const { blocks } = useElements(mentions);
  return <div className="markdown">{blocks(parseMarkdown(text))}</div>;
}

/** A text in a line of other text. Lists and quotes stay as they were entered. */
export function MarkdownLine({ text }: Props) {
  const { inline } = useElements();
  return <span className="markdown-line">{inline(parseInline(text))}</span>;
}

function useElements(mentions?: Mentions) {
  const canOpen = useHasScope()('personnel.read');
  const mentionOf = (userId: string) => {
    if (!mentions) return `@${userId}`;
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
          <a
            href={part.href}
            target="_blank"
            rel="noopener noreferrer"
            // On paper, the address follows its name.
            data-address={isAddress(part) ? undefined : part.href}
          >
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
  return { inline, blocks };
}

/** Whether the text of a link is its address, up to the slash that the browser adds. */
const isAddress = ({ href, children: [text] }: { href: string; children: Inline[] }) =>
  text === href || `${text}/` === href;
