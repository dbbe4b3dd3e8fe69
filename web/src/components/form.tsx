import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { ApiError } from '../api/client.ts';
import { endSessionOn401 } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import { Button } from './button.tsx';
import { ErrorNotice } from './error-notice.tsx';
import { FieldRow } from './field-row.tsx';
import { changedValues, createdValues, type FieldOf, toDraft } from './form-values.ts';

type Props<Input> = {
  fields: readonly FieldOf<NoInfer<Input>>[];
  /** The item to edit. Without it the form creates one. */
  initial?: { readonly [Name in keyof NoInfer<Input>]?: unknown };
  action: string;
  danger?: boolean;
  /** Receives all values of a new item, or only the changed ones of an item that is edited. */
  submit: (values: Input) => Promise<unknown>;
  onClose: () => void;
  children?: ReactNode;
};

/** A form that shows the validation errors of the service next to their fields. */
export function Form<Input>({ fields, initial, action, danger, submit, onClose, children }: Props<Input>) {
  const hasScope = useHasScope();
  const visible = fields.filter(
    ({ kind }) => !['person', 'group'].includes(kind) || hasScope('personnel.read'),
  );
  const [draft, setDraft] = useState(() => toDraft(visible, initial));
  const [error, setError] = useState<Error>();
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const errors = errorsByField(error);
  const isPlaced =
    errors.size > 0 && [...errors.keys()].every((name) => visible.some((one) => one.name === name));

  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);

  const send = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      await submit(
        initial ? changedValues<Input>(visible, draft, initial) : createdValues<Input>(visible, draft),
      );
      onClose();
    } catch (reason) {
      endSessionOn401(reason);
      setError(reason as Error);
      setBusy(false);
    }
  };

  return (
    <form ref={form} className="form" onSubmit={send}>
      <div className="dialog-body">
        {children}
        {error && !isPlaced && <ErrorNotice error={error} />}
        <div className="fields">
          {visible.map((field) => (
            <FieldRow
              key={field.name}
              field={field}
              value={draft[field.name] ?? ''}
              error={errors.get(field.name)}
              onChange={(value) => setDraft((current) => ({ ...current, [field.name]: value }))}
            />
          ))}
        </div>
      </div>
      <footer>
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" primary={!danger} danger={danger} isPending={isBusy}>
          {action}
        </Button>
      </footer>
    </form>
  );
}

/** The first validation error of each field. An error that is not about a field has the name ''. */
function errorsByField(error: Error | undefined): Map<string, string> {
  const errors = error instanceof ApiError ? error.fieldErrors : [];
  return new Map(
    errors.toReversed().map(({ pointer, detail }) => [pointer?.slice(2).split('/')[0] ?? '', detail]),
  );
}
