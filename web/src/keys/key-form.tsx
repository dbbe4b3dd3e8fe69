import { useManagesAccess } from '../access/queries.ts';
import { api, dataOrThrow, ifMatch } from '../api/client.ts';
import {
  type Key,
  type KeyInput,
  type KeyPatch,
  type KeyWithSecret,
  meScopesValues,
} from '../api/openapi.ts';
import { useRefresh, useWrite } from '../api/queries.ts';
import { endSessionOn401, reloadMe, useHasScope, useIsLimited, useMe } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import type { FieldOf } from '../components/form-values.ts';
import { toast } from '../components/toast.tsx';
import { dayOf, daysFromToday, endOf, organizationTimeZone } from '../format.ts';

/** `minExpiry` is in the past for a key that has expired. */
function useFields(minExpiry: string): FieldOf<KeyInput>[] {
  const hasScope = useHasScope();
  const isLimited = useIsLimited();
  return [
    {
      name: 'name',
      label: 'Name',
      kind: 'line',
      required: true,
      hint: 'Shown in the history of everything the key changes',
    },
    {
      name: 'scopes',
      label: 'Scopes',
      kind: 'scopes',
      required: true,
      // A key can't grant a scope that it doesn't have.
      options: meScopesValues.filter(hasScope).map((scope) => [scope, scope] as const),
      hint: 'Manage includes Read.',
    },
    ...(hasScope('projects.read') ? [projectsField(isLimited)] : []),
    {
      name: 'expires_at',
      label: 'Expires',
      kind: 'day',
      half: true,
      min: minExpiry,
      hint: `Expires at 23:59 on that day (${organizationTimeZone()}). Leave blank to never expire.`,
    },
    {
      name: 'rate_limit',
      label: 'Rate limit per minute',
      kind: 'number',
      half: true,
      min: 0,
      hint: '0 = unlimited; blank = default',
    },
  ];
}

/** The selected day is the last one on which the key works. */
export const withEndOfDay = <Input extends { expires_at?: string | null }>(values: Input): Input =>
  values.expires_at ? { ...values, expires_at: lastSecondOf(values.expires_at) } : values;

const lastSecondOf = (day: string) => new Date(Date.parse(endOf(day)) - 1000).toISOString();

type NewProps = { onClose: () => void; onCreated: (key: KeyWithSecret) => void };

export function NewKey({ onClose, onCreated }: NewProps) {
  const write = useWrite();
  const fields = useFields(daysFromToday(1));
  const create = async (values: KeyInput) =>
    onCreated(await write(api.POST('/v1/keys', { body: withEndOfDay(values) })));
  return (
    <Dialog title="Create key" onClose={onClose}>
      <Form fields={fields} action="Create key" submit={create} onClose={onClose} />
    </Dialog>
  );
}

type EditProps = {
  edited: Key;
  projectKeyOf: (project_id: string) => string;
  onShowSessions: () => void;
  onClose: () => void;
};

export function EditKey({ edited, projectKeyOf, onShowSessions, onClose }: EditProps) {
  const refresh = useRefresh();
  const me = useMe();
  const isOwnKey = edited.id === me.key_id;
  const managesAccess = useManagesAccess();
  const lastDay = edited.expires_at && dayOf(edited.expires_at);
  const tomorrow = daysFromToday(1);
  const fields = useFields(lastDay !== null && lastDay < tomorrow ? lastDay : tomorrow);
  const params = { path: { id: edited.id } };
  /** The key as the form shows it: with days and the keys of projects. */
  const toForm = (key: Key) => ({
    ...key,
    expires_at: key.expires_at && dayOf(key.expires_at),
    project_ids: key.project_ids?.map(projectKeyOf),
  });
  const save = async (values: KeyPatch, base: { version: number }) => {
    const { name } = await dataOrThrow(
      api.PATCH('/v1/keys/{id}', { params, body: withEndOfDay(values), ...ifMatch(base) }),
    );
    // The console shows what the key can do, so it needs the new scopes.
    if (isOwnKey) await reloadMe().catch(endSessionOn401);
    await refresh();
    toast(`Saved ${name}`);
  };
  return (
    <Dialog title={`Edit ${edited.name}`} onClose={onClose}>
      <Form
        fields={fields}
        initial={toForm(edited)}
        action="Save"
        submit={save}
        reload={async () => toForm(await dataOrThrow(api.GET('/v1/keys/{id}', { params })))}
        onClose={onClose}
        extra={
          managesAccess && (
            <Button plain onPress={onShowSessions}>
              Sessions
            </Button>
          )
        }
      >
        {isOwnKey && (
          <p className="notice">
            You are signed in with this key. If you remove a scope, you lose access here too.
          </p>
        )}
      </Form>
    </Dialog>
  );
}

const projectsField = (isLimited: boolean): FieldOf<KeyInput> => ({
  name: 'project_ids',
  label: 'Limited to projects',
  kind: 'projects',
  hint: isLimited
    ? 'Your key is limited to some projects. Choose from those.'
    : 'The key has no access to other projects. Leave blank to allow all projects.',
});
