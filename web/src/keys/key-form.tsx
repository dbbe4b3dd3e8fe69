import { useState } from 'react';
import { answerOf, api, ifMatch } from '../api/client.ts';
import { everyOf } from '../api/enums.ts';
import type { Key, KeyInput, KeyPatch, KeyWithSecret } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { resumeSession, type Scope, useIsLimited, useMay, useMe } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { type Field, Form, type Values } from '../components/form.tsx';
import { toast } from '../components/toast.tsx';
import { daysFromToday } from '../format.ts';

const scopes = everyOf<Scope>({
  'personnel.read': true,
  'personnel.manage': true,
  'projects.read': true,
  'projects.manage': true,
  'events.read': true,
  'events.manage': true,
  'keys.read': true,
  'keys.manage': true,
});

/** What can be said of a key; one that is there already may have an end in the past. */
function useFields(firstDay: string): Field[] {
  const may = useMay();
  const isLimited = useIsLimited();
  return [
    {
      name: 'name',
      label: 'Name',
      kind: 'line',
      required: true,
      hint: 'What it is for: it stands in the history of what it changes.',
    },
    {
      name: 'scopes',
      label: 'Scopes',
      kind: 'checks',
      // A key cannot give what it does not hold.
      options: scopes.filter(may).map((scope) => [scope, scope] as const),
      hint: 'A .manage scope also grants the .read scope of the same area.',
    },
    ...(may('projects.read') ? [limitedTo(isLimited)] : []),
    {
      name: 'expires_at',
      label: 'Expires',
      kind: 'day',
      half: true,
      min: firstDay,
      hint: 'At the end of that day, UTC; never when left empty.',
    },
    {
      name: 'rate_limit',
      label: 'Requests a minute',
      kind: 'number',
      half: true,
      min: 0,
      hint: 'At most; 0 is any number. As the service is set up when left empty.',
    },
  ];
}

/** The day that was chosen is the last on which it works. */
const withEndOfDay = ({ expires_at, ...values }: Values) =>
  expires_at === undefined
    ? values
    : { ...values, expires_at: expires_at === null ? null : `${expires_at}T23:59:59Z` };

export function NewKey({ onClose, onMade }: { onClose: () => void; onMade: (key: KeyWithSecret) => void }) {
  const refresh = useRefresh();
  const fields = useFields(daysFromToday(1));
  const create = async (values: Values) => {
    const key = await answerOf(api.POST('/v1/keys', { body: withEndOfDay(values) as KeyInput }));
    await refresh();
    onMade(key);
  };
  return (
    <Dialog title="New key" onClose={onClose}>
      <Form fields={fields} action="Create key" submit={create} onClose={onClose} />
    </Dialog>
  );
}

type EditProps = { edited: Key; nameOf: (project_id: string) => string; onClose: () => void };

export function EditKey({ edited, nameOf, onClose }: EditProps) {
  const refresh = useRefresh();
  const me = useMe();
  const isMine = edited.id === me.key_id;
  const lastDay = edited.expires_at?.slice(0, 10) ?? null;
  const tomorrow = daysFromToday(1);
  const fields = useFields(lastDay !== null && lastDay < tomorrow ? lastDay : tomorrow);
  const save = async (values: Values) => {
    const { name } = await answerOf(
      api.PATCH('/v1/keys/{id}', {
        params: { path: { id: edited.id } },
        body: withEndOfDay(values) as KeyPatch,
        ...ifMatch(edited),
      }),
    );
    // What one's own key may do now is what the console shows.
    if (isMine) await resumeSession();
    await refresh();
    toast(`${name} is saved.`);
  };
  return (
    <Dialog title={`Edit ${edited.name}`} onClose={onClose}>
      <Form
        fields={fields}
        initial={{ ...edited, expires_at: lastDay, project_ids: edited.project_ids?.map(nameOf) }}
        action="Save"
        submit={save}
        onClose={onClose}
      >
        {isMine && (
          <p className="notice">This is the key you are signed in with: what it loses, you lose here.</p>
        )}
      </Form>
    </Dialog>
  );
}

const limitedTo = (isLimited: boolean): Field => ({
  name: 'project_ids',
  label: 'Limited to projects',
  kind: 'projects',
  hint: isLimited
    ? 'Your own key is limited: name some of the projects that it sees.'
    : 'It sees and changes nothing of the others. All projects when left empty.',
});

/** The one time that a secret is seen. */
export function Secret({ created, onClose }: { created: KeyWithSecret; onClose: () => void }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(created.secret ?? '');
    setCopied(true);
  };
  return (
    <Dialog title={created.name} onClose={onClose}>
      <div className="dialog-body">
        <p>This is the secret of the key. Keep it now: it is not shown again.</p>
        <div className="secret">
          <code>{created.secret}</code>
          {/* There is no clipboard without https, but on the machine itself. */}
          {navigator.clipboard && (
            <Button icon={isCopied ? 'check' : 'copy'} onPress={copy}>
              {isCopied ? 'Copied' : 'Copy'}
            </Button>
          )}
        </div>
      </div>
      <footer>
        <Button primary onPress={onClose}>
          I have kept it
        </Button>
      </footer>
    </Dialog>
  );
}
