import { useState } from 'react';
import { Button as AriaButton, Link, Tree, TreeItem, TreeItemContent } from 'react-aria-components';
import { useLocation } from 'wouter';
import { useHasScope } from '../api/session.ts';
import { CreateButton } from '../components/create-button.tsx';
import { Empty } from '../components/empty.tsx';
import { ExportButton } from '../components/export.tsx';
import { Icon } from '../components/icon.tsx';
import { ListHead } from '../components/list.tsx';
import { Loaded } from '../components/loading.tsx';
import { plainText } from '../components/markdown.ts';
import { useDebounced } from '../components/use-debounced.ts';
import { pluralize } from '../format.ts';
import { ImportButton } from '../imports/import-button.tsx';
import { groupImport } from '../imports/targets.ts';
import { Title } from '../layout/title.tsx';
import { NewGroup } from './group-form.tsx';
import { type Branch, buildTree, useGroups } from './queries.ts';
import './groups.css';

/** All groups as a tree. */
export function GroupsPage() {
  const hasScope = useHasScope();
  const query = useGroups();
  return (
    <>
      <Title title="Groups">
        <ExportButton path="/v1/groups" filters={{}} name="groups" />
        {hasScope('personnel.manage') && (
          <>
            <ImportButton targets={[groupImport]} />
            <CreateButton dialog={(onClose) => <NewGroup onClose={onClose} />}>Create group</CreateButton>
          </>
        )}
      </Title>
      <Loaded query={query}>
        {(groups) =>
          groups.length === 0 ? (
            <Empty title="No groups yet">
              Groups can own risks and issues. Create a group and add people to it, or drop a CSV or Excel
              file here to import both.
            </Empty>
          ) : (
            <>
              <ListHead>{pluralize(groups.length, 'group')}</ListHead>
              <GroupTree branches={buildTree(groups)} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

function GroupTree({ branches }: { branches: Branch[] }) {
  const [, navigate] = useLocation();
  // The tree finds a group by its name until nothing has been typed for a second. Then a letter is a shortcut again.
  const [typed, setTyped] = useState(0);
  const isFinding = useDebounced(typed, 1000) !== typed;
  const idsWithChildren = (list: Branch[]): string[] =>
    list.flatMap(({ id, children }) => (children.length > 0 ? [id, ...idsWithChildren(children)] : []));
  return (
    <div
      data-finding={isFinding || undefined}
      onKeyDownCapture={({ key }) => key.length === 1 && setTyped((count) => count + 1)}
    >
      <Tree
        className="group-tree"
        aria-label="Groups"
        defaultExpandedKeys={idsWithChildren(branches)}
        onAction={(id) => navigate(`/groups/${id}`)}
      >
        {branches.map((branch) => (
          <GroupItem key={branch.id} branch={branch} />
        ))}
      </Tree>
    </div>
  );
}

/** The link covers the row and has the focus in its place. */
const GroupItem = ({ branch }: { branch: Branch }) => (
  <TreeItem
    id={branch.id}
    textValue={branch.name}
    className="group-item"
    focusMode="child"
    allowsArrowNavigation
  >
    <TreeItemContent>
      <span className="indent" style={{ width: `${branch.depth * 1.6}rem` }} />
      {branch.children.length > 0 ? (
        <AriaButton slot="chevron" className="button plain small chevron">
          <Icon name="right" />
        </AriaButton>
      ) : (
        <span className="chevron-space" />
      )}
      <Link className="row-link group-name" href={`/groups/${branch.id}`}>
        <bdi>{branch.name}</bdi>
      </Link>
      <span className="quiet">{pluralize(branch.member_count, 'member')}</span>
      {branch.description && (
        <span className="note quiet cut-off" dir="auto">
          {plainText(branch.description)}
        </span>
      )}
    </TreeItemContent>
    {branch.children.map((child) => (
      <GroupItem key={child.id} branch={child} />
    ))}
  </TreeItem>
);
