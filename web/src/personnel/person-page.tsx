import { Link, useParams } from 'wouter';
import { api, dataOrThrow, ifMatch } from '../api/client.ts';
import type { Person } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { useHasScope, useIsLimited } from '../api/session.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Status } from '../components/badges.tsx';
import { Card, Facts } from '../components/card.tsx';
import { DeleteButton } from '../components/delete-button.tsx';
import { DialogButton } from '../components/dialog.tsx';
import { History } from '../components/history.tsx';
import { toast } from '../components/toast.tsx';
import { formatDay, humanize } from '../format.ts';
import { LoadedPage } from '../layout/loaded-page.tsx';
import { Title } from '../layout/title.tsx';
import { Assignments } from './assignments.tsx';
import { Deactivate } from './deactivate.tsx';
import { EditPerson } from './person-form.tsx';
import { usePerson } from './queries.ts';

export function PersonPage() {
  const { id = '' } = useParams();
  const hasScope = useHasScope();
  return (
    <LoadedPage query={usePerson(id)}>
      {(person) => (
        <>
          <Head person={person} />
          <div className="columns">
            <div className="stack">
              {hasScope('projects.read') && <Assignments person={person} />}
              <Groups person={person} />
            </div>
            <div className="stack">
              <Details person={person} />
              <History
                id={person.user_id}
                read={(client) =>
                  client.GET('/v1/personnel/{user_id}/history', {
                    params: { path: { user_id: person.user_id } },
                  })
                }
              />
            </div>
          </div>
        </>
      )}
    </LoadedPage>
  );
}

function Head({ person }: { person: Person }) {
  const hasScope = useHasScope();
  const isLimited = useIsLimited();
  const manager = usePerson(person.manager_user_id);
  const accountable = usePerson(person.accountable_user_id);
  const names = { manager: manager.data?.name ?? null, accountable: accountable.data?.name ?? null };
  const remove = () =>
    dataOrThrow(
      api.DELETE('/v1/personnel/{user_id}', {
        params: { path: { user_id: person.user_id } },
        ...ifMatch(person),
      }),
    );
  return (
    <Title
      title={person.name}
      breadcrumbs={
        <>
          <Link href="/personnel">Personnel</Link> / <bdi>{person.name}</bdi>
        </>
      }
    >
      {hasScope('personnel.manage') && (
        <>
          <DialogButton
            icon="edit"
            dialog={(onClose) => <EditPerson person={person} names={names} onClose={onClose} />}
          >
            Edit
          </DialogButton>
          {!isLimited && (
            <>
              {person.status === 'active' ? (
                <DialogButton dialog={(onClose) => <Deactivate person={person} onClose={onClose} />}>
                  Deactivate…
                </DialogButton>
              ) : (
                <Reactivate person={person} />
              )}
              <DeleteButton name={person.name} list="/personnel" remove={remove}>
                People with assigned work can't be deleted. Deactivate them instead. Deleting can't be undone.
              </DeleteButton>
            </>
          )}
        </>
      )}
    </Title>
  );
}

function Reactivate({ person }: { person: Person }) {
  const refresh = useRefresh();
  const reactivate = async () => {
    const params = { path: { user_id: person.user_id } };
    await dataOrThrow(
      api.POST('/v1/personnel/{user_id}/reactivate', { params, body: {}, ...ifMatch(person) }),
    );
    await refresh();
    toast(`Reactivated ${person.name}. Reassigned work stays with its new owners.`);
  };
  return <ActionButton act={reactivate}>Reactivate</ActionButton>;
}

function Details({ person }: { person: Person }) {
  const manager = usePerson(person.manager_user_id);
  const accountable = usePerson(person.accountable_user_id);
  const link = (one: Person | undefined) => one && <Link href={`/personnel/${one.user_id}`}>{one.name}</Link>;
  return (
    <Card id="details" title="Details">
      <Facts
        facts={[
          ['Status', <Status key="status" status={person.status} />],
          [
            'Email',
            person.email && (
              <a href={`mailto:${encodeURIComponent(person.email).replace('%40', '@')}`}>{person.email}</a>
            ),
          ],
          ['Phone', person.phone],
          ['Title', person.title],
          ['Department', person.department],
          ['Location', person.location],
          ['Time zone', person.time_zone],
          ['Kind', person.kind !== 'human' && humanize(person.kind)],
          ['Accountable person', link(accountable.data)],
          ['Manager', link(manager.data)],
          ['Skills', person.skills.length > 0 && person.skills.join(', ')],
          ['First day', person.start_on && formatDay(person.start_on)],
          ['Last day', person.end_on && formatDay(person.end_on)],
          ['External ID', person.external_id],
        ]}
      />
    </Card>
  );
}

function Groups({ person }: { person: Person }) {
  const hasScope = useHasScope();
  return (
    <Card id="groups" title="Groups">
      {person.groups.length === 0 ? (
        <p className="quiet">
          Not in any groups. {hasScope('personnel.manage') && <Link href="/groups">Add to a group</Link>}
        </p>
      ) : (
        <ul className="button-row">
          {person.groups.map(({ id, name }) => (
            <li key={id}>
              <Link className="chip" href={`/groups/${id}`}>
                <bdi>{name}</bdi>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
