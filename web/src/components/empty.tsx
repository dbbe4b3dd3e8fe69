import type { ReactNode } from 'react';

/** Where there is nothing yet: what it would be, and what to do first. */
export const Empty = ({
  title,
  children,
  action,
}: {
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) => (
  <div className="empty">
    <h2>{title}</h2>
    {children && <p>{children}</p>}
    {action}
  </div>
);
