import { useSyncExternalStore } from 'react';
import { browserStorage } from '../api/storage.ts';
import { announceStored, followStorage } from '../components/follow-storage.ts';
import { comparisonDays, daysLater, firstDay, formatDay, isDay, pluralize, today } from '../format.ts';

/** The day that scores are compared with, and how texts name the time since. */
export type Period = {
  since: string;
  /** `Change, 30 days`, `Change since 1 Oct 2026`. */
  header: string;
  /** `in 30 days`, `since 1 Oct 2026`. */
  within: string;
  /** `30 days ago`, `on 1 Oct 2026`. */
  start: string;
};

const storageKey = 'muster-period';
const reportPrefix = 'report ';

export const readChoice = () => browserStorage.getItem(storageKey) ?? '';

/** A number of days, a day, or `report` and its day. Empty for what the organization has set. */
export const usePeriodChoice = () => useSyncExternalStore(followStorage, readChoice);

export const choiceOfReport = (day: string) => `${reportPrefix}${day}`;
export const isReportChoice = (choice: string) => choice.startsWith(reportPrefix);

/** Chooses the period of the overview, the lists and the report in this browser. */
export function choosePeriod(choice: string): void {
  if (choice === '' || choice === String(comparisonDays())) browserStorage.removeItem(storageKey);
  else browserStorage.setItem(storageKey, choice);
  announceStored();
}

/** The chosen period that ends on a day, which may be any text of a URL, or else today. */
export function usePeriod(end = ''): Period {
  const choice = usePeriodChoice();
  const last = isDay(end) ? end : today();
  const isReport = isReportChoice(choice);
  const day = isReport ? choice.slice(reportPrefix.length) : choice;
  // A day after the end, and what another version of the console may have stored, count as no choice.
  if (isDay(day) && day <= last) {
    return { ...periodSince(day), ...(isReport && { header: 'Change since report' }) };
  }
  const days = /^\d{1,3}$/.test(choice) ? Number(choice) : comparisonDays();
  const inDays = pluralize(days, 'day');
  return {
    since: notBeforeHistory(daysLater(last, -days)),
    header: `Change, ${inDays}`,
    within: `in ${inDays}`,
    start: `${inDays} ago`,
  };
}

/** The period since a day. */
export function periodSince(day: string): Period {
  const since = notBeforeHistory(day);
  const name = formatDay(since);
  return { since, header: `Change since ${name}`, within: `since ${name}`, start: `on ${name}` };
}

const notBeforeHistory = (day: string) => (day < firstDay() ? firstDay() : day);
