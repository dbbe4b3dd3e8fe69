import { type FocusEvent, type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { useRefresh } from '../api/queries.ts';
import { endSessionOn401 } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { ConflictNotice, theirChanges } from '../components/conflict.tsx';
import { errorLine, errorsByField } from '../components/error-text.ts';
import { FieldInput } from '../components/field-row.tsx';
import { type FieldOf, isReference } from '../components/form-values.ts';
import { type Names, readNames, withName } from '../components/picked-names.ts';
import { notChosenInputs, rejectNotChosen } from '../components/picker-input.tsx';
import { toast } from '../components/toast.tsx';
import { isApple, isComposing } from '../components/use-shortcut.ts';
import { affectedFields, type Editor, hasChanged, saveFields } from './editor.ts';
import { reportSaved } from './save.ts';

/**
 * A field that is being edited: its value so far, the name of the item that was picked, and the version of the item that
 * it was changed in.
 */
export type OpenField<Item> = {
  base: Item;
  value: string | string[];
  name?: string | undefined;
  isFocused: boolean;
};

type Props<Input, Item> = {
  editor: Editor<Input, Item>;
  field: FieldOf<Input>;
  open: OpenField<Item>;
  change: (next: OpenField<Item> | undefined, isFocusInside?: boolean) => void;
};

/** The input of one field. Enter or leaving it saves, Escape cancels. */
export function InlineEditor<Input, Item extends object>({
  editor,
  field,
  open,
  change,
}: Props<Input, Item>) {
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const refresh = useRefresh();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const [theirs, setTheirs] = useState<ReturnType<typeof theirChanges>>();
  /** Arrow keys change a closed `select` step by step, so only a choice with the pointer saves at once. */
  const isByKeyboard = useRef(false);
  const isFocusInside = () => form.current?.contains(document.activeElement) === true;

  useEffect(() => {
    if (!open.isFocused) return;
    const input = form.current?.querySelector<HTMLInputElement>('input, select, textarea');
    input?.focus();
    if (input?.type === 'text') input.select();
  }, [open.isFocused]);

  const reload = async () => {
    const latest = await editor.reload();
    // The page is out of date.
    void refresh();
    return latest;
  };

  const save = async (edited = open) => {
    const { base, value } = edited;
    const draft = { [field.name]: value };
    if (isBusy) return;
    if (!hasChanged([field], draft, base)) return change(undefined, isFocusInside());
    setBusy(true);
    setError(undefined);
    try {
      const outcome = await saveFields({ ...editor, reload }, [field], draft, base);
      if ('latest' in outcome) {
        const { latest } = outcome;
        const affected = affectedFields(editor.fields, [field]);
        const names = { ...(await readNames(affected, latest)), ...namesIn(edited) };
        setTheirs(theirChanges(affected, { base, latest, draft, mine: [field.name], names }));
        change({ ...edited, base: latest });
        return setBusy(false);
      }
      change(undefined, isFocusInside());
      reportSaved(editor, outcome, field.label);
    } catch (reason) {
      endSessionOn401(reason);
      const message = errorLine(reason);
      const [first] = errorsByField(reason as Error, editor.fields).values();
      // The page can have been left. The draft stays, so its field is open on the next visit.
      if (!form.current) toast(`Couldn't save ${editor.name}: ${field.label}. ${message}`);
      setError(first ?? message);
      setBusy(false);
    }
  };

  const submit = () => {
    if (!rejectNotChosen(form.current)) void save();
  };

  const cancel = () => {
    if (isBusy) return;
    change(undefined, isFocusInside());
    if (field.kind === 'text' && hasChanged([field], { [field.name]: open.value }, open.base))
      toast(`Discarded your change: ${field.label}`, async () => change({ ...open, isFocused: true }));
  };

  const changeValue = (value: string | string[], name?: string) => {
    if (isBusy) return;
    setError(undefined);
    const next = { ...open, value, name, isFocused: false };
    change(next);
    const isPicked = isReference(field) && value !== '';
    if (isPicked || (field.kind === 'choice' && !isByKeyboard.current)) void save(next);
  };

  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const target = event.target as HTMLElement;
    isByKeyboard.current = true;
    if (isComposing(event.nativeEvent)) return;
    // The key is for the open list of a picker.
    if (event.defaultPrevented || target.ariaExpanded === 'true') return;
    if (event.key === 'Escape') {
      event.stopPropagation();
      cancel();
    }
    const isSaveKey =
      target.tagName === 'TEXTAREA' ? event.ctrlKey || event.metaKey : target.tagName !== 'BUTTON';
    if (event.key === 'Enter' && isSaveKey) {
      event.preventDefault();
      submit();
    }
  };

  const onBlur = ({ currentTarget, relatedTarget }: FocusEvent<HTMLElement>) => {
    // Another window or a dialog has the focus.
    if (currentTarget.contains(document.activeElement) || currentTarget.contains(relatedTarget)) return;
    if (relatedTarget?.closest('.overlay')) return;
    if (!error && !theirs && notChosenInputs(form.current).length === 0) void save();
  };

  const isText = field.kind === 'text';
  const described = [isText && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <form
      ref={form}
      className="inline-editor"
      aria-busy={isBusy}
      onKeyDown={onKeyDown}
      onPointerDown={() => {
        isByKeyboard.current = false;
      }}
      onBlur={onBlur}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <FieldInput
        field={withName(field, open.value, namesIn(open))}
        input={{
          id,
          'aria-label': field.label,
          'aria-invalid': error ? 'true' : undefined,
          'aria-describedby': described || undefined,
        }}
        value={open.value}
        onChange={changeValue}
      />
      {error && (
        <p className="field-error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
      {theirs && (
        <ConflictNotice isPending={isBusy} changes={theirs} onReview={cancel} onOverwrite={submit} />
      )}
      <div className="button-row">
        <Button small primary type="submit" isPending={isBusy}>
          {theirs ? 'Overwrite' : 'Save'}
        </Button>
        <Button small isDisabled={isBusy} onPress={cancel}>
          Cancel
        </Button>
        <span className="hint" id={`${id}-hint`} role="status">
          {isBusy
            ? 'Saving…'
            : isText && `${isApple ? '⌘' : 'Ctrl'}+Enter to save. **Bold**, lists and links work.`}
        </span>
      </div>
    </form>
  );
}

const namesIn = ({ value, name }: OpenField<unknown>): Names => (name ? { [String(value)]: name } : {});
