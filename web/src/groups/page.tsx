import { Button as AriaButton, Tree, TreeItem, TreeItemContent } from 'react-aria-components';
import { useLocation } from 'wouter';
import { useMay } from '../api/session.ts';
import { DialogButton } from '../components/dialog.tsx';
import { Empty } from '../components/empty.tsx';
import { ExportButton } from '../components/export.tsx';
import { Icon } from '../components/icon.tsx';
import { Loaded } from '../components/loading.tsx';
import { plural } from '../format.ts';
import { ImportButton } from '../imports/import-button.tsx';
import { groups as groupImport } from '../imports/importables.ts';
import { Title } from '../layout/title.tsx';
import { NewGroup } from './group-form.tsx';
import { type Branch, treeOf, useGroups } from './queries.ts';
import './groups.css';

/** The groups as the tree they are. */
export function GroupsPage() {
  const may = useMay();
  const query = useGroups();
  return (
    <>
      <Title title="Groups">
        <ExportButton path="/v1/groups" filters={{}} name="groups" />
        {may('personnel.manage') && (
          <>
            <ImportButton among={[groupImport]} />
            <DialogButton primary icon="plus" dialog={(onClose) => <NewGroup onClose={onClose} />}>
              New group
            </DialogButton>
          </>
        )}
      </Title>
      <Loaded query={query}>
        {(groups) =>
          groups.length === 0 ? (
            <Empty title="No group yet">
              Groups own risks and issues together. Make the first with “New group”, then put people in it, or
              drop a file with both here.
            </Empty>
          ) : (
            <>
              <p className="summary-line">{plural(groups.length, 'group')}</p>
              <GroupTree branches={treeOf(groups)} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

function GroupTree({ branches }: { branches: Branch[] }) {
  const [, navigate] = useLocation();
  const parents = (list: Branch[]): string[] =>
    list.flatMap(({ id, children }) => (children.length > 0 ? [id, ...parents(children)] : []));
  return (
    <Tree
      className="group-tree"
      aria-label="Groups"
      defaultExpandedKeys={parents(branches)}
      onAction={(id) => navigate(`/groups/${id}`)}
    >
      {branches.map((branch) => (
        <GroupItem key={branch.id} branch={branch} />
      ))}
    </Tree>
  );
}

const GroupItem = ({ branch }: { branch: Branch }) => (
  <TreeItem id={branch.id} textValue={branch.name} className="group-item">
    <TreeItemContent>
      <span className="indent" style={{ width: `${branch.depth * 1.6}rem` }} />
      {branch.children.length > 0 ? (
        <AriaButton slot="chevron" className="button plain small chevron">
          <Icon name="right" />
        </AriaButton>
      ) : (
        <span className="chevron-room" />
      )}
      <bdi className="group-name">{branch.name}</bdi>
      <span className="quiet">{plural(branch.member_count, 'member')}</span>
      {branch.description && (
        <span className="note quiet" dir="auto">
          {branch.description}
        </span>
      )}
    </TreeItemContent>
    {branch.children.map((child) => (
      <GroupItem key={child.id} branch={child} />
    ))}
  </TreeItem>
);
