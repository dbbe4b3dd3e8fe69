import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Issue, Risk } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { DeleteButton } from '../components/delete-button.tsx';
import { DialogButton } from '../components/dialog.tsx';
import { humanize } from '../format.ts';
import { Title } from './title.tsx';

type Props = {
  item: Risk | Issue;
  list: 'risks' | 'issues';
  edit: (onClose: () => void) => ReactNode;
  remove: () => Promise<unknown>;
  /** What matters most about the item, under its title. */
  summary: ReactNode;
  /** The consequences, shown before the item is deleted. */
  children: ReactNode;
};

/** The heading of a risk or an issue, with its edit and delete buttons. */
export function ItemTitle({ item, list, edit, remove, summary, children }: Props) {
  const hasScope = useHasScope();
  return (
    <Title
      title={item.title}
      summary={summary}
      breadcrumbs={
        <>
          <Link href={`/${list}`}>{humanize(list)}</Link> /{' '}
          <Link href={`/projects/${item.project_key}`}>{item.project_name}</Link> / {item.key}
        </>
      }
    >
      {hasScope('projects.manage') && (
        <>
          <DialogButton icon="edit" dialog={edit}>
            Edit
          </DialogButton>
          <DeleteButton name={item.key} list={`/${list}`} remove={remove}>
            {children}
          </DeleteButton>
        </>
      )}
    </Title>
  );
}
