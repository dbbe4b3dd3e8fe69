import { fold } from '../../src/core/text.ts';
import { dayAt, startOfDay } from '../../src/core/time-zones.ts';
import { type DateOrder, readDate } from '../../src/import/languages/dates.ts';

/** Numbers and dates follow the browser's languages. A browser can name one that `Intl` does not accept. */
const locale = navigator.languages.filter((language) => {
  try {
    return Intl.getCanonicalLocales(language).length > 0;
  } catch {
    return false;
  }
});

const numberFormat = new Intl.NumberFormat(locale);
const dayFormat = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' });
const shortDayFormat = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', timeZone: 'UTC' });
const clockFormat = new Intl.DateTimeFormat(locale, { timeStyle: 'short' });
const timeFormat = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });

const changeFormat = new Intl.NumberFormat(locale, { signDisplay: 'exceptZero' });

/** With a sign: `+3`. Some languages use a hyphen, which is too short beside a plus. */
export const formatChange = (value: number) => changeFormat.format(value).replace('-', '−');

export const formatNumber = (value: number) => numberFormat.format(value);

/** A day of the API (`YYYY-MM-DD`) has no time zone: it is the same day everywhere. */
export const formatDay = (value: string) => dayFormat.format(new Date(`${value}T00:00:00Z`));
export const formatShortDay = (value: string) => shortDayFormat.format(new Date(`${value}T00:00:00Z`));

/** Whether a text from the URL or an input is a day. Browsers read February 30 as a day in March. */
export function isDay(value: string): boolean {
  const time = Date.parse(value);
  return (
    /^[12]\d{3}-\d\d-\d\d$/.test(value) &&
    !Number.isNaN(time) &&
    new Date(time).toISOString().startsWith(value)
  );
}

/** A day in the notations that imports read; other texts stay as they are. */
export const readDay = (text: string, order: DateOrder | undefined) =>
  readDate(text, order, organization.time_zone);

/** For a day from the URL, which can be any text. */
export const formatDayOrText = (value: string) => (isDay(value) ? formatDay(value) : value);

/** Formats the days in a text of the service. */
export const formatDaysIn = (text: string) => text.replace(/\b\d{4}-\d\d-\d\d\b/g, formatDayOrText);

/** A timestamp of the API, in the browser's time zone. */
export const formatTime = (value: string) => timeFormat.format(new Date(value));

/** The time of today, or the day too. */
export function formatClock(time: number): string {
  const date = new Date(time);
  const isToday = date.toDateString() === new Date().toDateString();
  return (isToday ? clockFormat : timeFormat).format(date);
}

/** The day of a timestamp in the organization, which is also that of the filters. */
export const formatDayOf = (value: string) => formatDay(dayOf(value));

/** In English, because it is part of a sentence. */
const relativeFormat = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** `5 minutes ago`. */
export function formatAge(value: string): string {
  const minutes = Math.max(0, Math.floor((Date.now() - Date.parse(value)) / 60_000));
  if (minutes < 1) return 'just now';
  if (minutes < 60) return relativeFormat.format(-minutes, 'minute');
  if (minutes < 24 * 60) return relativeFormat.format(-Math.floor(minutes / 60), 'hour');
  return relativeFormat.format(-Math.floor(minutes / 60 / 24), 'day');
}

/** The settings of the organization, and how many days the clock of the browser is wrong. */
let organization = {
  time_zone: 'UTC',
  wrongDays: 0,
  first_day_of_week: 'monday',
  comparison_days: 30,
  firstDay: '2000-01-01',
};

/** A response may arrive on the next day, and clocks differ a little. */
const toleranceMs = 300_000;

/** Takes over the settings and the day of the service. The day goes on from there while the page is open. */
export function setOrganization({
  time_zone,
  today,
  history_from,
  organization: settings,
}: OrganizationOfMe): void {
  const now = Date.now();
  const isRight = [-toleranceMs, 0, toleranceMs].some((ms) => dayAt(now + ms, time_zone) === today);
  const wrongDays = (Date.parse(today) - Date.parse(dayAt(now, time_zone))) / 86_400_000;
  const firstDay = history_from ?? '2000-01-01';
  organization = { ...settings, time_zone, wrongDays: isRight ? 0 : wrongDays, firstDay };
}

type OrganizationOfMe = {
  time_zone: string;
  today: string;
  history_from: string | null;
  organization: { first_day_of_week: string; comparison_days: number };
};

/** The first past day that the service knows. */
export const firstDay = () => organization.firstDay;

/** How many days ago everything is compared with unless the user chooses another period. */
export const comparisonDays = () => organization.comparison_days;

/** By their number in JavaScript. */
const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** The first day of the week that contains a day. */
export function startOfWeek(day: string): string {
  const passed = new Date(day).getUTCDay() - weekdays.indexOf(organization.first_day_of_week);
  return daysLater(day, -((passed + 7) % 7));
}

export const organizationTimeZone = () => organization.time_zone;

/** The day of the organization, wherever the browser is. */
export const today = () => daysLater(dayAt(Date.now(), organization.time_zone), organization.wrongDays);

export const daysFromToday = (days: number) => daysLater(today(), days);

export const daysLater = (day: string, days: number) =>
  new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);

/** The day of the organization at a timestamp of the API. */
export const dayOf = (time: string) => dayAt(Date.parse(time), organization.time_zone);

/** The first instant after the day: a register of a past day is that of its end. */
export const endOf = (day: string) => startOfDay(daysLater(day, 1), organization.time_zone);

/** Values of the API whose label is not the value itself with spaces. */
const labels: Readonly<Record<string, string>> = {
  todo: 'To do',
  cancelled: 'Canceled',
  task_cancelled: 'Task canceled',
  materialized: 'Occurred',
  wont_fix: "Won't fix",
  unassessed: 'Not assessed',
  unowned: 'No owner',
  // The health of a project without assessed risks and open issues.
  unknown: 'Not assessed',
  due_overdue: 'Past due',
  q: 'Search',
  check: 'Needs attention',
  stale_90d: 'No update in 90 days',
  any: 'Anybody who can change it',
  not_owner: 'Anybody but its owner',
  oidc: 'Identity provider',
};

/** `in_progress` → `In progress`. */
export function humanize(value: string): string {
  const text = value.replaceAll('_', ' ');
  return labels[value] ?? text.charAt(0).toUpperCase() + text.slice(1);
}

const fieldLabels: Readonly<Record<string, string>> = {
  handover_to_user_id: 'Work handed over',
  handover_to_group_id: 'Risks and issues handed over',
  raised_by_user_id: 'Raised by',
  accepted_by_user_id: 'Accepted by',
  owner_group_id: 'Owning group',
  external_id: 'External ID',
  accountable_user_id: 'Accountable person',
  attributes: 'Custom fields',
  parent_id: 'Parent group',
  blocked_reason: 'Blocker',
  resolution_note: 'Resolution note',
  lessons: 'Lessons learned',
  source_url: 'Source',
  project_ids: 'Projects',
  acceptance: 'Who may accept a risk above the appetite',
  appetite: 'Risk appetite (score)',
};

/** The label of a field of the API: `owner_user_id` → `Owner`, `due_on` → `Due`. */
export const labelOf = (field: string) =>
  fieldLabels[field] ?? humanize(field.replace(/(_user_id|_group_id|_id|_on|_at)$/, ''));

/** What people have entered in lower case, such as the name of a category, with a capital letter. */
export const capitalize = (text: string) =>
  text === text.toLowerCase() ? text.charAt(0).toUpperCase() + text.slice(1) : text;

/** `cost_centre` → `Cost centre`. Other names of custom fields are shown as they were entered. */
export const attributeLabel = (name: string) => (/^[a-z][a-z0-9_]*$/.test(name) ? humanize(name) : name);

/** Names of areas that differ from their ids. */
const areaNames: Readonly<Record<string, string>> = { personnel: 'people' };

/** What the scopes of an area are about, for those who give them. */
export const areaLabel = (area: string) =>
  ({ events: 'Events and webhooks', projects: 'Projects, risks, issues, tasks' })[area] ??
  humanize(areaNames[area] ?? area);

/** `personnel.read` → `Read people`. */
export function scopeLabel(scope: string): string {
  const [area = '', access = ''] = scope.split('.');
  return `${humanize(access)} ${areaNames[area] ?? area}`;
}

/** `Manage people, projects · Read metrics`: managing includes reading. */
export function summarizeScopes(scopes: readonly string[]): string {
  const areas = (access: string) =>
    scopes
      .filter((scope) => scope.endsWith(access))
      .map((scope) => scope.replace(access, ''))
      .map((area) => areaNames[area] ?? area);
  const managed = areas('.manage');
  const read = areas('.read').filter((area) => !managed.includes(area));
  const parts = [
    managed.length > 0 && `Manage ${managed.join(', ')}`,
    read.length > 0 && `Read ${read.join(', ')}`,
  ];
  return parts.filter(Boolean).join(' · ');
}

/** Values of the API to choose from, with their labels. */
export const enumOptions = <Value extends string>(values: readonly Value[]) =>
  values.map((value) => [value, humanize(value)] as const);

export const matchesText = (searched: string, text: string) => fold(text).includes(fold(searched));

/** Whether a word of the text starts with what was searched. */
export const startsWord = (searched: string, text: string) => ` ${fold(text)}`.includes(` ${fold(searched)}`);

export const pluralize = (count: number, singular: string, plural = `${singular}s`) =>
  `${formatNumber(count)} ${count === 1 ? singular : plural}`;
