import type { ReactNode } from 'react';
import { formatDayOrText, isDay, today } from '../format.ts';
import { Button } from './button.tsx';
import { DayInput } from './day-input.tsx';

type InputProps = { value: string | undefined; onChange: (day: string | null) => void };

/** Chooses the day that the risk register is shown as of. */
export const AsOfInput = ({ value = '', onChange }: InputProps) => (
  <DayInput
    label="As of"
    day={isDay(value) ? value : today()}
    max={today()}
    onChange={(day) => onChange(day === today() ? null : day)}
  />
);

type NoticeProps = { day: string; onToday: () => void; children: ReactNode };

/** Above a register of an earlier day, where nothing can be changed. */
export const AsOfNotice = ({ day, onToday, children }: NoticeProps) => (
  <div className="notice as-of" role="status">
    <p>
      <strong>As of {formatDayOrText(day)}.</strong> {children}
    </p>
    <Button
      small
      onPress={() => {
        onToday();
        // The button is removed with the notice. On the box that selects all rows, the next Space would select them.
        document.getElementById('main')?.focus({ preventScroll: true });
      }}
    >
      Back to today
    </Button>
  </div>
);
