import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { api, dataOrThrow, ifMatch } from '../api/client.ts';
import type { Mapping } from '../api/openapi.ts';
import { maxLimit } from '../api/pages.ts';
import { useHasScope, useIsLimited } from '../api/session.ts';
import { useAction } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { toast } from '../components/toast.tsx';
import { columnParameters, hasChoices, type Settings, withoutColumns } from './settings.ts';
import type { ImportTarget } from './targets.ts';

type Props = { target: ImportTarget; settings: Settings; onChange: (settings: Settings) => void };

/** What was chosen for a file, under a name, for the next file of the same kind. */
export function SavedMappings({ target, settings, onChange }: Props) {
  const { kind } = target;
  const id = useId();
  const { data: mappings = [] } = useMappings(kind);
  const [isSaving, setSaving] = useState(false);
  const canSave = useCanSave(kind);
  const current = mappings.find(({ name }) => name === settings.mapping);
  const select = (name: string) => {
    const { mapping: _, ...others } = withoutColumns(settings);
    onChange(name === '' ? others : { ...others, mapping: name });
  };
  const isOffered = canSave && hasChoices(settings);
  if (mappings.length === 0 && !isOffered) return null;
  return (
    <div className="import-table">
      {mappings.length > 0 && (
        <span className="import-choice">
          <label htmlFor={id}>Saved mapping</label>
          <select id={id} value={settings.mapping ?? ''} onChange={({ target: { value } }) => select(value)}>
            <option value="">None</option>
            {mappings.map(({ id, name }) => (
              <option key={id}>{name}</option>
            ))}
          </select>
        </span>
      )}
      {isSaving ? (
        <SaveForm
          kind={kind}
          settings={settings}
          mappings={mappings}
          current={current}
          onSaved={(mapping) => {
            setSaving(false);
            onChange({ ...settings, mapping });
          }}
          onCancel={() => setSaving(false)}
        />
      ) : (
        <span className="button-row">
          {isOffered && (
            <Button small onPress={() => setSaving(true)}>
              Save mapping…
            </Button>
          )}
          {current && canSave && <DeleteMapping mapping={current} onDeleted={() => select('')} />}
        </span>
      )}
    </div>
  );
}

const useMappings = (list: Mapping['list']) =>
  useQuery({
    queryKey: ['mappings', list],
    queryFn: async () =>
      (await dataOrThrow(api.GET('/v1/mappings', { params: { query: { list, limit: maxLimit } } }))).data,
  });

function useCanSave(list: Mapping['list']): boolean {
  const hasScope = useHasScope();
  const isLimited = useIsLimited();
  const isOfPeople = list === 'personnel' || list === 'groups';
  return !isLimited && hasScope(isOfPeople ? 'personnel.manage' : 'projects.manage');
}

type FormProps = {
  kind: Mapping['list'];
  settings: Settings;
  mappings: readonly Mapping[];
  current: Mapping | undefined;
  onSaved: (name: string) => void;
  onCancel: () => void;
};

/** A name that exists is saved again. */
function SaveForm({ kind, settings, mappings, current, onSaved, onCancel }: FormProps) {
  const [text, setText] = useState(current?.name ?? '');
  const { isBusy, run } = useAction();
  const client = useQueryClient();
  const name = text.trim();
  const existing = mappings.find((one) => one.name === name);
  const save = async () => {
    const query = queryOf(current, settings);
    await (existing
      ? dataOrThrow(
          api.PATCH('/v1/mappings/{id}', {
            params: { path: { id: existing.id } },
            body: { query },
            ...ifMatch(existing),
          }),
        )
      : dataOrThrow(api.POST('/v1/mappings', { body: { list: kind, name, query } })));
    await client.invalidateQueries({ queryKey: ['mappings'] });
    toast(`Saved the mapping ${name}`);
    onSaved(name);
  };
  return (
    <form
      className="button-row"
      onSubmit={(event) => {
        event.preventDefault();
        // The dialog may be in a form of its own.
        event.stopPropagation();
        if (name !== '') run(save);
      }}
    >
      <input
        // biome-ignore lint/a11y/noAutofocus: the user has just asked for it
        autoFocus
        aria-label="Name of the mapping"
        placeholder="Name of the mapping"
        maxLength={100}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <Button small primary type="submit" isPending={isBusy} isDisabled={name === ''}>
        {existing ? 'Update mapping' : 'Save mapping'}
      </Button>
      <Button small onPress={onCancel}>
        Don't save
      </Button>
    </form>
  );
}

const lists = ['map', 'map_values', 'scales', 'set'];

/** The parameters of the mapping in use, and those of the user, which take precedence. */
function queryOf(current: Mapping | undefined, settings: Settings): string {
  const query = new URLSearchParams(current?.query);
  for (const [name, value] of Object.entries(columnParameters(settings))) {
    const former = lists.includes(name) ? query.getAll(name) : [];
    query.set(name, [...former, value].join(','));
  }
  return query.toString();
}

function DeleteMapping({ mapping, onDeleted }: { mapping: Mapping; onDeleted: () => void }) {
  const { isBusy, run } = useAction();
  const client = useQueryClient();
  const remove = async () => {
    await dataOrThrow(
      api.DELETE('/v1/mappings/{id}', { params: { path: { id: mapping.id } }, ...ifMatch(mapping) }),
    );
    onDeleted();
    await client.invalidateQueries({ queryKey: ['mappings'] });
    toast(`Deleted the mapping ${mapping.name}`);
  };
  return (
    <Button small plain isPending={isBusy} onPress={() => run(remove)}>
      Delete mapping
    </Button>
  );
}
