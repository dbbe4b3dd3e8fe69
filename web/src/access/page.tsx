import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, dataOrThrow } from '../api/client.ts';
import type { Access } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { Button, ButtonLink } from '../components/button.tsx';
import { CreateButton } from '../components/create-button.tsx';
import { Empty } from '../components/empty.tsx';
import { FilterBar, NoMatches, useFilters } from '../components/filters.tsx';
import { ListHead } from '../components/list.tsx';
import { Loaded } from '../components/loading.tsx';
import { type Column, Table } from '../components/table.tsx';
import { formatAge, formatDayOf, formatTime, matchesText, pluralize, summarizeScopes } from '../format.ts';
import { Title } from '../layout/title.tsx';
import { useProjectKeys } from '../projects/queries.ts';
import { EndAccess } from './access-card.tsx';
import { AccessDialog } from './access-form.tsx';
import { Invitation } from './invitation.tsx';
import { presetOf } from './presets.ts';
import { useAccessList, useAccessObstacle, useManagesAccess } from './queries.ts';
import { describeSource, describeWays } from './words.ts';

type OpenDialog = { kind: 'invite' | 'end'; access: Access };

/** Who has access, and what each person can do. */
export function AccessPage() {
  const filterState = useFilters(['q']);
  const [open, setOpen] = useState<OpenDialog>();
  const hasScope = useHasScope();
  const canManage = useManagesAccess();
  const obstacleOf = useAccessObstacle();
  const query = useAccessList();
  const projectKeyOf = useProjectKeys();
  const close = () => setOpen(undefined);
  const { q = '' } = filterState.filters;
  return (
    <>
      <Title title="Access">
        {hasScope('events.read') && <ButtonLink href="/audit">Audit log</ButtonLink>}
        {canManage && hasScope('personnel.read') && (
          <CreateButton
            dialog={(onClose) => (
              <AccessDialog onClose={onClose} onGiven={(access) => setOpen({ kind: 'invite', access })} />
            )}
          >
            Give access
          </CreateButton>
        )}
      </Title>
      {query.data && <EndingAdministrators access={query.data} />}
      <Loaded query={query}>
        {(all) => {
          if (all.length === 0) return <NobodyYet canManage={canManage} />;
          const shown = all.filter(({ name, email }) => matchesText(q, `${name} ${email ?? ''}`));
          return (
            <>
              <FilterBar state={filterState} search="Search by name or email">
                {null}
              </FilterBar>
              {shown.length === 0 ? (
                <NoMatches title="Nobody with access matches" clear={filterState.clear} />
              ) : (
                <>
                  <ListHead>{pluralize(shown.length, 'person', 'people')} with access</ListHead>
                  <Table
                    label="Access"
                    columns={[
                      ...columnsOf(hasScope('personnel.read'), projectKeyOf),
                      ...(canManage ? [actions(setOpen, obstacleOf)] : []),
                    ]}
                    rows={shown}
                    rowKey={({ id }) => id}
                  />
                </>
              )}
            </>
          );
        }}
      </Loaded>
      {open?.kind === 'invite' && <Invitation access={open.access} onClose={close} />}
      {open?.kind === 'end' && <EndAccess access={open.access} onClose={close} />}
    </>
  );
}

const minDays = 30;

/** Says so while only keys that end soon can manage access: afterwards, only the command line could. */
function EndingAdministrators({ access }: { access: readonly Access[] }) {
  const { data: keys = [] } = useQuery({
    queryKey: ['keys', 'valid'],
    queryFn: async () =>
      (await dataOrThrow(api.GET('/v1/keys', { params: { query: { status: ['valid'] } } }))).data,
  });
  const manages = ({ scopes, project_ids }: Pick<Access, 'scopes' | 'project_ids'>) =>
    scopes.includes('keys.manage') && project_ids === null;
  const soon = new Date(Date.now() + minDays * 86_400_000).toISOString();
  const ending = keys.filter((key) => manages(key) && key.user_id === null);
  const isSafe =
    access.some((one) => manages(one) && one.ways.some((way) => way !== 'oidc')) ||
    ending.some(({ expires_at }) => expires_at === null || expires_at >= soon);
  if (isSafe || ending.length === 0) return null;
  return (
    <p className="notice bad">
      Soon nobody can manage access here: only {ending.map(({ name }) => name).join(', ')}{' '}
      {ending.length === 1 ? 'can, and expires' : 'can, and all of them expire'} within {minDays} days. Invite
      an administrator, or create a key without an expiry.
    </p>
  );
}

const NobodyYet = ({ canManage }: { canManage: boolean }) => (
  <Empty title="Nobody has access yet">
    {canManage
      ? 'Give somebody access here or on their page, then send them an invitation link. With it they choose a password or a passkey and sign in without an API key.'
      : 'People who have access sign in without an API key. Ask an administrator to give it to them.'}
  </Empty>
);

const Time = ({ at, text }: { at: string; text: string }) => (
  <time dateTime={at} title={formatTime(at)}>
    {text}
  </time>
);

const columnsOf = (canRead: boolean, projectKeyOf: (id: string) => string): readonly Column<Access>[] => [
  {
    name: 'name',
    header: 'Name',
    cell: ({ user_id, name, email, scopes }) => (
      <>
        {canRead ? (
          <Link className="row-link" href={`/personnel/${user_id}`} title={name}>
            <bdi>{name}</bdi>
          </Link>
        ) : (
          <bdi>{name}</bdi>
        )}
        <span className="secondary-line">
          {presetOf(scopes)}
          {email && ` · ${email}`}
        </span>
      </>
    ),
  },
  { name: 'email', header: 'Email', width: 12, from: 'laptop', cell: ({ email }) => email },
  {
    name: 'access',
    header: 'Access',
    width: 7.5,
    from: 'tablet',
    cell: ({ scopes }) => <span title={summarizeScopes(scopes)}>{presetOf(scopes)}</span>,
  },
  {
    name: 'projects',
    header: 'Projects',
    width: 6.5,
    from: 'large',
    cell: ({ project_ids }) =>
      project_ids?.map(projectKeyOf).join(', ') ?? <span className="quiet">All</span>,
  },
  {
    name: 'source',
    header: 'Source',
    width: 8,
    from: 'wide',
    cell: ({ source }) => describeSource(source),
  },
  {
    name: 'ways',
    header: 'Signs in with',
    width: 7.5,
    from: 'desktop',
    cell: ({ ways }) => (ways.length > 0 ? describeWays(ways) : <span className="quiet">Nothing yet</span>),
  },
  {
    name: 'seen',
    header: 'Last seen',
    width: 7,
    from: 'tablet',
    cell: ({ last_seen_at }) =>
      last_seen_at ? (
        <Time at={last_seen_at} text={formatAge(last_seen_at)} />
      ) : (
        <span className="quiet">Not signed in</span>
      ),
  },
  {
    name: 'invited',
    header: 'Invited until',
    width: 7,
    from: 'desktop',
    cell: ({ invited_until }) =>
      invited_until ? (
        <Time at={invited_until} text={formatDayOf(invited_until)} />
      ) : (
        <span className="quiet">–</span>
      ),
  },
];

const actions = (
  open: (dialog: OpenDialog) => void,
  obstacleOf: (access: Access) => string | undefined,
): Column<Access> => ({
  name: 'actions',
  header: 'Actions',
  width: 8,
  end: true,
  cell: (access) =>
    obstacleOf(access) === undefined && (
      <>
        {access.email !== null && (
          <Button
            small
            plain
            aria-label={`Invite ${access.name}`}
            onPress={() => open({ kind: 'invite', access })}
          >
            Invite
          </Button>
        )}
        <Button
          small
          aria-label={`End access of ${access.name}`}
          onPress={() => open({ kind: 'end', access })}
        >
          End
        </Button>
      </>
    ),
});
