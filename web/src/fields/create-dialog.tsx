import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useWrite } from '../api/queries.ts';
import { useHasScope, useIsLimited } from '../api/session.ts';
import { Button, ButtonLink } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import { type FieldOf, inForm } from '../components/form-values.ts';
import { Loaded } from '../components/loading.tsx';
import { toast } from '../components/toast.tsx';
import { useProjects } from '../projects/queries.ts';

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
  const [isAnother, setAnother] = useState(false);
  const submit = async (values: Input) => {
    const { message, path } = done(await write(create(values)));
    toast(message);
    if (path && !isAnother) navigate(path);
  };
  return (
    <Dialog title={title} wide={wide} onClose={onClose}>
      {needed && needed.data === undefined ? (
        <div className="dialog-body">
          <Loaded query={needed}>{() => null}</Loaded>
        </div>
      ) : (
        <Form<Input>
          fields={inForm(fields)}
          action={action}
          submit={submit}
          onClose={onClose}
          staysOpen={isAnother}
          extra={
            <label className="another">
              <input
                type="checkbox"
                checked={isAnother}
                onChange={({ target }) => setAnother(target.checked)}
              />
              {action.split(' ')[0]} another
            </label>
          }
        />
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

/** Creates a risk, an issue or a task. Without any project it offers to create one. */
export function CreateItemDialog<Input, Item>({
  project,
  fields,
  create,
  ...dialog
}: ItemProps<Input, Item>) {
  const { data: projects } = useProjects('false', !project);
  if (!project && projects?.length === 0) return <ProjectNeeded {...dialog} />;
  return (
    <CreateDialog<InProject, Item>
      {...dialog}
      fields={(project ? fields : [projectField, ...fields]) as FieldOf<InProject>[]}
      create={({ project: chosen, ...values }) => create(project ?? chosen, values as Input)}
    />
  );
}

type NeededProps = { action: string; title?: string; onClose: () => void };

function ProjectNeeded({ action, title = action, onClose }: NeededProps) {
  const hasScope = useHasScope();
  const isLimited = useIsLimited();
  const canCreate = hasScope('projects.manage') && !isLimited;
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="dialog-body">
        <p>
          There are no projects yet, and everything belongs to a project.{' '}
          {canCreate ? 'Create one first.' : 'Ask someone who can create projects.'}
        </p>
      </div>
      <footer>
        <Button onPress={onClose}>Cancel</Button>
        {canCreate && (
          <ButtonLink primary icon="plus" href="/projects?new=true">
            Create project
          </ButtonLink>
        )}
      </footer>
    </Dialog>
  );
}
