import { useEffect, useRef } from 'react';
import type { Handover, HandoverPart, Person } from '../api/openapi.ts';
import { Button } from '../components/button.tsx';
import { PersonPicker } from '../components/picker.tsx';
import { humanize } from '../format.ts';
import './handovers.css';

export const responsibilityKinds = [
  'risks',
  'issues',
  'tasks',
  'projects',
  'groups',
  'reports',
  'agents',
  'memberships',
] as const;
type Kind = (typeof responsibilityKinds)[number];

/** A part of the work that goes to someone else. Empty texts stand for all kinds and all projects. */
export type Part = { id: number; kind: Kind | ''; project: string; user_id: string };

/** Groups, reports, agents and memberships are in no project. */
const isInProject = (kind: Part['kind']) => ['', 'risks', 'issues', 'tasks', 'projects'].includes(kind);

export const toInput = ({ kind, project, user_id }: Part): HandoverPart => ({
  ...(kind !== '' && { kinds: [kind] }),
  ...(project !== '' && isInProject(kind) && { project_ids: [project] }),
  // A part names a kind or a project.
  ...(kind === '' && project === '' && { kinds: [...responsibilityKinds] }),
  handover_to_user_id: user_id || null,
});

type Props = {
  of: Person;
  preview: Handover | undefined;
  parts: readonly Part[];
  onChange: (parts: readonly Part[]) => void;
};

/** Splits a hand-over by project or kind of work. */
export function Parts({ of, preview, parts, onChange }: Props) {
  const kinds = responsibilityKinds.filter((kind) => preview?.carries[kind]);
  const projects = preview?.by_project ?? [];
  const frame = useRef<HTMLDivElement>(null);
  const lastCount = useRef(parts.length);
  // The focus goes to the new part, which is above the button; that of a removed part would go to the page.
  useEffect(() => {
    const target = parts.length > lastCount.current ? 'fieldset:last-of-type select' : '.add-part';
    if (parts.length !== lastCount.current) frame.current?.querySelector<HTMLElement>(target)?.focus();
    lastCount.current = parts.length;
  }, [parts.length]);
  const update = (id: number, change: Partial<Part>) =>
    onChange(parts.map((part) => (part.id === id ? { ...part, ...change } : part)));
  const add = () => {
    const id = (parts.at(-1)?.id ?? 0) + 1;
    onChange([...parts, { id, kind: '', project: projects[0]?.project_id ?? '', user_id: '' }]);
  };
  return (
    <div ref={frame}>
      {parts.map(({ id, kind, project }, index) => (
        <fieldset key={id} className="handover-part">
          <legend>Part {index + 1}</legend>
          <select
            aria-label={`Work of part ${index + 1}`}
            value={kind}
            onChange={({ target }) => update(id, { kind: target.value as Part['kind'] })}
          >
            <option value="">All work</option>
            {kinds.map((one) => (
              <option key={one} value={one}>
                {humanize(one)}
              </option>
            ))}
          </select>
          <select
            aria-label={`Project of part ${index + 1}`}
            value={isInProject(kind) ? project : ''}
            disabled={!isInProject(kind)}
            onChange={({ target }) => update(id, { project: target.value })}
          >
            <option value="">All projects</option>
            {projects.map(({ project_id, project_key, project_name }) => (
              <option key={project_id} value={project_id}>
                {project_key} {project_name}
              </option>
            ))}
          </select>
          <PersonPicker
            label={`Hand over part ${index + 1} to`}
            placeholder={`Stays with ${of.name}`}
            menuTrigger="input"
            value=""
            name=""
            excluded={[of.user_id]}
            onChange={(user_id) => update(id, { user_id })}
          />
          <Button
            small
            plain
            icon="close"
            aria-label={`Remove part ${index + 1}`}
            onPress={() => onChange(parts.filter((part) => part.id !== id))}
          />
        </fieldset>
      ))}
      {kinds.length > 0 && (
        <Button className="add-part" small plain icon="plus" onPress={add}>
          Hand over a part to someone else
        </Button>
      )}
    </div>
  );
}
