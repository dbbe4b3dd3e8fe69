import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { api, dataOrThrow } from '../api/client.ts';
import { useIsLimited } from '../api/session.ts';
import { ProjectPicker } from '../components/picker.tsx';
import { formatNumber, pluralize } from '../format.ts';
import { Mapping } from './mapping.tsx';
import type { ImportReport } from './run-import.ts';
import { createdItem, type Settings } from './settings.ts';

type Choices = Pick<Settings, 'projects' | 'create_projects'>;

type Props = { report: ImportReport; settings: Settings; onChange: (choices: Choices) => void };

/** Asks once for each project that rows name and that does not exist what becomes of its rows. */
export function Projects({ report, settings, onChange }: Props) {
  const { projects, create_projects } = settings;
  const id = useId();
  const canCreate = !useIsLimited();
  const rows = rowsByProject(report, projects);
  const open = [...rows.keys()].filter((text) => !Object.hasOwn(projects, text));
  if (rows.size === 0 && !create_projects) return null;
  const choose = (text: string, choice: string | undefined) => {
    const { [text]: _, ...others } = projects;
    onChange({ create_projects, projects: choice === undefined ? others : { ...others, [text]: choice } });
  };
  return (
    <Mapping
      title="Projects"
      counts={[
        open.length > 0 && `${formatNumber(open.length)} not found`,
        rows.size > open.length && `${formatNumber(rows.size - open.length)} decided`,
      ]}
      isForcedOpen={open.length > 0 || create_projects}
    >
      {canCreate && (open.length > 1 || create_projects) && (
        <p className="import-choice">
          <label htmlFor={id}>All projects without a choice</label>
          <select
            id={id}
            value={create_projects ? 'create' : 'error'}
            onChange={({ target }) => onChange({ projects, create_projects: target.value === 'create' })}
          >
            <option value="error">Report as errors</option>
            <option value="create">Create</option>
          </select>
        </p>
      )}
      <ul>
        {[...rows].map(([text, count]) => (
          <ProjectChoice
            key={text}
            text={text}
            rows={count}
            choice={projects[text]}
            canCreate={canCreate}
            onChange={(choice) => choose(text, choice)}
          />
        ))}
      </ul>
    </Mapping>
  );
}

/** The key of the project, if there is only one. */
export function useOnlyProject(enabled: boolean): string | undefined {
  const { data = [] } = useQuery({
    queryKey: ['projects', 'only'],
    enabled,
    queryFn: async () =>
      (await dataOrThrow(api.GET('/v1/projects', { params: { query: { limit: 2 } } }))).data,
  });
  return enabled && data.length === 1 ? data[0]?.key : undefined;
}

/** The number of rows of each project that does not exist, or that the user has decided about, by its first spelling. */
function rowsByProject({ results, summary }: ImportReport, projects: Settings['projects']) {
  const columns = Object.keys(summary.columns).filter((name) => isProjectField(summary.columns[name]));
  const spellings = new Map(Object.keys(projects).map((text) => [text.toLowerCase(), text]));
  const rows = new Map<string, number>();
  for (const { data = {}, errors = [] } of results) {
    const text = columns.map((name) => data[name]?.trim()).find((text) => text);
    const isUnknown = errors.some(
      ({ code, pointer }) => code === 'unknown_reference' && pointer === '#/project',
    );
    const known = text && spellings.get(text.toLowerCase());
    if (!text || !(isUnknown || known)) continue;
    spellings.set(text.toLowerCase(), known || text);
    rows.set(known || text, (rows.get(known || text) ?? 0) + 1);
  }
  return rows;
}

export const isProjectField = (field = '') => /^project(_key|_id)?$/.test(field);

type ChoiceProps = {
  text: string;
  rows: number;
  /** The key of a project, or what else becomes of the rows; undefined while it is open. */
  choice: string | undefined;
  canCreate: boolean;
  onChange: (choice: string | undefined) => void;
};

function ProjectChoice({ text, rows, choice, canCreate, onChange }: ChoiceProps) {
  const [isPicking, setPicking] = useState(false);
  const isProject = choice !== undefined && choice !== '' && choice !== createdItem;
  const action = choice === createdItem ? 'create' : choice === '' ? 'leave_out' : 'none';
  return (
    <li>
      <label>
        <span>
          <bdi>{text}</bdi> <span className="quiet">{pluralize(rows, 'row')}</span>
        </span>
        <select
          value={isPicking || isProject ? 'pick' : action}
          onChange={({ target: { value } }) => {
            setPicking(value === 'pick');
            onChange({ create: createdItem, leave_out: '' }[value]);
          }}
        >
          <option value="none">{choice === undefined ? 'Not found' : 'No choice'}</option>
          <option value="pick">Choose project</option>
          {canCreate && <option value="create">Create project</option>}
          <option value="leave_out">Leave out these rows</option>
        </select>
      </label>
      {(isPicking || isProject) && (
        <ProjectPicker
          label={`Project for ${text}`}
          value={isProject ? choice : ''}
          name={isProject ? choice : ''}
          autoFocus={!isProject}
          onChange={(key) => onChange(key || undefined)}
        />
      )}
    </li>
  );
}
