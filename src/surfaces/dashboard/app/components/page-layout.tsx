import type { ComponentChildren } from 'preact';
import { useEffect, useId } from 'preact/hooks';

/** A section of a page with a heading, and actions to the heading's right. */
export function Panel({
  title,
  actions,
  flush = false,
  children,
}: {
  title: ComponentChildren;
  actions?: ComponentChildren;
  /** Without padding, so that a list or table reaches the borders. */
  flush?: boolean;
  children: ComponentChildren;
}) {
  const id = useId();
  return (
    <section class="panel" aria-labelledby={id}>
      <header class="panel-head">
        <h2 id={id}>{title}</h2>
        {actions && <div class="panel-actions">{actions}</div>}
      </header>
      <div class={flush ? 'panel-body panel-flush' : 'panel-body'}>{children}</div>
    </section>
  );
}

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
