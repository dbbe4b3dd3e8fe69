import { type FormEvent, useId, useRef, useState } from 'react';
import { api, dataOrThrow, ifMatch } from '../api/client.ts';
import { type Access, meScopesValues } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { reloadMe, type Scope, useHasScope, useMe } from '../api/session.ts';
import { useAction } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { Theirs } from '../components/conflict.tsx';
import { Dialog, useUnsavedChanges } from '../components/dialog.tsx';
import { ErrorNotice } from '../components/error-notice.tsx';
import { FieldRow } from '../components/field-row.tsx';
import type { Field } from '../components/form-values.ts';
import { PersonPicker } from '../components/picker.tsx';
import { rejectNotChosen } from '../components/picker-input.tsx';
import { toast } from '../components/toast.tsx';
import { useOpened } from '../components/use-conflict.ts';
import { scopeLabel, summarizeScopes } from '../format.ts';
import { useProjectKeys } from '../projects/queries.ts';
import { type PresetName, presetOf, presets } from './presets.ts';
import { readAccess } from './queries.ts';
import './access.css';

type Choice = PresetName | 'Custom';

type Props = {
  /** The person who gets access; without it, the form asks for one. */
  person?: { user_id: string; name: string };
  /** The access that the person has. */
  access?: Access | null;
  onClose: () => void;
  /** Called with the access of somebody who had none. */
  onGiven?: (access: Access) => void;
};

/** Gives a person access, or changes it. */
export function AccessDialog(props: Props) {
  const { person, access } = props;
  const title = access ? `Change access of ${access.name}` : `Give ${person?.name ?? 'a person'} access`;
  return (
    <Dialog title={title} onClose={props.onClose}>
      <AccessForm {...props} />
    </Dialog>
  );
}

function AccessForm({ person, access: live = null, onClose, onGiven }: Props) {
  const { item: access, former } = useOpened(live);
  const me = useMe();
  const refresh = useRefresh();
  const projectKeyOf = useProjectKeys();
  const form = useRef<HTMLFormElement>(null);
  const initial = {
    user_id: person?.user_id ?? '',
    choice: (access ? presetOf(access.scopes) : 'Viewer') as Choice,
    scopes: access ? [...access.scopes] : [],
    projects: access?.project_ids?.map(projectKeyOf) ?? [],
  };
  const accessOf = ({ scopes, project_ids }: Access) => ({
    access: presetOf(scopes),
    scopes: summarizeScopes(scopes),
    project_ids: project_ids?.map(projectKeyOf).join(', '),
  });
  const [first] = useState(initial);
  const [draft, setDraft] = useState(first);
  const [missing, setMissing] = useState<Record<string, string>>({});
  const [error, setError] = useState<Error>();
  const { isBusy, run } = useAction(setError);
  const isChanged = JSON.stringify(draft) !== JSON.stringify(first);
  const requestClose = useUnsavedChanges(isChanged);
  const set = (changes: Partial<typeof draft>) => {
    setDraft((current) => ({ ...current, ...changes }));
    setMissing({});
  };

  const save = async () => {
    const scopes = (presets.find(({ name }) => name === draft.choice)?.scopes ?? draft.scopes) as Scope[];
    const body = { scopes: [...scopes], project_ids: draft.projects.length > 0 ? draft.projects : null };
    const params = { path: { user_id: draft.user_id } };
    // Nobody's access is replaced by a form that was opened to give some.
    const current = person ? access : await readAccess(draft.user_id);
    if (current && !access)
      throw new Error(
        `${current.name} has access already: ${presetOf(current.scopes)}. Change it on their page.`,
      );
    const given = await dataOrThrow(
      api.PUT('/v1/personnel/{user_id}/access', { params, body, ...(access && ifMatch(access)) }),
    );
    if (given.user_id === me.user_id) await reloadMe();
    await refresh();
    const changed = `Changed access of ${given.name}`;
    if (access?.invited_until && !given.invited_until)
      toast(`${changed}. The invitation link ended with this change: create a new one.`);
    else toast(access ? changed : `Gave ${given.name} access`);
    onClose();
    if (!access) onGiven?.(given);
  };

  const submit = (event: FormEvent) => {
    event.preventDefault();
    setError(undefined);
    const found = {
      ...(draft.user_id === '' && { person: 'Choose a person.' }),
      ...(draft.choice === 'Custom' && draft.scopes.length === 0 && { scopes: 'Select at least one scope.' }),
    };
    setMissing(found);
    if (rejectNotChosen(form.current)) return;
    if (Object.keys(found).length === 0) void run(save);
  };

  return (
    <form ref={form} className="form" noValidate onSubmit={submit}>
      <div className="dialog-body">
        <div className="fields">
          {!person && (
            <PersonRow
              error={missing.person}
              value={draft.user_id}
              onChange={(user_id) => set({ user_id })}
            />
          )}
          <Choices value={draft.choice} onChange={(choice) => set({ choice })} />
          {draft.choice === 'Custom' && (
            <ScopesRow
              value={draft.scopes}
              error={missing.scopes}
              onChange={(scopes) => set({ scopes: scopes as Scope[] })}
            />
          )}
          <ProjectsRow value={draft.projects} onChange={(projects) => set({ projects })} />
        </div>
        {access && (
          <Theirs
            item={accessOf(access)}
            former={former ? accessOf(former) : undefined}
            mine={{ access: draft.choice, project_ids: draft.projects.join(', ') }}
          />
        )}
        {access?.source === 'oidc' && (
          <p className="notice">
            This access comes from the identity provider. The next sign-in replaces what you set here, unless
            you change the groups or roles there too.
          </p>
        )}
        {access && access.user_id === me.user_id && (
          <p className="notice">This is your own access. If you remove a scope, you lose it at once.</p>
        )}
      </div>
      {error && (
        <div className="dialog-notice">
          <ErrorNotice error={error} />
        </div>
      )}
      <footer>
        <Button onPress={requestClose ?? onClose}>Cancel</Button>
        <Button type="submit" primary isPending={isBusy}>
          {access ? 'Change access' : 'Give access'}
        </Button>
      </footer>
    </form>
  );
}

type ChoicesProps = { value: Choice; onChange: (choice: Choice) => void };

/** The presets, each with its scopes. Nobody can give more than they have. */
function Choices({ value, onChange }: ChoicesProps) {
  const hasScope = useHasScope();
  const name = useId();
  const all: readonly { name: Choice; description: string; scopes: readonly Scope[] }[] = [
    ...presets,
    { name: 'Custom', description: 'Choose the scopes yourself', scopes: [] },
  ];
  return (
    <fieldset className="field">
      <legend>Access</legend>
      <div className="access-choices">
        {all.map((one) => {
          const lacking = one.scopes.filter((scope) => !hasScope(scope));
          const id = `${name}-${one.name}`;
          return (
            <div key={one.name} className="access-choice">
              <input
                type="radio"
                id={id}
                name={name}
                aria-describedby={`${id}-about`}
                disabled={lacking.length > 0}
                checked={value === one.name}
                onChange={() => onChange(one.name)}
              />
              <label htmlFor={id}>{one.name}</label>
              <div id={`${id}-about`} className="hint">
                <p>
                  {one.description}
                  {one.scopes.length > 0 && `. ${summarizeScopes(one.scopes)}`}
                </p>
                {lacking.length > 0 && (
                  <p>You can't give this, because you don't have: {lacking.map(scopeLabel).join(', ')}</p>
                )}
              </div>
            </div>
          );
        })}
      </div>
    </fieldset>
  );
}

type RowProps<Value> = { value: Value; error?: string | undefined; onChange: (value: Value) => void };

function ScopesRow({ value, error, onChange }: RowProps<string[]>) {
  const hasScope = useHasScope();
  const held = meScopesValues.filter(hasScope);
  const field: Field = {
    name: 'scopes',
    label: 'Scopes',
    kind: 'scopes',
    required: true,
    options: held.map((scope) => [scope, scope]),
    hint:
      held.length < meScopesValues.length
        ? 'Manage includes Read. You can give only what you have yourself.'
        : 'Manage includes Read.',
  };
  return <FieldRow field={field} value={value} error={error} onChange={(scopes) => onChange([...scopes])} />;
}

const projectsField: Field = {
  name: 'project_ids',
  label: 'Limited to projects',
  kind: 'projects',
  hint: 'No access to other projects. Leave blank to allow all projects.',
};

function ProjectsRow({ value, onChange }: RowProps<string[]>) {
  const hasScope = useHasScope();
  if (!hasScope('projects.read')) return null;
  return (
    <FieldRow
      field={projectsField}
      value={value}
      error={undefined}
      onChange={(projects) => onChange([...projects])}
    />
  );
}

function PersonRow({ value, error, onChange }: RowProps<string>) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>
        Person<span aria-hidden="true"> *</span>
      </label>
      <PersonPicker
        id={id}
        label="Person"
        required
        autoFocus
        menuTrigger="input"
        value={value}
        name=""
        onChange={onChange}
        {...(error && { 'aria-invalid': 'true' as const, 'aria-describedby': `${id}-error` })}
      />
      {error && (
        <p className="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}
