import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { api, dataOrThrow } from '../api/client.ts';
import { useHasScope } from '../api/session.ts';
import { useDebounced } from '../components/use-debounced.ts';
import { isComposing } from '../components/use-shortcut.ts';
import { matchesText, pluralize } from '../format.ts';
import { type EditableText, insertMention, mentionAt } from './mentions.ts';

type Props = {
  label: string;
  value: EditableText;
  onChange: (next: EditableText) => void;
  onSubmit: () => void;
  onCancel?: () => void;
  isInvalid: boolean;
  isReadOnly: boolean;
  autoFocus?: boolean;
};

/**
 * A text field that suggests people after an `@`: arrows choose, Enter and Tab accept, Escape closes. The focus stays in
 * the text, so screen readers follow `aria-activedescendant`.
 */
export function MentionBox(props: Props) {
  const { label, value, onChange, onSubmit, onCancel, isInvalid, isReadOnly, autoFocus } = props;
  const id = useId();
  const input = useRef<HTMLTextAreaElement>(null);
  const [caret, setCaret] = useState(0);
  const [isFocused, setFocused] = useState(false);
  const [active, setActive] = useState(0);
  /** The position of an `@` whose suggestions were closed or accepted. */
  const [dismissed, setDismissed] = useState<number>();
  const found = mentionAt(value.text, caret);
  const isPicked = value.people.some(({ name }) => found?.query.startsWith(name));
  const mention = found && found.start !== dismissed && !isPicked && isFocused ? found : undefined;
  const people = usePeople(mention?.query);
  const isOpen = mention !== undefined && people.length > 0;
  const activeIndex = Math.min(active, people.length - 1);
  const pendingCaret = useRef<number>(undefined);

  useEffect(() => {
    const element = input.current;
    if (!autoFocus || !element) return;
    element.focus();
    element.setSelectionRange(element.value.length, element.value.length);
  }, [autoFocus]);
  // React puts the caret at the end of a text that did not come from typing.
  useLayoutEffect(() => {
    if (pendingCaret.current === undefined) return;
    input.current?.setSelectionRange(pendingCaret.current, pendingCaret.current);
    pendingCaret.current = undefined;
  });

  const pick = (index: number) => {
    const person = people[index];
    if (!mention || !person) return;
    const inserted = insertMention(value, { start: mention.start, caret, person });
    pendingCaret.current = inserted.caret;
    setCaret(inserted.caret);
    setDismissed(mention.start);
    onChange(inserted.next);
    input.current?.focus();
  };

  const pressInList = (event: KeyboardEvent): boolean => {
    if (event.key === 'ArrowDown') setActive((activeIndex + 1) % people.length);
    else if (event.key === 'ArrowUp') setActive((activeIndex + people.length - 1) % people.length);
    else if (event.key === 'Enter' || event.key === 'Tab') pick(activeIndex);
    else if (event.key === 'Escape') setDismissed(mention?.start);
    else return false;
    return true;
  };

  const press = (event: KeyboardEvent) => {
    // Enter ends the composition of a character in some scripts.
    if (isComposing(event.nativeEvent)) return;
    const isSubmit = event.key === 'Enter' && (event.ctrlKey || event.metaKey);
    if (isSubmit) {
      if (!event.repeat) onSubmit();
    } else if (isOpen && !event.ctrlKey && !event.metaKey && !event.altKey && pressInList(event)) {
    } else if (event.key === 'Escape' && onCancel) onCancel();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div className="mention-box">
      <textarea
        ref={input}
        aria-label={label}
        placeholder={label}
        rows={3}
        readOnly={isReadOnly}
        dir="auto"
        value={value.text}
        aria-autocomplete="list"
        aria-controls={isOpen ? `${id}-people` : undefined}
        aria-activedescendant={isOpen ? `${id}-${activeIndex}` : undefined}
        aria-invalid={isInvalid ? 'true' : undefined}
        onKeyDown={press}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
        onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart)}
        onChange={({ target }) => {
          const position = target.selectionStart;
          setCaret(position);
          setActive(0);
          // Another `@` can be typed where one was dismissed.
          if (dismissed !== undefined && target.value[dismissed] !== '@') setDismissed(undefined);
          onChange({ ...value, text: target.value });
        }}
      />
      {isOpen && (
        <div id={`${id}-people`} role="listbox" aria-label="People" className="popover options people">
          {people.map(({ user_id, name, title }, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are handled by the text field, which has the focus
            // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the text field
            <div
              key={user_id}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === activeIndex}
              className="option"
              data-focused={index === activeIndex || undefined}
              ref={index === activeIndex ? scrollIntoView : undefined}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => pick(index)}
            >
              <bdi>{name}</bdi>
              {title && <span className="note">{title}</span>}
            </div>
          ))}
        </div>
      )}
      <span className="visually-hidden" role="status">
        {isOpen && `${pluralize(people.length, 'person', 'people')} found`}
      </span>
    </div>
  );
}

const scrollIntoView = (element: HTMLElement | null) => element?.scrollIntoView({ block: 'nearest' });

/** The active people on the roster who match what was typed. */
function usePeople(query: string | undefined) {
  const canSearch = useHasScope()('personnel.read');
  const typed = query?.trim();
  const q = useDebounced(typed ?? '', 150);
  const { data = [], isPlaceholderData } = useQuery({
    queryKey: ['mention', q],
    enabled: canSearch && typed !== undefined,
    placeholderData: keepPreviousData,
    queryFn: async () => {
      const params = {
        query: { limit: 8, status: ['active' as const], ...(q && { q, sort: 'relevance' as const }) },
      };
      return (await dataOrThrow(api.GET('/v1/personnel', { params }))).data;
    },
  });
  if (typed === undefined) return [];
  // Until the results of the last key arrive, the earlier ones are shown as far as they still match.
  const isCurrent = q === typed && !isPlaceholderData;
  return isCurrent ? data : data.filter(({ name }) => matchesText(typed, name));
}
