import { type ReactNode, useState } from 'react';

type Props = {
  title: string;
  /** How many of its rows are in which state; those that don't apply are false. */
  counts: readonly (string | false)[];
  /** Whether something in it needs attention. */
  isForcedOpen: boolean;
  children: ReactNode;
};

/** What the columns or the texts of a file are read as. */
export function Mapping({ title, counts, isForcedOpen, children }: Props) {
  const [isOpen, setOpen] = useState(false);
  const shown = counts.filter(Boolean);
  return (
    <details
      className="import-mapping"
      // Stays open, because the focus can be in it.
      open={isOpen || isForcedOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        {title}
        {shown.length > 0 && <span className="quiet">, {shown.join(', ')}</span>}
      </summary>
      {children}
    </details>
  );
}
