import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'wouter';
import { api, dataOrThrow, ifMatch } from '../api/client.ts';
import type { Group, Person } from '../api/openapi.ts';
import { useRows } from '../api/queries.ts';
import { useHasScope, useIsLimited } from '../api/session.ts';
import { ActionButton } from '../components/action-button.tsx';
import { PersonLabel } from '../components/badges.tsx';
import { Card, Facts } from '../components/card.tsx';
import { DeleteButton } from '../components/delete-button.tsx';
import { DialogButton } from '../components/dialog.tsx';
import { ExportButton } from '../components/export.tsx';
import { FilterToggle, useFilters } from '../components/filters.tsx';
import { History } from '../components/history.tsx';
import { List } from '../components/list.tsx';
import { MarkdownText } from '../components/markdown-text.tsx';
import { PersonPicker } from '../components/picker.tsx';
import type { Column } from '../components/table.tsx';
import { pluralize } from '../format.ts';
import { LoadedPage } from '../layout/loaded-page.tsx';
import { Title } from '../layout/title.tsx';
import { nameColumn } from '../personnel/name-column.tsx';
import { usePerson } from '../personnel/queries.ts';
import { EditGroup } from './group-form.tsx';
import { useMembership } from './membership.ts';
import { useGroups } from './queries.ts';
import './groups.css';

export function GroupPage() {
  const { id = '' } = useParams();
  const query = useQuery({
    queryKey: ['group', id],
    queryFn: () => dataOrThrow(api.GET('/v1/groups/{id}', { params: { path: { id } } })),
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
                id={group.id}
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

/** The names of the parent group and the lead. */
function useNames({ parent_id, lead_user_id }: Group) {
  const { data: groups = [] } = useGroups();
  const lead = usePerson(lead_user_id);
  return { parent: groups.find(({ id }) => id === parent_id)?.name ?? null, lead: lead.data?.name ?? null };
}

function Head({ group }: { group: Group }) {
  const hasScope = useHasScope();
  const isLimited = useIsLimited();
  const names = useNames(group);
  const remove = () =>
    dataOrThrow(api.DELETE('/v1/groups/{id}', { params: { path: { id: group.id } }, ...ifMatch(group) }));
  return (
    <Title
      title={group.name}
      breadcrumbs={
        <>
          <Link href="/groups">Groups</Link>
          {names.parent && (
            <>
              {' / '}
              <Link href={`/groups/${group.parent_id}`}>{names.parent}</Link>
            </>
          )}{' '}
          / <bdi>{group.name}</bdi>
        </>
      }
    >
      {hasScope('personnel.manage') && (
        <>
          <DialogButton
            icon="edit"
            dialog={(onClose) => <EditGroup group={group} {...names} onClose={onClose} />}
          >
            Edit
          </DialogButton>
          {!isLimited && (
            <DeleteButton name={group.name} list="/groups" remove={remove}>
              This can't be undone. A group that owns risks or issues or has subgroups can't be deleted.
              Reassign those first.
            </DeleteButton>
          )}
        </>
      )}
    </Title>
  );
}

function Members({ group }: { group: Group }) {
  const { filters, bind } = useFilters(['transitive']);
  const hasScope = useHasScope();
  const transitive = filters.transitive === 'true';
  const members = useRows(['members', group.id, transitive], (paging) =>
    dataOrThrow(
      api.GET('/v1/groups/{id}/members', {
        params: { path: { id: group.id }, query: { transitive, ...paging } },
      }),
    ),
  );
  const { total } = members;
  const { add, remove } = useMembership();
  const isEditable = hasScope('personnel.manage') && !transitive;
  return (
    <section aria-labelledby="members">
      <header className="title">
        <h2 id="members">{total === null ? 'Members' : pluralize(total, 'member')}</h2>
        <div className="actions">
          <FilterToggle label="Include subgroups" {...bind('transitive')} />
          <ExportButton path={`/v1/groups/${group.id}/members`} filters={filters} name="members" />
        </div>
      </header>
      {isEditable && (
        <div className="add-member">
          <PersonPicker
            clearsOnSelect
            // Undo would end a membership that existed before.
            excluded={members.rows.map(({ user_id }) => user_id)}
            label="Add member"
            placeholder="Add a member by name"
            value=""
            name=""
            onChange={(user_id, name) => user_id && add({ user_id, name }, group)}
          />
        </div>
      )}
      <List
        label="Members"
        list={members}
        columns={isEditable ? [...columns, removeColumn((person) => remove(person, group))] : columns}
        rowKey={({ user_id }) => user_id}
        empty={<p className="quiet">No members yet</p>}
      />
    </section>
  );
}

const columns: readonly Column<Person>[] = [
  nameColumn,
  { name: 'title', header: 'Title', width: 16, from: 'tablet', cell: ({ title }) => <bdi>{title}</bdi> },
];

const removeColumn = (remove: (person: Person) => Promise<void>): Column<Person> => ({
  name: 'actions',
  header: 'Actions',
  width: 6,
  end: true,
  cell: (person) => (
    <ActionButton small aria-label={`Remove ${person.name}`} act={() => remove(person)}>
      Remove
    </ActionButton>
  ),
});

function Details({ group }: { group: Group }) {
  const hasScope = useHasScope();
  const names = useNames(group);
  return (
    <Card id="details" title="Details">
      <Facts
        facts={[
          ['Description', group.description && <MarkdownText key="description" text={group.description} />],
          ['Parent group', names.parent],
          [
            'Lead',
            names.lead && (
              <Link key="lead" href={`/personnel/${group.lead_user_id}`}>
                <PersonLabel name={names.lead} />
              </Link>
            ),
          ],
          [
            'Owned risks',
            hasScope('projects.read') && <Link href={`/risks?owner_group_id=${group.id}`}>View risks</Link>,
          ],
          ['External ID', group.external_id],
        ]}
      />
    </Card>
  );
}
