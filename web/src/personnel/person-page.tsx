import { Link, useParams } from 'wouter';
import { answerOf, api, ifMatch } from '../api/client.ts';
import type { Person } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { useIsLimited, useMay } from '../api/session.ts';
import { Status } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';
import { DeleteButton } from '../components/delete-button.tsx';
import { DialogButton } from '../components/dialog.tsx';
import { Facts } from '../components/facts.tsx';
import { History } from '../components/history.tsx';
import { toast } from '../components/toast.tsx';
import { day, words } from '../format.ts';
import { LoadedPage } from '../layout/loaded-page.tsx';
import { Title } from '../layout/title.tsx';
import { Carries } from './carries.tsx';
import { Deactivate } from './deactivate.tsx';
import { EditPerson } from './person-form.tsx';
import { usePerson } from './queries.ts';

export function PersonPage() {
  const { id = '' } = useParams();
  const may = useMay();
  return (
    <LoadedPage query={usePerson(id)}>
      {(person) => (
        <>
          <Head person={person} />
          <div className="columns">
            <div className="stack">
              {may('projects.read') && <Carries person={person} />}
              <Groups person={person} />
            </div>
            <div className="stack">
              <Details person={person} />
              <History
                of={person.user_id}
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
  const may = useMay();
  const isLimited = useIsLimited();
  const manager = usePerson(person.manager_user_id);
  const accountable = usePerson(person.accountable_user_id);
  const names = { manager: manager.data?.name ?? null, accountable: accountable.data?.name ?? null };
  const remove = () =>
    answerOf(
      api.DELETE('/v1/personnel/{user_id}', {
        params: { path: { user_id: person.user_id } },
        ...ifMatch(person),
      }),
    );
  return (
    <Title
      title={person.name}
      above={
        <>
          <Link href="/personnel">Personnel</Link> / {person.user_id}
        </>
      }
    >
      {may('personnel.manage') && (
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
                Only someone that nothing points at can be deleted, and it cannot be taken back. Who leaves is
                deactivated instead.
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
  const act = async () => {
    const params = { path: { user_id: person.user_id } };
    await answerOf(api.POST('/v1/personnel/{user_id}/reactivate', { params, body: {}, ...ifMatch(person) }));
    await refresh();
    toast(`${person.name} is active again. What was handed over stays where it is.`);
  };
  return <Button onPress={() => act().catch((error: Error) => toast(error.message))}>Reactivate</Button>;
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
            'E-mail',
            person.email && (
              <a href={`mailto:${encodeURIComponent(person.email).replace('%40', '@')}`}>{person.email}</a>
            ),
          ],
          ['Phone', person.phone],
          ['Title', person.title],
          ['Department', person.department],
          ['Location', person.location],
          ['Time zone', person.time_zone],
          ['Kind', person.kind !== 'human' && words(person.kind)],
          ['Answers for it', link(accountable.data)],
          ['Manager', link(manager.data)],
          ['Skills', person.skills.length > 0 && person.skills.join(', ')],
          ['First day', person.start_on && day(person.start_on)],
          ['Last day', person.end_on && day(person.end_on)],
          ['Your id', person.external_id],
        ]}
      />
    </Card>
  );
}

const Groups = ({ person }: { person: Person }) => (
  <Card id="groups" title="Groups">
    {person.groups.length === 0 ? (
      <p className="quiet">In no group. Groups take members on their own pages.</p>
    ) : (
      <ul className="moves">
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
