import { useState } from 'preact/hooks';
import { withQuery } from '../../../shared/routes.ts';
import { EmptyState } from '../../components/states.tsx';
import { SteadyRows } from '../../components/steady-rows.tsx';
import { moveFocus } from '../../components/tabs.tsx';
import { duration, number, shownLine } from '../../format.ts';
import { location } from '../../router.ts';
import type { DrawnNode } from './drawing.ts';
import { NodeGlyph } from './legend.tsx';
import type { Background } from './paint-background.ts';

const DEFAULTS = { shown: 120 };

/** The graph as a list, for keyboards and screen readers. */
export function NodeList({
  nodes,
  sought,
  chosen,
  hueOf,
  isOrdered,
  view,
}: {
  nodes: readonly DrawnNode[];
  sought: string;
  chosen: string | null;
  hueOf: (id: string) => number;
  /** Whether the nodes are already in a meaningful order. */
  isOrdered: boolean;
  /** The current graph and filter. */
  view: string;
}) {
  const [count, setCount] = useState(DEFAULTS.shown);
  const found = findNodes(nodes, sought, isOrdered);
  if (found.length === 0) {
    return <EmptyState icon="search" title={sought ? 'No node has this name' : 'No node is shown'} />;
  }
  return (
    <>
      <SteadyRows rows={found.slice(0, count)} keyOf={({ id }) => id} view={`${view} ${sought} ${count}`}>
        {(steady) => (
          <ul class="graph-list" aria-label="Nodes" onKeyDown={(event) => moveFocus(event, 'a')}>
            {steady.map(({ id, kind, label, server, nth, together, isFailed }) => (
              <li key={id}>
                <a href={hrefOf(id)} aria-current={id === chosen ? 'true' : undefined}>
                  <NodeGlyph kind={kind} hue={hueOf(id)} />
                  <span class="graph-list-label">
                    {shownLine(label, 60)}
                    {nth !== undefined && <span class="faint"> #{nth}</span>}
                    {together && together.calls > 1 && <span class="faint"> ×{number(together.calls)}</span>}
                  </span>
                  <span class="graph-list-note">
                    {isFailed
                      ? 'failed'
                      : together && together.totalMs !== null
                        ? duration(together.totalMs)
                        : server === null
                          ? kind
                          : shownLine(server, 30)}
                  </span>
                </a>
              </li>
            ))}
          </ul>
        )}
      </SteadyRows>
      {found.length > count && (
        <button type="button" class="more" onClick={() => setCount(count + DEFAULTS.shown)}>
          Show more of {found.length}
        </button>
      )}
    </>
  );
}

/** Nodes that match every word, prefix matches first; otherwise in their order, or by name. */
export function findNodes(nodes: readonly DrawnNode[], sought: string, isOrdered: boolean): DrawnNode[] {
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean);
  const rank = ({ label }: DrawnNode) => (words[0] && label.toLowerCase().startsWith(words[0]) ? 0 : 1);
  return nodes
    .filter(({ id, label }) => {
      const text = `${id} ${label}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .sort((a, b) => rank(a) - rank(b) || (isOrdered || a.label === b.label ? 0 : a.label < b.label ? -1 : 1));
}

/** The same page with another node selected. */
export function hrefOf(node: string): string {
  const { path, query } = location.value;
  const { panel: _, ...rest } = Object.fromEntries(query);
  return withQuery(path, { ...rest, node });
}

/** The same page with the groups of one kind behind the nodes. */
export function withBackground(clusters: Background): string {
  const { path, query } = location.value;
  return withQuery(path, { ...Object.fromEntries(query), clusters });
}
