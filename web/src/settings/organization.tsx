import {
  type Organization,
  type OrganizationPatch,
  organizationFirstDayOfWeekValues,
} from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { Card, Facts } from '../components/card.tsx';
import { choiceField, type FieldOf } from '../components/form-values.ts';
import { History } from '../components/history.tsx';
import { Loaded } from '../components/loading.tsx';
import { EditButton } from '../fields/edit-dialog.tsx';
import { enumOptions, formatDay, humanize, pluralize, today } from '../format.ts';
import { readOrganization, useOrganization, usePatchOrganization } from './queries.ts';

/** The settings that all projects share. */
export const OrganizationSettings = () => (
  <Loaded query={useOrganization()}>
    {(organization) => (
      <div className="columns">
        <Settings organization={organization} />
        <History subject={{ id: organization.id, path: '/v1/organization' }} />
      </div>
    )}
  </Loaded>
);

function Settings({ organization }: { organization: Organization }) {
  const save = usePatchOrganization();
  const canEdit = useHasScope()('projects.manage');
  const { id, name, time_zone, time_zone_from, first_day_of_week, comparison_days } = organization;
  const isFixed = time_zone_from === 'setting';
  const editor = {
    id,
    name: 'organization',
    list: '/settings',
    item: organization,
    fields: fieldsOf(isFixed),
    canEdit,
    save,
    reload: readOrganization,
    remove: () => Promise.reject(new Error('There is always one organization.')),
  };
  return (
    <Card id="organization" title="Organization">
      <Facts
        facts={[
          ['Name', name ?? 'Not set'],
          ['Time zone', `${time_zone}${isFixed ? ' (set by the operator of this service)' : ''}`],
          ['Today', formatDay(today())],
          ['First day of the week', humanize(first_day_of_week)],
          ['Compare with', `${pluralize(comparison_days, 'day')} ago`],
        ]}
      />
      {canEdit && (
        <div className="button-row">
          <EditButton editor={editor} />
        </div>
      )}
    </Card>
  );
}

const fieldsOf = (isTimeZoneFixed: boolean): FieldOf<OrganizationPatch>[] => [
  {
    name: 'name',
    label: 'Name',
    kind: 'line',
    hint: 'Shown at the top of the navigation and in reports.',
  },
  ...(isTimeZoneFixed ? [] : [timeZoneField]),
  choiceField('first_day_of_week', 'First day of the week', enumOptions(organizationFirstDayOfWeekValues), {
    required: true,
    half: true,
  }),
  {
    name: 'comparison_days',
    label: 'Compare with days ago',
    kind: 'number',
    required: true,
    min: 1,
    max: 365,
    half: true,
  },
];

const timeZoneField = {
  name: 'time_zone',
  label: 'Time zone',
  kind: 'line',
  required: true,
  hint: 'Decides what day it is: what is overdue, when acceptances end, and where past days begin.',
  suggestions: ['UTC', ...Intl.supportedValuesOf('timeZone')],
} as const;
