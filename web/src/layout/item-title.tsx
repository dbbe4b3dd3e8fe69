import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Issue, Risk } from '../api/openapi.ts';
import { useMay } from '../api/session.ts';
import { DeleteButton } from '../components/delete-button.tsx';
import { DialogButton } from '../components/dialog.tsx';
import { words } from '../format.ts';
import { Title } from './title.tsx';

type Props = {
  entry: Risk | Issue;
  list: 'risks' | 'issues';
  edit: (onClose: () => void) => ReactNode;
  remove: () => Promise<unknown>;
  /** What to know before it is deleted. */
  children: ReactNode;
};

/** The head of a page about a risk or an issue: where it stands, and how it is changed and deleted. */
export function EntryTitle({ entry, list, edit, remove, children }: Props) {
  const may = useMay();
  return (
    <Title
      title={entry.title}
      above={
        <>
          <Link href={`/${list}`}>{words(list)}</Link> /{' '}
          <Link href={`/projects/${entry.project_key}`}>{entry.project_name}</Link> / {entry.key}
        </>
      }
    >
      {may('projects.manage') && (
        <>
          <DialogButton icon="edit" dialog={edit}>
            Edit
          </DialogButton>
          <DeleteButton name={entry.key} list={`/${list}`} remove={remove}>
            {children}
          </DeleteButton>
        </>
      )}
    </Title>
  );
}
