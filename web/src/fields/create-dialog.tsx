import type { UseQueryResult } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { useWrite } from '../api/queries.ts';
import { Dialog } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import { type FieldOf, inForm } from '../components/form-values.ts';
import { Loaded } from '../components/loading.tsx';
import { toast } from '../components/toast.tsx';

type Props<Input, Item> = {
  action: string;
  /** By default the action. */
  title?: string;
  wide?: boolean;
  fields: readonly FieldOf<Input>[];
  /** What the fields show, if it has to be loaded first. */
  needed?: UseQueryResult;
  create: (values: Input) => Promise<{ data?: Item; error?: unknown; response: Response }>;
  /** What to report, and the page to open. */
  done: (item: Item) => { message: string; path?: string };
  onClose: () => void;
};

/** Creates an item. */
export function CreateDialog<Input, Item>(props: Props<Input, Item>) {
  const { action, title = action, wide = false, fields, needed, create, done, onClose } = props;
  const [, navigate] = useLocation();
  const write = useWrite();
  const submit = async (values: Input) => {
    const { message, path } = done(await write(create(values)));
    toast(message);
    if (path) navigate(path);
  };
  return (
    <Dialog title={title} wide={wide} onClose={onClose}>
      {needed && needed.data === undefined ? (
        <div className="dialog-body">
          <Loaded query={needed}>{() => null}</Loaded>
        </div>
      ) : (
        <Form<Input> fields={inForm(fields)} action={action} submit={submit} onClose={onClose} />
      )}
    </Dialog>
  );
}

type ItemProps<Input, Item> = Omit<Props<Input, Item>, 'create'> & {
  /** Without it, the form asks for the project. */
  project: string | undefined;
  create: (project_id: string, values: Input) => ReturnType<Props<Input, Item>['create']>;
};

type InProject = { project: string };

const projectField = { name: 'project', label: 'Project', kind: 'project', required: true } as const;

/** Creates a risk, an issue or a task. */
export const CreateItemDialog = <Input, Item>({
  project,
  fields,
  create,
  ...dialog
}: ItemProps<Input, Item>) => (
  <CreateDialog<InProject, Item>
    {...dialog}
    fields={(project ? fields : [projectField, ...fields]) as FieldOf<InProject>[]}
    create={({ project: chosen, ...values }) => create(project ?? chosen, values as Input)}
  />
);
