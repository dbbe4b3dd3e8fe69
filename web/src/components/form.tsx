import { type FormEvent, type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { ApiError } from '../api/client.ts';
import { endSessionOn401, useHasScope } from '../api/session.ts';
import { Button } from './button.tsx';
import { ConflictNotice, theirChanges } from './conflict.tsx';
import { useUnsavedChanges } from './dialog.tsx';
import { ErrorNotice } from './error-notice.tsx';
import { errorsByField, missingText } from './error-text.ts';
import { FieldRow } from './field-row.tsx';
import {
  changedValues,
  createdValues,
  type Draft,
  type Field,
  type FieldOf,
  isPersonOrGroup,
  isRiskOrIssue,
  isSameDraft,
  shownFields,
  toDraft,
  withOneOwner,
} from './form-values.ts';
import { type Names, readNames, withName } from './picked-names.ts';
import { rejectNotChosen } from './picker-input.tsx';
import { toast } from './toast.tsx';
import { useConflict } from './use-conflict.ts';

type Props<Input, Item> = {
  fields: readonly FieldOf<NoInfer<Input>>[];
  /** The item to edit. Without it the form creates one. */
  initial?: Item;
  action: string;
  danger?: boolean;
  /**
   * Receives all values of a new item, or only the changed ones of an item that is edited, and the version of the item
   * that they were changed in. `names` are those of what was picked, by id.
   */
  submit: (values: Input, item: Item, names: Names) => Promise<unknown>;
  /**
   * Reads the item again after someone else has changed it. Without it, `submit` must send the version that the page has
   * loaded.
   */
  reload?: () => Promise<Item>;
  onClose: () => void;
  /** Whether something beside the fields was changed. */
  isDirty?: boolean;
  /** After something was created, the form stays for another one, with the same project and people. */
  staysOpen?: boolean;
  /** An action without the fields, beside the others. */
  extra?: ReactNode;
  children?: ReactNode;
};

/** A form that shows validation errors, its own and those of the service, next to their fields. */
export function Form<Input, Item extends object = object>(props: Props<Input, Item>) {
  const {
    fields,
    initial,
    action,
    danger,
    submit,
    reload,
    onClose,
    isDirty = false,
    staysOpen = false,
    extra,
    children,
  } = props;
  const hasScope = useHasScope();
  const explain = useConflict();
  // A refetch of the page must not replace the version that is being edited.
  const [base, setBase] = useState(initial);
  /** What a new form contains; with `staysOpen` also what the form before it had. */
  const [start, setStart] = useState(() => toDraft(fields, initial));
  const [draft, setDraft] = useState(start);
  const [round, setRound] = useState(0);
  const visible = shownFields(inChosenProject(fields, draft), draft).filter(
    (field) => !isPersonOrGroup(field) || hasScope('personnel.read'),
  );
  /** The names of what was picked here, and of what the latest version has. */
  const [names, setNames] = useState<Names>({});
  const [error, setError] = useState<Error>();
  /** What is wrong before anything is sent, by field. */
  const [rejected, setRejected] = useState<ReadonlyMap<string, string>>(new Map());
  const [corrected, setCorrected] = useState<readonly string[]>([]);
  const [latest, setLatest] = useState<Item>();
  const [reviewed, setReviewed] = useState<ReturnType<typeof theirChanges>>();
  const [isBusy, setBusy] = useState(false);
  // State changes only with the next render; Enter can be pressed twice before it.
  const isSending = useRef(false);
  const form = useRef<HTMLFormElement>(null);
  const errors = error ? errorsByField(error, visible) : rejected;
  const [isMoreOpen, setMoreOpen] = useState(false);
  const more = visible.filter(({ isMore }) => isMore && !initial);
  const isPlaced =
    errors.size > 0 && [...errors.keys()].every((name) => visible.some((one) => one.name === name));
  const requestClose = useUnsavedChanges(
    isDirty || !isSameDraft(draft, base ? toDraft(fields, base) : start),
  );

  useEffect(() => {
    // What is above the fields can have it.
    if (!form.current?.contains(document.activeElement)) focusInput(form.current, isBlank);
  }, []);
  useEffect(() => {
    if (error || rejected.size > 0) focusInput(form.current?.querySelector('.field:has(> .field-error)'));
  }, [error, rejected]);
  useFocusReviewed(form, reviewed);
  useEffect(() => {
    if (round > 0) focusInput(form.current, isBlank);
  }, [round]);

  const send = async (item = base) => {
    if (isSending.current) return;
    const found = form.current ? rejectedInputs(form.current, visible, draft) : new Map();
    setRejected(found);
    setCorrected([]);
    setError(undefined);
    if (rejectNotChosen(form.current) || found.size > 0) return;
    isSending.current = true;
    setBusy(true);
    setLatest(undefined);
    setReviewed(undefined);
    try {
      await submit(
        base ? changedValues<Input>(visible, draft, base) : createdValues<Input>(visible, draft),
        item as Item,
        names,
      );
      if (!staysOpen) return onClose();
      const kept = visible.filter(isKept).map(({ name }) => [name, draft[name] ?? '']);
      const next = { ...toDraft(fields), ...Object.fromEntries(kept) };
      setStart(next);
      setDraft(next);
      setRound((count) => count + 1);
      setBusy(false);
      isSending.current = false;
    } catch (reason) {
      endSessionOn401(reason);
      const isConflict = reason instanceof ApiError && reason.status === 412 && reload;
      const current = isConflict ? await reload().catch(() => undefined) : undefined;
      if (current) {
        const latestNames = await readNames(visible, current);
        setNames((known) => ({ ...known, ...latestNames }));
        setLatest(current);
      }
      const shown = current ? undefined : await explain(reason);
      // The row that the form belongs to can be gone from its list.
      if (shown && !form.current) toast(shown.message);
      setError(shown);
      setBusy(false);
      isSending.current = false;
    }
  };

  /** Takes over what the other person changed, except in the fields that were changed here. */
  const review = () => {
    if (!latest || !base) return;
    const changed = Object.entries(withOneOwner(changedValues<Input>(visible, draft, base) as object));
    const kept: Draft = Object.fromEntries(
      changed.map(([name, value]) => [name, value === null ? '' : (draft[name] ?? '')]),
    );
    const mine = Object.keys(kept);
    setReviewed(theirChanges(visible, { base, latest, draft: kept, mine, names }));
    setDraft({ ...toDraft(fields, latest), ...kept });
    setBase(latest);
    setLatest(undefined);
  };

  const change = (values: Draft) => {
    setDraft((current) => ({ ...current, ...values }));
    setCorrected((current) => [...current, ...Object.keys(values)]);
  };

  const row = (field: FieldOf<Input>) =>
    !field.isSetBeside && (
      <FieldRow
        // A new key makes a picker show the name of a new value, or the items of another project.
        key={`${field.name} ${reviewed ? 'reviewed' : ''} ${field.project ?? ''} ${round}`}
        field={withName(field, draft[field.name], names)}
        value={draft[field.name] ?? ''}
        error={corrected.includes(field.name) ? undefined : errors.get(field.name)}
        input={field.input?.(draft, change)}
        onChange={(value, name) => {
          setDraft((current) => withChange(current, fields, field, value));
          if (name) setNames((known) => ({ ...known, [String(value)]: name }));
          setCorrected((current) => [...current, field.name]);
        }}
      />
    );

  return (
    <form
      ref={form}
      className="form"
      // The bubbles of the browser cover the fields, and are not in the language of the page.
      noValidate
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        void send();
      }}
    >
      <div className="dialog-body">
        {children}
        <div className="fields">
          {visible.filter((field) => !more.includes(field)).map(row)}
          {more.length > 0 && (
            <details
              className="more-fields"
              open={isMoreOpen || more.some(({ name }) => errors.has(name))}
              onToggle={({ currentTarget }) => setMoreOpen(currentTarget.open)}
            >
              <summary>More</summary>
              <div className="fields">{more.map(row)}</div>
            </details>
          )}
        </div>
      </div>
      {(latest || reviewed) && (
        <ConflictNotice
          isPending={isBusy}
          changes={reviewed}
          onReview={review}
          onOverwrite={() => send(latest)}
        />
      )}
      {error && !isPlaced && (
        <div className="dialog-notice">
          <ErrorNotice error={error} fields={visible} />
        </div>
      )}
      <footer>
        {extra && <div className="extra">{extra}</div>}
        <Button onPress={requestClose ?? onClose}>Cancel</Button>
        <Button type="submit" primary={!danger} danger={danger} isPending={isBusy}>
          {action}
        </Button>
      </footer>
    </form>
  );
}

/** What several new items have in common, such as those of one meeting. */
const isKept = (field: Field) => isPersonOrGroup(field) || field.kind === 'project';

/** Focuses the first input of a form or of a row; if there is one that the person is looking for, the first of these. */
function focusInput(parent: Element | null | undefined, isWanted: (input: Input) => boolean = () => true) {
  const inputs = [...(parent?.querySelectorAll<Input>('input, select, textarea') ?? [])];
  (inputs.find(isWanted) ?? inputs[0])?.focus();
}

type Input = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

const isBlank = ({ required, value }: Input) => required && value === '';

const rowOf = (form: HTMLFormElement | null, name: string) => form?.querySelector(`[data-field-row=${name}]`);

/** Focuses the first field that both have changed, or else the first one that the other person has. */
function useFocusReviewed(
  form: RefObject<HTMLFormElement | null>,
  reviewed: ReturnType<typeof theirChanges> | undefined,
): void {
  useEffect(() => {
    if (!reviewed) return;
    const first = reviewed.find(({ mine }) => mine !== undefined) ?? reviewed[0];
    focusInput(first ? rowOf(form.current, first.name) : form.current);
  }, [form, reviewed]);
}

/** Risks and issues are picked from the project that the form asks for, once that is chosen. */
function inChosenProject<F extends Field>(fields: readonly F[], draft: Draft): F[] {
  const chosen = fields.find(({ kind }) => kind === 'project');
  if (!chosen) return [...fields];
  const project = String(draft[chosen.name] ?? '');
  return fields
    .filter((field) => project !== '' || !isRiskOrIssue(field))
    .map((field) => (isRiskOrIssue(field) ? { ...field, project } : field));
}

/** Another project has none of the risks and issues that were picked. */
const withChange = (
  draft: Draft,
  fields: readonly Field[],
  { name, kind }: Field,
  value: string | string[],
): Draft => ({
  ...draft,
  ...(kind === 'project' && Object.fromEntries(fields.filter(isRiskOrIssue).map((item) => [item.name, '']))),
  [name]: value,
});

/** Required fields that are blank, and inputs that the browser can't read, such as half a date. */
function rejectedInputs(form: HTMLFormElement, fields: readonly Field[], draft: Draft): Map<string, string> {
  const rejected = new Map<string, string>();
  for (const field of fields) {
    const value = draft[field.name] ?? '';
    const isBlank = typeof value === 'string' ? value.trim() === '' : value.length === 0;
    const input = rowOf(form, field.name)?.querySelector('input');
    if (input?.validity.badInput)
      rejected.set(field.name, field.kind === 'day' ? 'Enter a complete date.' : 'Enter a number.');
    else if (field.required && isBlank) rejected.set(field.name, missingText(field));
  }
  return rejected;
}
