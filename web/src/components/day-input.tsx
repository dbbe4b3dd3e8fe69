import { useEffect, useId, useState } from 'react';
import { firstDay, isDay } from '../format.ts';

type Props = { label: string; day: string; max: string; onChange: (day: string) => void };

/** While a year is typed, the browser reports years such as 0002. */
export function DayInput({ label, day, max, onChange }: Props) {
  const id = useId();
  const [text, setText] = useState(day);
  // The choice of one day can move the other.
  useEffect(() => setText(day), [day]);
  return (
    <span className="day-input">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="date"
        value={text}
        min={firstDay()}
        max={max}
        onChange={({ target: { value } }) => {
          setText(value);
          if (isDay(value) && value >= firstDay() && value <= max) onChange(value);
        }}
        onBlur={() => setText(day)}
      />
    </span>
  );
}
