import { type Static, Type } from 'typebox';
import { Id, Line, OneOf, OrNull, patchable, Strict, stamps, Time, Writable } from '../../core/schemas.ts';
import { describeResource } from '../descriptor.ts';

/** The values until others are stored. */
export const organizationDefaults = {
  time_zone: 'UTC',
  first_day_of_week: 'monday',
  comparison_days: 30,
} as const;

const fields = {
  name: OrNull(
    Line({
      description: 'Shown in the console and in its reports; null if none was chosen.',
      examples: ['Meridian Works'],
    }),
  ),
  time_zone: Line({
    default: organizationDefaults.time_zone,
    description: 'A time zone of the IANA database. It decides what day it is.',
    examples: ['America/Los_Angeles'],
  }),
  first_day_of_week: OneOf(['monday', 'sunday', 'saturday'], {
    default: organizationDefaults.first_day_of_week,
    description: 'The day on which weeks begin in the console.',
  }),
  comparison_days: Type.Integer({
    minimum: 1,
    maximum: 365,
    default: organizationDefaults.comparison_days,
    description: 'The console compares with the state so many days ago, unless another day is chosen.',
  }),
  free_text_categories: Type.Boolean({
    default: true,
    description: 'Whether risks may have categories that are not in the list of categories.',
  }),
};

export const Organization = Strict(
  {
    id: Id('organization', { description: 'The same in every service. Events name it as their subject.' }),
    ...fields,
    time_zone_from: OneOf(['organization', 'setting'], {
      description:
        '`setting`: the service was started with `MUSTER_TIME_ZONE`, which cannot be changed here.',
    }),
    version: stamps.version,
    updated_at: OrNull(Time({ description: 'The time of the last change; null if nothing was changed.' })),
  },
  { $id: 'Organization' },
);
export type Organization = Static<typeof Organization>;

export const OrganizationPatch = Writable(Organization, patchable(fields), {
  $id: 'OrganizationPatch',
  examples: [{ name: 'Meridian Works', time_zone: 'America/Los_Angeles' }],
});
export type OrganizationPatch = Static<typeof OrganizationPatch>;

/** There is one organization. Its fields are rows of `settings`. */
export const organizationResource = describeResource({
  kind: 'organization',
  table: 'settings',
  id: 'name',
  tag: ['organization', 'The settings that all projects share.'],
  columns: { name: Line(), value: Type.String() },
  visible: 'all',
  events: {
    scope: 'projects.read',
    types: { changed: 'The settings of the organization were changed.' },
    data: Organization,
    actions: () => ['changed'],
  },
});
