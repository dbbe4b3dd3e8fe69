import { type ReactNode, useEffect } from 'react';

/** A page without the navigation of the console. */
export function Panel({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Muster`;
  }, [title]);
  return (
    <main className="sign-in">
      <PanelBox title={title}>{children}</PanelBox>
    </main>
  );
}

export const PanelBox = ({ title, children }: { title: string; children: ReactNode }) => (
  <div className="panel">
    <svg className="mark" viewBox="0 0 16 16" aria-hidden="true">
      <rect width="16" height="16" rx="4" />
      <path d="M4 12V7M8 12V4M12 12V9" />
    </svg>
    <h1>{title}</h1>
    {children}
  </div>
);
