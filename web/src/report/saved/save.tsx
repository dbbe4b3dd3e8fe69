import { useState } from 'react';
import { useLocation } from 'wouter';
import { ApiError, api } from '../../api/client.ts';
import type { Project, RankedRisk, Report, ReportInput } from '../../api/openapi.ts';
import { useWrite } from '../../api/queries.ts';
import { useMe } from '../../api/session.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Form } from '../../components/form.tsx';
import type { FieldOf } from '../../components/form-values.ts';
import { toast } from '../../components/toast.tsx';
import { formatDay, today } from '../../format.ts';
import { choiceOfReport, choosePeriod, isReportChoice, readChoice } from '../../period/period.ts';
import type { Period } from '../queries.ts';
import { lengthNames, sectionNames, sectionsOf } from './queries.ts';

type Section = Report['sections'][number];
type Values = Record<string, string>;
type Props = {
  period: Period;
  projects: readonly Project[];
  risks: readonly Pick<RankedRisk, 'id' | 'key' | 'title'>[];
  onClose: () => void;
};

const noteOf = (section: Section) => {
  if (sectionsOf.one_page.includes(section)) return '';
  return sectionsOf.five_pages.includes(section) ? 'not on one page' : 'only in full';
};

/** Projects that can be commented on in the dialog; the API takes more. */
const maxProjects = 30;

/** The service names a comment by its place in the list, the form by what it is about. */
function nameFields(error: unknown, { risk_commentary = [], project_commentary = [] }: ReportInput): never {
  for (const one of error instanceof ApiError ? error.fieldErrors : []) {
    const [, list, place] = one.pointer?.split('/') ?? [];
    if (list === 'risk_commentary') one.pointer = `#/${risk_commentary[Number(place)]?.risk_id}`;
    if (list === 'project_commentary') one.pointer = `#/${project_commentary[Number(place)]?.project_id}`;
  }
  throw error;
}

/** Saves the report as it is now, with comments. */
export function SaveReport({ onClose, ...shown }: Props) {
  // Another risk can be among the first while comments are written.
  const [{ period, projects, risks }] = useState(shown);
  const write = useWrite();
  const [, navigate] = useLocation();
  const { name } = useMe().organization;
  const [sections, setSections] = useState(Object.keys(sectionNames) as Section[]);
  const fields: FieldOf<Values>[] = [
    { name: 'title', label: 'Title', kind: 'line', required: true },
    { name: 'audience', label: 'Audience', kind: 'line', half: true },
    {
      name: 'length',
      label: 'Length',
      kind: 'choice',
      required: true,
      half: true,
      options: Object.entries(lengthNames),
    },
    { name: 'commentary', label: 'Commentary', kind: 'text' },
    ...risks.map(
      ({ id, key, title }, i): FieldOf<Values> => ({
        name: id,
        label: `${key} ${title}`,
        kind: 'text',
        ...(i === 0 && { section: 'Comments on top risks' }),
      }),
    ),
    ...projects.slice(0, maxProjects).map(
      (project, i): FieldOf<Values> => ({
        name: project.id,
        label: project.name,
        kind: 'text',
        ...(i === 0 && { section: 'Comments on projects' }),
      }),
    ),
  ];
  const submit = async ({ title = '', audience, commentary, length, ...texts }: Values) => {
    const comments = Object.entries(texts).filter(([, text]) => text);
    const body: ReportInput = {
      title,
      since: period.since,
      length: length as Report['length'],
      sections,
      ...(audience && { audience }),
      ...(commentary && { commentary }),
      ...(period.project && { project: period.project }),
      risk_commentary: comments
        .filter(([id]) => id.startsWith('rsk_'))
        .map(([risk_id, text]) => ({ risk_id, text })),
      project_commentary: comments
        .filter(([id]) => id.startsWith('prj_'))
        .map(([project_id, text]) => ({ project_id, text })),
    };
    const report = await write(api.POST('/v1/reports', { body })).catch((error) => nameFields(error, body));
    if (isReportChoice(readChoice())) choosePeriod(choiceOfReport(report.day));
    toast(`Saved ${title}`);
    navigate(`/reports/${report.id}`);
  };
  const initial = {
    title: `${name === null ? '' : `${name}: `}Steering report, ${formatDay(today())}`,
    length: 'five_pages',
  };
  return (
    <Dialog title="Save report" wide onClose={onClose}>
      <Form<Values, Values>
        fields={fields}
        initial={initial}
        action="Save report"
        submit={(values) => submit({ ...initial, ...values })}
        onClose={onClose}
      >
        <p className="quiet">
          Keeps the numbers of this moment. A saved report can't be changed; those who see all of its projects
          see it.
        </p>
        <fieldset className="field">
          <legend>Sections</legend>
          <div className="report-sections">
            {(Object.entries(sectionNames) as [Section, string][]).map(([section, label]) => (
              <label key={section}>
                <input
                  type="checkbox"
                  checked={sections.includes(section)}
                  onChange={({ target: { checked } }) =>
                    setSections(checked ? [...sections, section] : sections.filter((one) => one !== section))
                  }
                />
                {label} <span className="quiet">{noteOf(section)}</span>
              </label>
            ))}
          </div>
        </fieldset>
      </Form>
    </Dialog>
  );
}
