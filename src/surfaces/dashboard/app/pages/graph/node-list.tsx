import { useState } from 'preact/hooks';
import { withQuery } from '../../../shared/routes.ts';
import { moveFocus } from '../../components/move-focus.ts';
import { EmptyState } from '../../components/states.tsx';
import { location } from '../../router.ts';
import { shownLine } from '../../shown-text.ts';
import type { DrawnNode } from './drawing.ts';
import { NodeGlyph } from './node-glyph.tsx';

const DEFAULTS = { shown: 120 };

/** The graph as a list: what the drawing says to the eye, for keyboards and screen readers. */
export function NodeList({
  nodes,
  sought,
  chosen,
  hueOf,
}: {
  nodes: readonly DrawnNode[];
  sought: string;
  chosen: string | null;
  hueOf: (id: string) => number;
}) {
  const [count, setCount] = useState(DEFAULTS.shown);
  const found = findNodes(nodes, sought);
  if (found.length === 0) {
    return <EmptyState icon="search" title={sought ? 'No node is called so' : 'No node is shown'} />;
  }
  return (
    <>
      <ul class="graph-list" aria-label="Nodes" onKeyDown={(event) => moveFocus(event, 'a')}>
        {found.slice(0, count).map(({ id, kind, label, server, isFailed }) => (
          <li key={id}>
            <a href={hrefOf(id)} aria-current={id === chosen ? 'true' : undefined}>
              <NodeGlyph kind={kind} hue={hueOf(id)} />
              <span class="graph-list-label">{shownLine(label, 60)}</span>
              <span class="graph-list-note">
                {isFailed ? 'failed' : server === null ? kind : shownLine(server, 30)}
              </span>
            </a>
          </li>
        ))}
      </ul>
      {found.length > count && (
        <button type="button" class="more" onClick={() => setCount(count + DEFAULTS.shown)}>
          Show more of {found.length}
        </button>
      )}
    </>
  );
}

/** Those that hold every word, by what people call them; what starts with it comes first. */
export function findNodes(nodes: readonly DrawnNode[], sought: string): DrawnNode[] {
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean);
  const rank = ({ label }: DrawnNode) => (words[0] && label.toLowerCase().startsWith(words[0]) ? 0 : 1);
  return nodes
    .filter(({ id, label }) => {
      const text = `${id} ${label}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .sort((a, b) => rank(a) - rank(b) || (a.label < b.label ? -1 : a.label > b.label ? 1 : 0));
}

/** The same page looking at another node. */
export function hrefOf(node: string): string {
  const { path, query } = location.value;
  const { panel: _, ...rest } = Object.fromEntries(query);
  return withQuery(path, { ...rest, node });
}
