import { Fragment } from 'react';
import { Link, useParams } from 'wouter';
import { api, dataOrThrow } from '../api/client.ts';
import type { Group, GroupPatch, Person } from '../api/openapi.ts';
import { useRows } from '../api/queries.ts';
import { useHasScope, useIsLimited } from '../api/session.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Card, Facts } from '../components/card.tsx';
import { textColumn } from '../components/columns.tsx';
import { DeleteButton } from '../components/delete-button.tsx';
import { ExportButton } from '../components/export.tsx';
import { FilterToggle, useFilters } from '../components/filters.tsx';
import { History } from '../components/history.tsx';
import { List } from '../components/list.tsx';
import { PersonPicker } from '../components/picker.tsx';
import type { Column } from '../components/table.tsx';
import { EditButton } from '../fields/edit-dialog.tsx';
import type { Editor } from '../fields/editor.ts';
import { useInlineFacts } from '../fields/inline-field.tsx';
import { pluralize } from '../format.ts';
import { EditableTitle } from '../layout/editable-title.tsx';
import { LoadedPage } from '../layout/loaded-page.tsx';
import { nameColumn } from '../personnel/name-column.tsx';
import { PersonLink } from '../personnel/person-link.tsx';
import { useGroupEditor } from './group-form.tsx';
import { useMembership } from './membership.ts';
import { OpenWork } from './open-work.tsx';
import { useAncestors, useGroup } from './queries.ts';
import './groups.css';

export function GroupPage() {
  const { id = '' } = useParams();
  return <LoadedPage query={useGroup(id)}>{(group) => <GroupContents group={group} />}</LoadedPage>;
}

function GroupContents({ group }: { group: Group }) {
  const editor = useGroupEditor(group);
  const hasScope = useHasScope();
  return (
    <>
      <Head editor={editor} />
      <div className="columns">
        <Members group={group} />
        <div className="stack">
          <Details editor={editor} />
          {hasScope('projects.read') && <OpenWork group={group} />}
          <History subject={{ id: group.id, path: `/v1/groups/${group.id}` }} />
        </div>
      </div>
    </>
  );
}

type Props = { editor: Editor<GroupPatch, Group> };

function Head({ editor }: Props) {
  const group = editor.item;
  const isLimited = useIsLimited();
  const ancestors = useAncestors(group);
  return (
    <EditableTitle
      editor={editor}
      name="name"
      title={group.name}
      breadcrumbs={
        <>
          <Link href="/groups">Groups</Link>
          {ancestors.map((above) => (
            <Fragment key={above.id}>
              {' / '}
              <GroupLink group={above} />
            </Fragment>
          ))}
          {' / '}
          <bdi>{group.name}</bdi>
        </>
      }
    >
      {editor.canEdit && (
        <>
          <EditButton editor={editor} />
          {!isLimited && (
            <DeleteButton {...editor}>
              This can't be undone. A group that owns risks or issues or has subgroups can't be deleted.
              Reassign those first.
            </DeleteButton>
          )}
        </>
      )}
    </EditableTitle>
  );
}

const GroupLink = ({ group: { id, name } }: { group: Group }) => (
  <Link href={`/groups/${id}`}>
    <bdi>{name}</bdi>
  </Link>
);

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
  textColumn('title', 'Title', { width: 16, from: 'tablet' }),
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

function Details({ editor }: Props) {
  const fact = useInlineFacts(editor);
  const group = editor.item;
  const parent = useAncestors(group).at(-1);
  return (
    <Card id="details" title="Details">
      <Facts
        facts={[
          fact('description'),
          fact('parent_id', parent && <GroupLink key="parent" group={parent} />),
          fact('lead_user_id', group.lead_user_id && <PersonLink key="lead" user_id={group.lead_user_id} />),
          fact('external_id'),
        ]}
      />
    </Card>
  );
}
