import type { ReactNode } from 'react';

/** Shown in place of an empty list. Explains how to start. */
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
