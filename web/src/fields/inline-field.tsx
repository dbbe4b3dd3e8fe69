import { type MouseEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { actorId, useHasScope, useMe } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { type FieldOf, isPersonOrGroup, showValue } from '../components/form-values.ts';
import { MarkdownText } from '../components/markdown-text.tsx';
import { keyOf } from '../components/use-shortcut.ts';
import type { Editor } from './editor.ts';
import { InlineEditor, type OpenField } from './inline-editor.tsx';
import { readStored, storeField, valueIn } from './stored-field.ts';
import './fields.css';

type Props<Input, Item> = {
  editor: Editor<Input, Item>;
  field: FieldOf<Input>;
  /** The value as it is shown. */
  children: ReactNode;
  /** Keeps the value for screen readers while it is edited, because it is the heading of the page. */
  isHeading?: boolean;
};

/** A value that a click, or Enter or E on its button, turns into its input. */
export function InlineField<Input, Item extends object>({
  editor,
  field,
  children,
  isHeading = false,
}: Props<Input, Item>) {
  const storageKey = `muster-field ${actorId(useMe())} ${editor.id} ${field.name}`;
  const [open, setOpen] = useState(() => readStored(storageKey, field, editor.item));
  const frame = useRef<HTMLDivElement>(null);
  const isFocusDue = useRef(false);
  useEffect(() => {
    if (open || !isFocusDue.current) return;
    isFocusDue.current = false;
    frame.current?.querySelector<HTMLElement>('.inline-edit')?.focus();
  }, [open]);
  const change = (next: OpenField<Item> | undefined, isFocusInside = false) => {
    isFocusDue.current = isFocusInside;
    storeField(storageKey, field, next);
    setOpen(next);
  };
  const start = () => change({ base: editor.item, value: valueIn(field, editor.item), isFocused: true });
  if (open) {
    return (
      <>
        {isHeading && <div className="visually-hidden">{children}</div>}
        <InlineEditor editor={editor} field={field} open={open} change={change} />
      </>
    );
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a larger target for the button in it
    // biome-ignore lint/a11y/useKeyWithClickEvents: the button in it has the keys
    <div
      ref={frame}
      className="inline-value"
      onClick={(event) => {
        if (!isOnLink(event) && getSelection()?.isCollapsed !== false) start();
      }}
    >
      {isHeading ? children : <ShownValue>{children}</ShownValue>}
      <Button
        className="inline-edit"
        small
        plain
        icon="edit"
        aria-label={`Edit ${field.label}`}
        data-field={field.name}
        onPress={start}
        onKeyDown={(event) => {
          if (keyOf(event) !== 'e' || event.ctrlKey || event.metaKey || event.altKey) return;
          event.preventDefault();
          start();
        }}
      />
    </div>
  );
}

const ShownValue = ({ children }: { children: ReactNode }) =>
  isBlank(children) ? (
    <span className="quiet">Not set</span>
  ) : (
    <div dir={typeof children === 'string' ? 'auto' : undefined}>{children}</div>
  );

const isBlank = (value: ReactNode) =>
  value === null || value === undefined || value === false || value === '';

const isOnLink = ({ target }: MouseEvent) =>
  target instanceof Element && target.closest('a, button, .popover') !== null;

type Fact = readonly [name: string, value: ReactNode];

/** Makes facts of an item's fields that can be edited in place, unless the key in use can't edit them. */
export function useInlineFacts<Input, Item extends object>(editor: Editor<Input, Item>) {
  const toFact = useToFact();
  return (name: keyof Input & string, shown?: ReactNode, label?: string) =>
    toFact(editor, name, shown, label);
}

/** Makes a fact of a field of any item. */
export function useToFact() {
  const hasScope = useHasScope();
  return <Input, Item extends object>(
    editor: Editor<Input, Item>,
    name: keyof Input & string,
    shown?: ReactNode,
    label?: string,
  ): Fact => {
    const known = editor.fields.find((one) => one.name === name);
    if (!known) return [name, null];
    const field = label ? { ...known, label } : known;
    const text = showValue(field, editor.item);
    const formatted = field.kind === 'text' && text !== '' ? <MarkdownText text={text} /> : text;
    const value = shown === undefined ? formatted : shown;
    const isPicker = isPersonOrGroup(field);
    if (!editor.canEdit || (isPicker && !hasScope('personnel.read'))) return [field.label, value];
    return [
      field.label,
      <InlineField key={`${editor.id} ${name}`} editor={editor} field={field}>
        {value}
      </InlineField>,
    ];
  };
}
