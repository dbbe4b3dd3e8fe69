import { Link } from 'wouter';
import { api, dataOrThrow, ifMatch } from '../api/client.ts';
import type {
  CategoryInput,
  CategoryMergeInput,
  CategoryPatch,
  Organization,
  UsedCategory,
} from '../api/openapi.ts';
import { useRefresh, useWrite } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import { ActionButton, useAction } from '../components/action-button.tsx';
import { Theirs } from '../components/conflict.tsx';
import { CreateButton } from '../components/create-button.tsx';
import { Confirm, Dialog, DialogButton } from '../components/dialog.tsx';
import { Empty } from '../components/empty.tsx';
import { Form } from '../components/form.tsx';
import type { FieldOf } from '../components/form-values.ts';
import { ListHead } from '../components/list.tsx';
import { Loaded } from '../components/loading.tsx';
import { type Column, Table } from '../components/table.tsx';
import { toast } from '../components/toast.tsx';
import { useOpened } from '../components/use-conflict.ts';
import { CreateDialog } from '../fields/create-dialog.tsx';
import { capitalize, formatNumber, pluralize } from '../format.ts';
import { useCategories } from '../risks/queries.ts';
import { useOrganization, usePatchOrganization } from './queries.ts';
import './settings.css';

/** A category of the list. */
type Listed = UsedCategory & { id: string; position: number; version: number };

const isListed = (category: UsedCategory): category is Listed => category.listed;

const pathOf = ({ id }: Listed) => ({ params: { path: { id } } });

/** The list of categories, and those that risks have besides. */
export function CategorySettings() {
  const canEdit = useHasScope()('projects.manage');
  const query = useCategories();
  const organization = useOrganization();
  return (
    <>
      <div className="settings-bar">
        {canEdit && (
          <CreateButton dialog={(onClose) => <NewCategory onClose={onClose} />}>Add category</CreateButton>
        )}
        {organization.data && <FreeText organization={organization.data} canEdit={canEdit} />}
      </div>
      <Loaded query={query}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="No categories yet">
              Add the categories of your method. The form of a risk suggests them, in this order.
            </Empty>
          ) : (
            <>
              <ListHead>{summaryOf(all)}</ListHead>
              <Table
                label="Categories"
                columns={columnsOf(all, canEdit)}
                rows={all}
                // By the name, a dialog in the row would close when somebody else renames the category.
                rowKey={({ id, name }) => id ?? name}
              />
            </>
          )
        }
      </Loaded>
    </>
  );
}

function summaryOf(all: readonly UsedCategory[]): string {
  const listed = all.filter(isListed).length;
  const others = all.length - listed;
  const text = pluralize(listed, 'category', 'categories');
  return others === 0 ? text : `${text}, ${formatNumber(others)} in use but not listed`;
}

/** Whether risks may have other categories. */
function FreeText({ organization, canEdit }: { organization: Organization; canEdit: boolean }) {
  const patch = usePatchOrganization();
  const { isBusy, run } = useAction();
  return (
    <label>
      <input
        type="checkbox"
        checked={organization.free_text_categories}
        disabled={!canEdit || isBusy}
        onChange={({ target: { checked: free_text_categories } }) =>
          run(async () => {
            await patch({ free_text_categories }, organization);
            toast(
              free_text_categories ? 'Other categories are allowed' : 'Only listed categories are allowed',
            );
          })
        }
      />
      Risks may have other categories
    </label>
  );
}

const columnsOf = (all: readonly UsedCategory[], canEdit: boolean): readonly Column<UsedCategory>[] => [
  {
    name: 'name',
    header: 'Category',
    cell: ({ name, listed }) => (
      <>
        <bdi className="cell-name" tabIndex={-1}>
          {capitalize(name)}
        </bdi>
        {!listed && <span className="chip">Not in the list</span>}
      </>
    ),
  },
  {
    name: 'description',
    header: 'Description',
    width: 22,
    from: 'desktop',
    cell: ({ description }) =>
      description && (
        <bdi className="cut-off" title={description}>
          {description}
        </bdi>
      ),
  },
  {
    name: 'active',
    header: 'Active risks',
    width: 7,
    end: true,
    from: 'tablet',
    cell: ({ name, active_risks }) => (
      <CountLink name={name} count={active_risks} label="active risk" filters="" />
    ),
  },
  {
    name: 'risks',
    header: 'All risks',
    width: 6,
    end: true,
    from: 'tablet',
    cell: ({ name, risks }) => (
      <CountLink name={name} count={risks} label="risk" filters="&status=all&archived=any" />
    ),
  },
  ...(canEdit ? [actionsOf(all)] : []),
];

type CountProps = { name: string; count: number; label: string; filters: string };

const CountLink = ({ name, count, label, filters }: CountProps) =>
  count === 0 ? (
    '0'
  ) : (
    <Link
      href={`/risks?category=${encodeURIComponent(name)}${filters}`}
      aria-label={`${pluralize(count, label)}: ${capitalize(name)}`}
    >
      {formatNumber(count)}
    </Link>
  );

const actionsOf = (all: readonly UsedCategory[]): Column<UsedCategory> => {
  const listed = all.filter(isListed);
  return {
    name: 'actions',
    header: 'Actions',
    width: 19,
    end: true,
    cell: (category) =>
      isListed(category) ? (
        <>
          <MoveButton category={category} by={-1} isLast={category.position === 1} />
          <MoveButton category={category} by={1} isLast={category.position === listed.length} />
          <DialogButton
            small
            plain
            aria-label={`Edit ${capitalize(category.name)}`}
            dialog={(onClose) => <EditCategory category={category} onClose={onClose} />}
          >
            Edit
          </DialogButton>
          {listed.length > 1 && (
            <DialogButton
              small
              plain
              aria-label={`Merge ${capitalize(category.name)}`}
              dialog={(onClose) => <MergeCategory category={category} listed={listed} onClose={onClose} />}
            >
              Merge
            </DialogButton>
          )}
          <DialogButton
            small
            plain
            icon="trash"
            aria-label={`Delete ${capitalize(category.name)}`}
            dialog={(onClose) => <DeleteCategory category={category} onClose={onClose} />}
          />
        </>
      ) : (
        <AddButton name={category.name} />
      ),
  };
};

type MoveProps = { category: Listed; by: 1 | -1; isLast: boolean };

function MoveButton({ category, by, isLast }: MoveProps) {
  const write = useWrite();
  const body = { position: category.position + by };
  return (
    <ActionButton
      small
      plain
      icon={by < 0 ? 'up' : 'down'}
      aria-label={`Move ${capitalize(category.name)} ${by < 0 ? 'up' : 'down'}`}
      isDisabled={isLast}
      act={() => write(api.PATCH('/v1/categories/{id}', { ...pathOf(category), body }))}
    />
  );
}

function AddButton({ name }: { name: string }) {
  const write = useWrite();
  const add = async () => {
    await write(api.POST('/v1/categories', { body: { name } }));
    toast(`Added ${capitalize(name)}`);
  };
  return (
    <ActionButton small aria-label={`Add ${capitalize(name)} to the list`} act={add}>
      Add to list
    </ActionButton>
  );
}

const fields: FieldOf<CategoryInput & CategoryPatch>[] = [
  { name: 'name', label: 'Name', kind: 'line', required: true },
  { name: 'description', label: 'Description', kind: 'text' },
];

const NewCategory = ({ onClose }: { onClose: () => void }) => (
  <CreateDialog<CategoryInput, { name: string }>
    action="Add category"
    fields={fields as FieldOf<CategoryInput>[]}
    create={(body) => api.POST('/v1/categories', { body })}
    done={({ name }) => ({ message: `Added ${capitalize(name)}` })}
    onClose={onClose}
  />
);

type Props = { category: Listed; onClose: () => void };

function EditCategory({ category, onClose }: Props) {
  const write = useWrite();
  return (
    <Dialog title={`Edit ${capitalize(category.name)}`} onClose={onClose}>
      <Form<CategoryPatch, Listed>
        fields={fields as FieldOf<CategoryPatch>[]}
        initial={category}
        action="Save"
        submit={async (body, base) => {
          const saved = await write(
            api.PATCH('/v1/categories/{id}', { ...pathOf(category), body, ...ifMatch(base) }),
          );
          toast(`Saved ${capitalize(saved.name)}`);
        }}
        onClose={onClose}
      >
        {category.risks > 0 && (
          <p>A new name changes {pluralize(category.risks, 'risk')}, with an entry in the history of each.</p>
        )}
      </Form>
    </Dialog>
  );
}

function MergeCategory({ category: live, listed, onClose }: Props & { listed: readonly Listed[] }) {
  const { item: category, former } = useOpened(live);
  const write = useWrite();
  const others = listed.filter(({ id }) => id !== category.id);
  const into = others.map(({ id, name }) => [id, capitalize(name)] as const);
  return (
    <Dialog title={`Merge ${capitalize(category.name)}`} onClose={onClose}>
      <Form<CategoryMergeInput>
        fields={[
          { name: 'into', label: 'Into', kind: 'choice', options: into, required: true },
          { name: 'reason', label: 'Reason', kind: 'text' },
        ]}
        action="Merge"
        submit={async (body) => {
          const result = await write(
            api.POST('/v1/categories/{id}/merge', { ...pathOf(category), body, ...ifMatch(category) }),
          );
          toast(`Merged ${capitalize(category.name)} into ${capitalize(result.category.name)}`);
        }}
        onClose={onClose}
      >
        <Theirs item={category} former={former} />
        <p>
          {category.risks === 0 ? 'No risks have' : `${pluralize(category.risks, 'risk')} with`} this category
          {category.risks === 0 ? '. It' : ' get the other one, and it'} leaves the list.
        </p>
      </Form>
    </Dialog>
  );
}

function DeleteCategory({ category: live, onClose }: Props) {
  const { item: category, former } = useOpened(live);
  const refresh = useRefresh();
  const remove = async () => {
    await dataOrThrow(api.DELETE('/v1/categories/{id}', { ...pathOf(category), ...ifMatch(category) }));
    toast(`Deleted ${capitalize(category.name)}`);
    await refresh();
  };
  return (
    <Confirm
      title={`Delete ${capitalize(category.name)}?`}
      action="Delete"
      danger
      act={remove}
      onClose={onClose}
    >
      <Theirs item={category} former={former} />
      {category.risks === 0 ? (
        <p>No risks have this category.</p>
      ) : (
        <p>
          {pluralize(category.risks, 'risk')} will keep this category as text. To give them another category,
          merge it instead.
        </p>
      )}
    </Confirm>
  );
}
