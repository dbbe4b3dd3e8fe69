import { useState } from 'react';
import { latestOf } from '../api/queries.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { Theirs } from '../components/conflict.tsx';
import { Dialog } from '../components/dialog.tsx';
import type { Filters } from '../components/filters.tsx';
import { Form } from '../components/form.tsx';
import type { FieldOf } from '../components/form-values.ts';
import { toast } from '../components/toast.tsx';
import { useOpened } from '../components/use-conflict.ts';
import { type AnyView, isShared, useCanShare, useViewActions, useViews } from './shared.ts';
import type { ViewList } from './store.ts';

type Input = { name: string; visible_to?: 'me' | 'everyone' };

const nameField: FieldOf<Input> = { name: 'name', label: 'Name', kind: 'line', required: true };

const visibilityField: FieldOf<Input> = {
  name: 'visible_to',
  label: 'Visible to',
  kind: 'choice',
  required: true,
  options: [
    ['me', 'Only me, in this browser'],
    ['everyone', 'Everyone'],
  ],
};

type SaveProps = { list: ViewList; filters: Filters; onClose: () => void };

export function SaveView({ list, filters, onClose }: SaveProps) {
  const actions = useViewActions(list);
  const fields = useCanShare(list) ? [nameField, visibilityField] : [nameField];
  const save = async ({ name, visible_to }: Input) => {
    await actions.save(name, filters, visible_to === 'everyone');
    toast(`Saved the view ${name}`);
  };
  return (
    <Dialog title="Save view" onClose={onClose}>
      <Form<Input> fields={fields} action="Save view" submit={save} onClose={onClose}>
        <p className="quiet">Keeps the filters, the order and the columns of this list.</p>
      </Form>
    </Dialog>
  );
}

export function ManageViews({ list, onClose }: { list: ViewList; onClose: () => void }) {
  const views = useViews(list);
  const canShare = useCanShare(list);
  const actions = useViewActions(list);
  const [renamed, setRenamed] = useState<AnyView>();
  const remove = async (view: AnyView) => toast(`Deleted the view ${view.name}`, await actions.remove(view));
  if (renamed) return <RenameView view={latestOf(views, renamed)} onClose={() => setRenamed(undefined)} />;
  return (
    <Dialog title="Manage views" onClose={onClose}>
      <div className="dialog-body">
        {views.length === 0 && <p className="quiet">No saved views</p>}
        <ul className="lines">
          {views.map((view) => (
            <li key={view.id}>
              <bdi className="grow">{view.name}</bdi>
              {isShared(view) && <span className="quiet">Shared</span>}
              {(canShare || !isShared(view)) && (
                <>
                  <Button
                    small
                    plain
                    icon="edit"
                    aria-label={`Rename ${view.name}`}
                    onPress={() => setRenamed(view)}
                  />
                  <ActionButton
                    small
                    plain
                    icon="trash"
                    aria-label={`Delete ${view.name}`}
                    act={() => remove(view)}
                  />
                </>
              )}
            </li>
          ))}
        </ul>
      </div>
      <footer>
        <Button onPress={onClose}>Done</Button>
      </footer>
    </Dialog>
  );
}

function RenameView({ view: live, onClose }: { view: AnyView; onClose: () => void }) {
  const { item: view, former } = useOpened(live);
  const actions = useViewActions(view.list);
  return (
    <Dialog title="Rename view" onClose={onClose}>
      <Form<Partial<Input>, AnyView>
        fields={[nameField]}
        initial={view}
        action="Rename"
        submit={({ name = view.name }) => actions.rename(view, name)}
        onClose={onClose}
      >
        <Theirs item={view} former={former} />
      </Form>
    </Dialog>
  );
}
