import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answerOf, api, ifMatch } from '../api/client.ts';
import type { Key, KeyWithSecret } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { useMay, useMe } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { Confirm } from '../components/dialog.tsx';
import { Empty } from '../components/empty.tsx';
import { Choice, FilterBar, useFilters } from '../components/filters.tsx';
import { Loaded } from '../components/loading.tsx';
import { type Column, Table } from '../components/table.tsx';
import { toast } from '../components/toast.tsx';
import { day, number, time, withWords, words } from '../format.ts';
import { Title } from '../layout/title.tsx';
import { useProjects } from '../projects/queries.ts';
import { EditKey, NewKey, Secret } from './key-form.tsx';
import './keys.css';

type Open =
  | { kind: 'new' }
  | { kind: 'edit' | 'revoke' | 'rotate'; key: Key }
  | { kind: 'secret'; key: KeyWithSecret };

/** Who may call the service, and what with. */
export function KeysPage() {
  const bar = useFilters(['q', 'status']);
  const { filters, choice } = bar;
  const [open, setOpen] = useState<Open>();
  const [made, setMade] = useState<KeyWithSecret>();
  const may = useMay();
  const query = useQuery({
    queryKey: ['keys', filters],
    queryFn: async () =>
      (
        await answerOf(api.GET('/v1/keys', { params: { query: filters as { q?: string } } }))
      ).data.toReversed(),
  });
  const nameOf = useProjectNames();
  const close = () => setOpen(undefined);
  // A key changes only those that hold no more than itself.
  const isEditable = ({ scopes, revoked_at }: Key) =>
    may('keys.manage') && revoked_at === null && scopes.every(may);
  return (
    <>
      <Title title="Keys">
        {may('keys.manage') && (
          <Button primary icon="plus" onPress={() => setOpen({ kind: 'new' })}>
            New key
          </Button>
        )}
      </Title>
      <FilterBar bar={bar} search="Find by name">
        <Choice label="Status" options={withWords(['valid', 'expired', 'revoked'])} {...choice('status')} />
      </FilterBar>
      <Loaded query={query}>
        {(keys) =>
          keys.length === 0 ? (
            <Empty title="No key matches">Try another name or status.</Empty>
          ) : (
            <Table
              label="Keys"
              columns={[
                nameColumn(isEditable, (key) => setOpen({ kind: 'edit', key })),
                ...columns,
                limits(nameOf),
                ...(may('keys.manage') ? [actions(setOpen)] : []),
              ]}
              rows={keys}
              rowKey={({ id }) => id}
            />
          )
        }
      </Loaded>
      {open?.kind === 'new' && <NewKey onClose={close} onMade={setMade} />}
      {made && <Secret created={made} onClose={() => setMade(undefined)} />}
      {open?.kind === 'edit' && <EditKey edited={open.key} nameOf={nameOf} onClose={close} />}
      {open?.kind === 'revoke' && <Revoke revoked={open.key} onClose={close} />}
      {open?.kind === 'rotate' && <Rotate rotated={open.key} onClose={close} onMade={setMade} />}
    </>
  );
}

/** How a project is called in short; its id, when that is not for this key to know. */
function useProjectNames(): (id: string) => string {
  const { data = [] } = useProjects('any', useMay()('projects.read'));
  const keys = new Map(data.map(({ id, key }) => [id, key]));
  return (id) => keys.get(id) ?? id;
}

const stateOf = ({ revoked_at, expires_at }: Key) =>
  revoked_at ? 'revoked' : expires_at && expires_at <= new Date().toISOString() ? 'expired' : 'valid';

const nameColumn = (isEditable: (key: Key) => boolean, edit: (key: Key) => void): Column<Key> => ({
  name: 'name',
  header: 'Name',
  cell: (key) => (
    <>
      {isEditable(key) ? (
        <button
          type="button"
          className="key-name"
          aria-label={`Edit ${key.name}`}
          title={`Edit ${key.name}`}
          onClick={() => edit(key)}
        >
          <bdi>{key.name}</bdi>
        </button>
      ) : (
        <bdi className="key-name">{key.name}</bdi>
      )}
      <span className="under">…{key.last_four}</span>
    </>
  ),
});

const columns: readonly Column<Key>[] = [
  {
    name: 'secret',
    header: 'Secret',
    width: 9,
    from: 'wide',
    cell: ({ prefix, last_four }) => (
      <code>
        {prefix}…{last_four}
      </code>
    ),
  },
  {
    name: 'scopes',
    header: 'Scopes',
    width: 13,
    from: 'desktop',
    cell: ({ scopes }) => <span title={scopes.join('\n')}>{scopes.join(', ')}</span>,
  },
  {
    name: 'state',
    header: 'Status',
    width: 6.5,
    cell: (key) => <span className={`chip key-${stateOf(key)}`}>{words(stateOf(key))}</span>,
  },
  {
    name: 'used',
    header: 'Last used',
    width: 10.5,
    from: 'tablet',
    cell: ({ last_used_at }) => (last_used_at ? time(last_used_at) : <span className="quiet">Never</span>),
  },
];

const limits = (nameOf: (id: string) => string): Column<Key> => ({
  name: 'limits',
  header: 'Limits',
  width: 12,
  from: 'desktop',
  cell: ({ expires_at, project_ids, rate_limit }) => {
    const parts = [
      expires_at && `Until ${day(expires_at.slice(0, 10))}`,
      project_ids?.map(nameOf).join(', '),
      rate_limit && `${number(rate_limit)} a minute`,
    ];
    const text = parts.filter(Boolean).join(' · ');
    return text ? <span title={text}>{text}</span> : <span className="quiet">None</span>;
  },
});

const actions = (open: (dialog: Open) => void): Column<Key> => ({
  name: 'actions',
  header: 'Actions',
  width: 9.5,
  end: true,
  cell: (key) =>
    key.revoked_at === null && (
      <>
        <Button small plain aria-label={`Rotate ${key.name}`} onPress={() => open({ kind: 'rotate', key })}>
          Rotate
        </Button>
        <Button small aria-label={`Revoke ${key.name}`} onPress={() => open({ kind: 'revoke', key })}>
          Revoke
        </Button>
      </>
    ),
});

function Revoke({ revoked, onClose }: { revoked: Key; onClose: () => void }) {
  const refresh = useRefresh();
  const me = useMe();
  const revoke = async () => {
    await answerOf(
      api.DELETE('/v1/keys/{id}', { params: { path: { id: revoked.id } }, ...ifMatch(revoked) }),
    );
    toast(`${revoked.name} is revoked.`);
    await refresh();
  };
  return (
    <Confirm title={`Revoke ${revoked.name}?`} action="Revoke" danger act={revoke} onClose={onClose}>
      <p>It is refused from the next request on. This cannot be taken back.</p>
      {revoked.id === me.key_id && (
        <p className="notice">This is the key you are signed in with: you will be signed out.</p>
      )}
    </Confirm>
  );
}

type RotateProps = { rotated: Key; onClose: () => void; onMade: (key: KeyWithSecret) => void };

function Rotate({ rotated, onClose, onMade }: RotateProps) {
  const refresh = useRefresh();
  const me = useMe();
  const isMine = rotated.id === me.key_id;
  const rotate = async () => {
    const key = await answerOf(
      api.POST('/v1/keys/{id}/rotate', {
        params: { path: { id: rotated.id } },
        // Long enough to put the new one everywhere, and, for one's own, to sign in again.
        body: { overlap_seconds: 3600 },
      }),
    );
    await refresh();
    onMade(key);
  };
  return (
    <Confirm title={`Rotate ${rotated.name}?`} action="Rotate" act={rotate} onClose={onClose}>
      <p>It gets a new secret, shown once. The secret until now works for one more hour.</p>
      {isMine && (
        <p className="notice">This is the key you are signed in with: sign in again with the new secret.</p>
      )}
    </Confirm>
  );
}
