import { useEffect } from 'react';
import { Button as AriaButton, DialogTrigger, Popover, Radio, RadioGroup } from 'react-aria-components';
import { useMe } from '../api/session.ts';
import { DayInput } from '../components/day-input.tsx';
import { Icon } from '../components/icon.tsx';
import { comparisonDays, formatDay, pluralize, today } from '../format.ts';
import { useReports } from '../report/saved/queries.ts';
import {
  choiceOfReport,
  choosePeriod,
  isReportChoice,
  type Period,
  usePeriod,
  usePeriodChoice,
} from './period.ts';

/** Chooses what a page compares with. `shown` is what it compares with now, if that is not the choice. */
export function PeriodMenu({ shown, onChoose }: { shown?: Period; onChoose?: () => void }) {
  const chosen = usePeriod();
  const { header } = shown ?? chosen;
  return (
    <DialogTrigger>
      <AriaButton className="filter">
        {header}
        <Icon name="down" />
      </AriaButton>
      <Popover className="popover filter-options" placement="bottom end" aria-label="Compare with">
        <PeriodOptions onChoose={onChoose} />
      </Popover>
    </DialogTrigger>
  );
}

/** The periods to choose from. The choice holds for the overview, the lists and the report. */
export function PeriodOptions({ onChoose }: { onChoose?: (() => void) | undefined }) {
  const choice = usePeriodChoice();
  const { since } = usePeriod();
  const last = useLastReport();
  const isReport = isReportChoice(choice);
  // The report may have been saved elsewhere since it was chosen.
  useEffect(() => {
    if (isReport && last && choice !== choiceOfReport(last.day)) choosePeriod(choiceOfReport(last.day));
  }, [isReport, last, choice]);
  const choose = (next: string) => {
    choosePeriod(next);
    onChoose?.();
  };
  const options = [...new Set([7, 30, 90, comparisonDays()])]
    .sort((one, other) => one - other)
    .map((days) => ({ value: String(days), label: pluralize(days, 'day') }));
  if (last) {
    const name = last.isOwn ? 'my last report' : 'the last report';
    options.push({ value: choiceOfReport(last.day), label: `Since ${name}, ${formatDay(last.day)}` });
  }
  return (
    <div className="period">
      <RadioGroup aria-label="Compare with" value={choice || String(comparisonDays())} onChange={choose}>
        {options.map(({ value, label }) => (
          <Radio key={value} value={value} className="filter-option">
            <span className="tick" aria-hidden="true">
              <Icon name="check" />
            </span>
            {label}
          </Radio>
        ))}
      </RadioGroup>
      <DayInput label="Since" day={since} max={today()} onChange={choose} />
    </div>
  );
}

/** The newest report of the user, or else of anybody. */
function useLastReport() {
  const { name } = useMe();
  const { data: reports = [] } = useReports();
  const own = reports.find(({ author_name }) => author_name === name);
  const last = own ?? reports[0];
  return last && { day: last.day, isOwn: last === own };
}
