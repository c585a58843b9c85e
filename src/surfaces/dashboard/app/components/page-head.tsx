import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

/** The title of a page, once per page, also in the browser's tab. */
export function PageHead({
  title,
  lead,
  actions,
}: {
  title: string;
  lead?: ComponentChildren;
  actions?: ComponentChildren;
}) {
  useEffect(() => {
    document.title = title === 'Home' ? 'PML' : `${title} · PML`;
  }, [title]);
  return (
    <header class="page-head">
      <div class="page-title">
        <h1 tabIndex={-1}>{title}</h1>
        {lead && <p class="lead">{lead}</p>}
      </div>
      {actions && <div class="page-actions">{actions}</div>}
    </header>
  );
}
