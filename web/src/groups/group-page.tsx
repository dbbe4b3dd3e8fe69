import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'wouter';
import { answerOf, api, ifMatch } from '../api/client.ts';
import type { Group, Person } from '../api/openapi.ts';
import { useRefresh, useRows } from '../api/queries.ts';
import { useIsLimited, useMay } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';
import { DeleteButton } from '../components/delete-button.tsx';
import { DialogButton } from '../components/dialog.tsx';
import { ExportButton } from '../components/export.tsx';
import { Facts } from '../components/facts.tsx';
import { Toggle, useFilters } from '../components/filters.tsx';
import { History } from '../components/history.tsx';
import { List } from '../components/list.tsx';
import { PersonPicker } from '../components/picker.tsx';
import type { Column } from '../components/table.tsx';
import { toast } from '../components/toast.tsx';
import { plural } from '../format.ts';
import { LoadedPage } from '../layout/loaded-page.tsx';
import { Title } from '../layout/title.tsx';
import { nameColumn } from '../personnel/name-column.tsx';
import { usePerson } from '../personnel/queries.ts';
import { EditGroup } from './group-form.tsx';
import { useGroups } from './queries.ts';
import './groups.css';

export function GroupPage() {
  const { id = '' } = useParams();
  const query = useQuery({
    queryKey: ['group', id],
    queryFn: () => answerOf(api.GET('/v1/groups/{id}', { params: { path: { id } } })),
  });
  return (
    <LoadedPage query={query}>
      {(group) => (
        <>
          <Head group={group} />
          <div className="columns">
            <Members group={group} />
            <div className="stack">
              <Details group={group} />
              <History
                of={group.id}
                read={(client) =>
                  client.GET('/v1/groups/{id}/history', { params: { path: { id: group.id } } })
                }
              />
            </div>
          </div>
        </>
      )}
    </LoadedPage>
  );
}

/** The names around a group: what it is part of, and who leads it. */
function useNames({ parent_id, lead_user_id }: Group) {
  const { data: groups = [] } = useGroups();
  const lead = usePerson(lead_user_id);
  return { parent: groups.find(({ id }) => id === parent_id)?.name ?? null, lead: lead.data?.name ?? null };
}

function Head({ group }: { group: Group }) {
  const may = useMay();
  const isLimited = useIsLimited();
  const names = useNames(group);
  const remove = () =>
    answerOf(api.DELETE('/v1/groups/{id}', { params: { path: { id: group.id } }, ...ifMatch(group) }));
  return (
    <Title
      title={group.name}
      above={
        <>
          <Link href="/groups">Groups</Link>
          {names.parent && (
            <>
              {' / '}
              <Link href={`/groups/${group.parent_id}`}>{names.parent}</Link>
            </>
          )}
        </>
      }
    >
      {may('personnel.manage') && (
        <>
          <DialogButton
            icon="edit"
            dialog={(onClose) => <EditGroup group={group} {...names} onClose={onClose} />}
          >
            Edit
          </DialogButton>
          {!isLimited && (
            <DeleteButton name={group.name} list="/groups" remove={remove}>
              This cannot be taken back. A group that owns risks or issues, or has groups below it, stays
              until those are moved.
            </DeleteButton>
          )}
        </>
      )}
    </Title>
  );
}

function Members({ group }: { group: Group }) {
  const { filters, choice } = useFilters(['transitive']);
  const may = useMay();
  const transitive = filters.transitive === 'true';
  const members = useRows(['members', group.id, transitive], (paging) =>
    answerOf(
      api.GET('/v1/groups/{id}/members', {
        params: { path: { id: group.id }, query: { transitive, ...paging } },
      }),
    ),
  );
  const { rows, total } = members;
  const change = useMembership(group);
  const isChangeable = may('personnel.manage') && !transitive;
  return (
    <section aria-labelledby="members">
      <header className="title">
        <h2 id="members">{total === null ? 'Members' : plural(total, 'member')}</h2>
        <div className="actions">
          <Toggle label="With groups below" {...choice('transitive')} />
          <ExportButton path={`/v1/groups/${group.id}/members`} filters={filters} name="members" />
        </div>
      </header>
      {isChangeable && (
        <div className="add-member">
          {/* Anew after each: it is empty again. */}
          <PersonPicker
            key={rows.length}
            label="Add a member"
            value=""
            name=""
            onChange={(id, name) => id && change.add(id, name)}
          />
        </div>
      )}
      <List
        label="Members"
        list={members}
        columns={isChangeable ? [...columns, removal(change.remove)] : columns}
        rowKey={({ user_id }) => user_id}
        empty={<p className="quiet">Nobody is in it yet.</p>}
      />
    </section>
  );
}

function useMembership(group: Group) {
  const refresh = useRefresh();
  const params = (user_id: string) => ({ params: { path: { id: group.id, user_id } } });
  const put = async (user_id: string) => {
    await answerOf(api.PUT('/v1/groups/{id}/members/{user_id}', params(user_id)));
    await refresh();
  };
  const take = async (user_id: string) => {
    await answerOf(api.DELETE('/v1/groups/{id}/members/{user_id}', params(user_id)));
    await refresh();
  };
  const told = (work: Promise<void>, text: string, undo: () => Promise<void>) =>
    work.then(
      () => toast(text, undo),
      (error: Error) => toast(error.message),
    );
  return {
    add: (user_id: string, name: string) =>
      told(put(user_id), `${name} is in ${group.name}.`, () => take(user_id)),
    remove: ({ user_id, name }: Person) =>
      told(take(user_id), `${name} is out of ${group.name}.`, () => put(user_id)),
  };
}

const columns: readonly Column<Person>[] = [
  nameColumn,
  { name: 'title', header: 'Title', width: 16, from: 'tablet', cell: ({ title }) => <bdi>{title}</bdi> },
];

const removal = (remove: (person: Person) => void): Column<Person> => ({
  name: 'actions',
  header: 'Actions',
  width: 6,
  end: true,
  cell: (person) => (
    <Button small aria-label={`Remove ${person.name}`} onPress={() => remove(person)}>
      Remove
    </Button>
  ),
});

function Details({ group }: { group: Group }) {
  const may = useMay();
  const names = useNames(group);
  return (
    <Card id="details" title="Details">
      <Facts
        facts={[
          ['Description', group.description],
          ['Part of', names.parent],
          ['Lead', names.lead && <Link href={`/personnel/${group.lead_user_id}`}>{names.lead}</Link>],
          ['Owns', may('projects.read') && <Link href={`/risks?owner_group_id=${group.id}`}>Its risks</Link>],
          ['Your id', group.external_id],
        ]}
      />
    </Card>
  );
}
