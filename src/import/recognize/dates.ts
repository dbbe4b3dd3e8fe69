import { Problem } from '../../core/errors.ts';
import { shortened } from '../../core/text.ts';
import { type DateEvidence, type DateOrder, dateOrders } from '../languages/dates.ts';

/** The order of day and month in a column, by its own dates or else by those of the other columns. */
export function orderOf(
  own: DateEvidence,
  all: readonly DateEvidence[],
  name: string,
): DateOrder | undefined {
  if (own.dmy && own.mdy) throw ambiguous(name, own.dmy, own.mdy);
  if (own.dmy || own.mdy) return own.dmy ? 'dmy' : 'mdy';
  if (!own.either) return undefined;
  const found = dateOrders.filter((order) => all.some((evidence) => evidence[order]));
  if (found.length !== 1) throw ambiguous(name, own.either);
  return found[0];
}

/** 422: the file does not show whether the day or the month comes first. */
function ambiguous(name: string, ...dates: { text: string; line: number }[]): Problem {
  const shown = dates.map(({ text, line }) => `“${text}” on line ${line}`).join(' and ');
  const detail =
    `Is ${shown} of the column “${shortened(name)}” day/month or month/day? ` +
    'Send `date_order=dmy` or `date_order=mdy`.';
  return new Problem('invalid_body', detail, {
    errors: [{ column: shortened(name), code: 'ambiguous_dates', detail }],
  });
}
