import { Link, useParams } from 'wouter';
import { AccessCards } from '../access/access-card.tsx';
import { api, ifMatch } from '../api/client.ts';
import type { Person, PersonPatch } from '../api/openapi.ts';
import { useWrite } from '../api/queries.ts';
import { useHasScope, useIsLimited } from '../api/session.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Status } from '../components/badges.tsx';
import { Card, Facts } from '../components/card.tsx';
import { DeleteButton } from '../components/delete-button.tsx';
import { DialogButton } from '../components/dialog.tsx';
import { History } from '../components/history.tsx';
import { toast } from '../components/toast.tsx';
import { Attributes } from '../fields/attributes.tsx';
import { EditButton } from '../fields/edit-dialog.tsx';
import type { Editor } from '../fields/editor.ts';
import { useInlineFacts } from '../fields/inline-field.tsx';
import { EditableTitle } from '../layout/editable-title.tsx';
import { LoadedPage } from '../layout/loaded-page.tsx';
import { Assignments } from './assignments.tsx';
import { Deactivate } from './deactivate.tsx';
import { Groups } from './groups.tsx';
import { HandoverInHistory, Handovers, useHandovers } from './handovers.tsx';
import { usePersonEditor } from './person-form.tsx';
import { PersonLink } from './person-link.tsx';
import { usePerson } from './queries.ts';
import { Reports } from './reports.tsx';

export function PersonPage() {
  const { id = '' } = useParams();
  return <LoadedPage query={usePerson(id)}>{(person) => <PersonContents person={person} />}</LoadedPage>;
}

function PersonContents({ person }: { person: Person }) {
  const hasScope = useHasScope();
  const isLimited = useIsLimited();
  const editor = usePersonEditor(person);
  const handovers = useHandovers(person.user_id);
  return (
    <>
      <Head editor={editor} />
      <div className="columns wide-side">
        <div className="stack">
          {hasScope('projects.read') && <Assignments person={person} />}
          <Handovers person={person} />
          <Reports person={person} />
          <Groups person={person} />
          {hasScope('keys.read') && !isLimited && <AccessCards person={person} />}
        </div>
        <div className="stack">
          <Details editor={editor} />
          <Attributes editor={editor} />
          <History
            subject={{ id: person.user_id, path: `/v1/personnel/${person.user_id}` }}
            below={(entry) => <HandoverInHistory person={person} handovers={handovers} entry={entry} />}
          />
        </div>
      </div>
    </>
  );
}

type Props = { editor: Editor<PersonPatch, Person> };

function Head({ editor }: Props) {
  const person = editor.item;
  const isLimited = useIsLimited();
  return (
    <EditableTitle
      editor={editor}
      name="name"
      title={person.name}
      summary={
        <>
          <Status status={person.status} />
          {person.title && <bdi>{person.title}</bdi>}
          {person.department && <bdi className="quiet">{person.department}</bdi>}
        </>
      }
      breadcrumbs={
        <>
          <Link href="/personnel">People</Link> / <bdi>{person.name}</bdi>
        </>
      }
    >
      {editor.canEdit && (
        <>
          <EditButton editor={editor} />
          {!isLimited && (
            <>
              {person.status === 'active' ? (
                <DialogButton dialog={(onClose) => <Deactivate person={person} onClose={onClose} />}>
                  Deactivate…
                </DialogButton>
              ) : (
                <Reactivate person={person} />
              )}
              <DeleteButton {...editor}>
                People with assigned work can't be deleted. Deactivate them instead. Deleting can't be undone.
              </DeleteButton>
            </>
          )}
        </>
      )}
    </EditableTitle>
  );
}

function Reactivate({ person }: { person: Person }) {
  const write = useWrite();
  const handovers = useHandovers(person.user_id);
  const reactivate = async () => {
    const params = { path: { user_id: person.user_id } };
    await write(api.POST('/v1/personnel/{user_id}/reactivate', { params, body: {}, ...ifMatch(person) }));
    const isHandedOver = handovers.some(({ undone_at }) => undone_at === null);
    toast(
      isHandedOver
        ? `Reactivated ${person.name}. Work handed over stays with its new owners: undo the hand-over to return it.`
        : `Reactivated ${person.name}`,
    );
  };
  return <ActionButton act={reactivate}>Reactivate</ActionButton>;
}

function Details({ editor }: Props) {
  const fact = useInlineFacts(editor);
  const isLimited = useIsLimited();
  const person = editor.item;
  const manager = usePerson(person.manager_user_id);
  const accountable = usePerson(person.accountable_user_id);
  const link = (one: Person | undefined) => one && <PersonLink key={one.user_id} user_id={one.user_id} />;
  return (
    <Card id="details" title="Details">
      <Facts
        facts={[
          isLimited
            ? ['Status', <Status key="status" status={person.status} />]
            : fact('status', <Status key="status" status={person.status} />),
          fact(
            'email',
            person.email && (
              <a href={`mailto:${encodeURIComponent(person.email).replace('%40', '@')}`}>
                {person.email.slice(0, person.email.lastIndexOf('@'))}
                {/* A long address breaks here rather than in a word. */}
                <wbr />
                {person.email.slice(person.email.lastIndexOf('@'))}
              </a>
            ),
          ),
          fact('phone'),
          fact('title'),
          fact('department'),
          fact('location'),
          fact('time_zone'),
          fact('kind'),
          // Only an agent has one.
          ...(person.kind === 'agent' || person.accountable_user_id
            ? [fact('accountable_user_id', link(accountable.data) ?? null)]
            : []),
          fact('manager_user_id', link(manager.data) ?? null),
          fact('skills', person.skills.join(', ')),
          fact('start_on'),
          fact('end_on'),
          fact('external_id'),
        ]}
      />
    </Card>
  );
}
