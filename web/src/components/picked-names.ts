import { api, dataOrThrow } from '../api/client.ts';
import { itemName, readItem } from '../api/items.ts';
import { type Field, isReference, isRiskOrIssue, showDraft, toDraft } from './form-values.ts';

/** The names of people, groups, risks and issues by their ids, which a draft contains. */
export type Names = Readonly<Record<string, string>>;

/** The names of what an item refers to in these fields. Names that can't be read are left out. */
export async function readNames(fields: readonly Field[], item: object): Promise<Names> {
  const names = fields.map(async (field) => {
    const id = toDraft([field], item)[field.name];
    if (typeof id !== 'string' || id === '' || !isReference(field)) return [];
    return [[id, showDraft(field, id, item) || (await readName(field, id))]];
  });
  return Object.fromEntries((await Promise.all(names)).flat().filter(([, name]) => name));
}

export const pickedName = (field: Field, value: string | string[] = '', names: Names): string | undefined =>
  isReference(field) || field.kind === 'project' ? names[String(value)] : undefined;

/** The field with the name of its value, where that is known. */
export function withName<F extends Field>(field: F, value: string | string[] | undefined, names: Names): F {
  const selectedName = pickedName(field, value, names);
  return selectedName ? { ...field, selectedName } : field;
}

async function readName(field: Field, id: string): Promise<string> {
  if (field.project && isRiskOrIssue(field))
    return readItem(`${field.kind}s`, { project_key: field.project, key: id }).then(itemName, () => '');
  const read =
    field.kind === 'person'
      ? api.GET('/v1/personnel/{user_id}', { params: { path: { user_id: id } } })
      : api.GET('/v1/groups/{id}', { params: { path: { id } } });
  return dataOrThrow<{ name: string }>(read).then(
    ({ name }) => name,
    () => '',
  );
}
