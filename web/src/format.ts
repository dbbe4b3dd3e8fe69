/** Numbers and days as the reader writes them. */
const locale = navigator.languages;

const wholeNumber = new Intl.NumberFormat(locale);
const dayFormat = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' });
const timeFormat = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
const shortDay = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', timeZone: 'UTC' });

export const number = (value: number) => wholeNumber.format(value);

/** A day of the API, `YYYY-MM-DD`: the same day wherever the reader is. */
export const day = (value: string) => dayFormat.format(new Date(`${value}T00:00:00Z`));
export const dayShort = (value: string) => shortDay.format(new Date(`${value}T00:00:00Z`));

/** A day that stands in the address, where anything may stand. */
export const dayOrText = (value: string) => (/^\d{4}-\d\d-\d\d$/.test(value) ? day(value) : value);

/** A moment of the API, in the reader's time zone. */
export const time = (value: string) => timeFormat.format(new Date(value));

/** Days are UTC everywhere in Muster: so is today. */
export const today = () => new Date().toISOString().slice(0, 10);

export const daysFromToday = (days: number) =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

/** `in_progress` → `In progress`. */
export const words = (name: string) => {
  const text = name.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
};

/** Values of the API to choose from, each with its words. */
export const withWords = (values: readonly string[]) => values.map((value) => [value, words(value)] as const);

export const plural = (count: number, one: string, many = `${one}s`) =>
  `${number(count)} ${count === 1 ? one : many}`;
