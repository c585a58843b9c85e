import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

/** A part of a page with a heading, and what can be done with it at the heading's right. */
export function Panel({
  title,
  actions,
  flush = false,
  children,
}: {
  title: ComponentChildren;
  actions?: ComponentChildren;
  /** Lets a list or table reach the borders. */
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
