import { useState } from 'react';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import type { Filters } from '../components/filters.tsx';
import { Form } from '../components/form.tsx';
import type { FieldOf } from '../components/form-values.ts';
import { toast } from '../components/toast.tsx';
import { deleteView, renameView, saveView, useViews, type View, type ViewList } from './store.ts';

type Input = { name: string };

const fields: FieldOf<Input>[] = [{ name: 'name', label: 'Name', kind: 'line', required: true }];

type SaveProps = { list: ViewList; filters: Filters; onClose: () => void };

export function SaveView({ list, filters, onClose }: SaveProps) {
  const save = async ({ name }: Input) => {
    saveView(list, name, filters);
    toast(`Saved the view ${name}`);
  };
  return (
    <Dialog title="Save view" onClose={onClose}>
      <Form<Input> fields={fields} action="Save view" submit={save} onClose={onClose}>
        <p className="quiet">
          Keeps the filters and the order of this list. Only you see it, in this browser. To share a view,
          send its address.
        </p>
      </Form>
    </Dialog>
  );
}

export function ManageViews({ list, onClose }: { list: ViewList; onClose: () => void }) {
  const views = useViews(list);
  const [renamed, setRenamed] = useState<View>();
  const remove = (view: View) => {
    const restore = deleteView(view);
    toast(`Deleted the view ${view.name}`, async () => restore());
  };
  if (renamed) return <RenameView view={renamed} onClose={() => setRenamed(undefined)} />;
  return (
    <Dialog title="Manage views" onClose={onClose}>
      <div className="dialog-body">
        {views.length === 0 && <p className="quiet">No saved views</p>}
        <ul className="lines">
          {views.map((view) => (
            <li key={view.id}>
              <bdi className="grow">{view.name}</bdi>
              <Button
                small
                plain
                icon="edit"
                aria-label={`Rename ${view.name}`}
                onPress={() => setRenamed(view)}
              />
              <Button
                small
                plain
                icon="trash"
                aria-label={`Delete ${view.name}`}
                onPress={() => remove(view)}
              />
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

function RenameView({ view, onClose }: { view: View; onClose: () => void }) {
  const rename = async ({ name = view.name }: Partial<Input>) => renameView(view, name);
  return (
    <Dialog title="Rename view" onClose={onClose}>
      <Form<Partial<Input>, View>
        fields={fields}
        initial={view}
        action="Rename"
        submit={rename}
        onClose={onClose}
      />
    </Dialog>
  );
}
