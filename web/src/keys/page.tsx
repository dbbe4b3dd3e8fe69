import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { SessionList } from '../access/sessions.tsx';
import { api, dataOrThrow, ifMatch } from '../api/client.ts';
import type { Key, KeyWithSecret } from '../api/openapi.ts';
import { latestOf, useRefresh, useWrite } from '../api/queries.ts';
import { useHasScope, useMe } from '../api/session.ts';
import { Status } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { Theirs } from '../components/conflict.tsx';
import { CreateButton } from '../components/create-button.tsx';
import { Confirm, Dialog } from '../components/dialog.tsx';
import { FilterBar, FilterMenu, NoMatches, useFilters } from '../components/filters.tsx';
import { Loaded } from '../components/loading.tsx';
import { Secret } from '../components/secret.tsx';
import { CellButton, type Column, Table } from '../components/table.tsx';
import { toast } from '../components/toast.tsx';
import { useOpened } from '../components/use-conflict.ts';
import {
  dayOf,
  enumOptions,
  formatDay,
  formatNumber,
  formatTime,
  humanize,
  summarizeScopes,
} from '../format.ts';
import { Title } from '../layout/title.tsx';
import { PersonLink, PersonName } from '../personnel/person-link.tsx';
import { useProjectKeys } from '../projects/queries.ts';
import { EditKey, NewKey } from './key-form.tsx';

type OpenDialog = { kind: 'edit' | 'sessions' | 'revoke' | 'rotate'; key: Key };

/** The API keys and what each can do. */
export function KeysPage() {
  const filterState = useFilters(['q', 'status']);
  const { filters, bind, clear } = filterState;
  const [open, setOpen] = useState<OpenDialog>();
  const [shown, setShown] = useState<{ title: string; secret: string | null }>();
  const hasScope = useHasScope();
  const me = useMe();
  const query = useQuery({
    queryKey: ['keys', filters],
    queryFn: async () =>
      (
        await dataOrThrow(api.GET('/v1/keys', { params: { query: filters as { q?: string } } }))
      ).data.toReversed(),
  });
  const projectKeyOf = useProjectKeys();
  const close = () => setOpen(undefined);
  // A key can't edit a key that has scopes which it doesn't have itself.
  const isEditable = ({ scopes, revoked_at }: Key) =>
    hasScope('keys.manage') && revoked_at === null && scopes.every(hasScope);
  return (
    <>
      <Title title="Keys">
        {hasScope('keys.manage') && (
          <CreateButton
            dialog={(onClose) => (
              <NewKey
                onClose={onClose}
                onCreated={({ name, secret }) => setShown({ title: `New key: ${name}`, secret })}
              />
            )}
          >
            Create key
          </CreateButton>
        )}
      </Title>
      <FilterBar state={filterState} search="Search by name">
        <FilterMenu
          label="Status"
          options={enumOptions(['valid', 'expired', 'revoked'])}
          {...bind('status')}
        />
      </FilterBar>
      <Loaded query={query}>
        {(keys) =>
          keys.length === 0 ? (
            <NoMatches title="No keys match these filters" clear={clear} />
          ) : (
            <Table
              label="Keys"
              columns={[
                nameColumn(isEditable, (key) => setOpen({ kind: 'edit', key })),
                ...(keys.some(({ user_id }) => user_id !== null) ? [personColumn] : []),
                ...columns(me.key_id),
                limits(projectKeyOf),
                ...(hasScope('keys.manage') ? [actions(setOpen)] : []),
              ]}
              rows={keys}
              rowKey={({ id }) => id}
            />
          )
        }
      </Loaded>
      {shown && (
        <Secret {...shown} onClose={() => setShown(undefined)}>
          Copy this key now; you won't see it again.
        </Secret>
      )}
      {open?.kind === 'edit' && (
        <EditKey
          edited={open.key}
          projectKeyOf={projectKeyOf}
          onShowSessions={() => setOpen({ kind: 'sessions', key: open.key })}
          onClose={close}
        />
      )}
      {open?.kind === 'sessions' && (
        <Dialog title={`Sessions of ${open.key.name}`} onClose={close}>
          <div className="dialog-body">
            <SessionList of={{ key_id: open.key.id }} />
          </div>
        </Dialog>
      )}
      {open?.kind === 'revoke' && <Revoke revoked={latestOf(query.data, open.key)} onClose={close} />}
      {open?.kind === 'rotate' && (
        <Rotate
          rotated={open.key}
          onClose={close}
          onRotated={({ name, secret }) => setShown({ title: `New secret: ${name}`, secret })}
        />
      )}
    </>
  );
}

const statusOf = ({ revoked_at, expires_at }: Key) =>
  revoked_at ? 'revoked' : expires_at && expires_at <= new Date().toISOString() ? 'expired' : 'valid';

const nameColumn = (isEditable: (key: Key) => boolean, edit: (key: Key) => void): Column<Key> => ({
  name: 'name',
  header: 'Name',
  cell: (key) => (
    <>
      {isEditable(key) ? (
        <CellButton label={`Edit ${key.name}`} onClick={() => edit(key)}>
          <bdi>{key.name}</bdi>
        </CellButton>
      ) : (
        <bdi className="cell-name" tabIndex={-1}>
          {key.name}
        </bdi>
      )}
      <span className="secondary-line">
        {humanize(statusOf(key))} · …{key.last_four}
        {key.user_id && (
          <>
            {' · key of '}
            <PersonName user_id={key.user_id} name={null} />
          </>
        )}
      </span>
    </>
  ),
});

/** Whose key it is; the others are of programs. */
const personColumn: Column<Key> = {
  name: 'person',
  header: 'Person',
  width: 10,
  from: 'tablet',
  cell: ({ user_id }) =>
    user_id ? <PersonLink user_id={user_id} /> : <span className="quiet">Program</span>,
};

const columns = (usedKeyId: string | null): readonly Column<Key>[] => [
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
    cell: ({ scopes }) => (
      <span className="two-lines" title={scopes.join('\n')}>
        {summarizeScopes(scopes)}
      </span>
    ),
  },
  {
    name: 'status',
    header: 'Status',
    width: 5.5,
    from: 'tablet',
    cell: (key) => <Status status={statusOf(key)} />,
  },
  {
    name: 'used',
    header: 'Last used',
    width: 13,
    from: 'tablet',
    // The service notes the last use once a minute, but this page has just used its own key.
    cell: ({ id, last_used_at }) => {
      if (id === usedKeyId) return 'In use now';
      return last_used_at ? formatTime(last_used_at) : <span className="quiet">Never</span>;
    },
  },
];

const limits = (projectKeyOf: (id: string) => string): Column<Key> => ({
  name: 'limits',
  header: 'Limits',
  width: 12,
  from: 'desktop',
  cell: ({ expires_at, project_ids, rate_limit }) => {
    const parts = [
      expires_at && `Until ${formatDay(dayOf(expires_at))}`,
      project_ids?.map(projectKeyOf).join(', '),
      rate_limit === 0 ? 'Unlimited requests' : rate_limit && `${formatNumber(rate_limit)} per minute`,
    ];
    const text = parts.filter(Boolean).join(' · ');
    return text ? <span title={text}>{text}</span> : <span className="quiet">None</span>;
  },
});

const actions = (open: (dialog: OpenDialog) => void): Column<Key> => ({
  name: 'actions',
  header: 'Actions',
  width: 9.2,
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

function Revoke({ revoked: live, onClose }: { revoked: Key; onClose: () => void }) {
  const { item: revoked, former } = useOpened(live);
  const refresh = useRefresh();
  const me = useMe();
  const revoke = async () => {
    await dataOrThrow(
      api.DELETE('/v1/keys/{id}', { params: { path: { id: revoked.id } }, ...ifMatch(revoked) }),
    );
    toast(`Revoked ${revoked.name}`);
    await refresh();
  };
  return (
    <Confirm title={`Revoke ${revoked.name}?`} action="Revoke" danger act={revoke} onClose={onClose}>
      <Theirs item={revoked} former={former} />
      <p>Stops working immediately. This can't be undone.</p>
      {revoked.id === me.key_id && (
        <p className="notice">You are signed in with this key, so you will be signed out.</p>
      )}
    </Confirm>
  );
}

type RotateProps = { rotated: Key; onClose: () => void; onRotated: (key: KeyWithSecret) => void };

function Rotate({ rotated, onClose, onRotated }: RotateProps) {
  const write = useWrite();
  const me = useMe();
  const rotate = async () =>
    onRotated(
      await write(
        api.POST('/v1/keys/{id}/rotate', {
          params: { path: { id: rotated.id } },
          // Time to replace the secret everywhere.
          body: { overlap_seconds: 3600 },
        }),
      ),
    );
  return (
    <Confirm title={`Rotate ${rotated.name}?`} action="Rotate" act={rotate} onClose={onClose}>
      <p>
        Creates a new secret, shown once. The old secret works for one more hour. Browsers that signed in with
        the key are signed out.
      </p>
      {rotated.id === me.key_id && (
        <p className="notice">You are signed in with this key, and stay signed in here.</p>
      )}
    </Confirm>
  );
}
