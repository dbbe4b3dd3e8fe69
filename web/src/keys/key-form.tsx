import { useState } from 'react';
import { answerOf, api } from '../api/client.ts';
import { everyOf } from '../api/enums.ts';
import type { KeyInput, KeyWithSecret } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { type Scope, useIsLimited, useMay } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { type Field, Form, type Values } from '../components/form.tsx';
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

export function NewKey({ onClose, onMade }: { onClose: () => void; onMade: (key: KeyWithSecret) => void }) {
  const may = useMay();
  const isLimited = useIsLimited();
  const refresh = useRefresh();
  const fields: Field[] = [
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
      name: 'expires_on',
      label: 'Expires',
      kind: 'day',
      half: true,
      min: daysFromToday(1),
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
  const create = async ({ expires_on, ...values }: Values) => {
    const body = { ...values, ...(expires_on ? { expires_at: `${expires_on}T23:59:59Z` } : {}) } as KeyInput;
    const key = await answerOf(api.POST('/v1/keys', { body }));
    await refresh();
    onMade(key);
  };
  return (
    <Dialog title="New key" onClose={onClose}>
      <Form fields={fields} action="Create key" submit={create} onClose={onClose} />
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
