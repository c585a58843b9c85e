import type { ComponentChildren } from 'preact';
import { EDGE_SOURCES, EDGE_TYPES } from '../../../shared/vocabulary.ts';
import { number, shownLine } from '../../format.ts';
import type { Drawing } from './drawing.ts';
import { type Filter, NODE_KINDS, toggled } from './filter.ts';
import { type Mode, setFilter } from './graph-state.ts';
import { EdgeSwatch, NodeGlyph } from './swatches.tsx';

const MEANINGS = {
  dependency: 'needed first',
  contains: 'calls',
  provides: 'gives a value to',
  sequence: 'then',
  conditional: 'decides about',
  alternative: 'stands in for',
  observed: '3 runs or more',
  inferred: '1 or 2 runs',
  template: 'not seen yet',
};

/** Explains colours, lines and shapes, and filters by them. */
export function Legend({
  drawing: { nodes, edges },
  filter,
  mode,
  servers,
}: {
  drawing: Drawing;
  filter: Filter;
  mode: Mode;
  servers: readonly string[];
}) {
  const isRun = mode === 'invocation';
  const types = EDGE_TYPES.filter((type) => !isRun || edges.some((edge) => edge.type === type));
  const lone = nodes.filter(({ isLone }) => isLone).length;
  return (
    <details class="graph-legend" open={matchMedia('(min-width: 861px)').matches}>
      <summary>Legend and filter</summary>
      <div class="graph-legend-groups">
        <Group title="Edges">
          {types.map((type) => (
            <Choice
              key={type}
              title={type}
              note={MEANINGS[type]}
              count={edges.filter((edge) => edge.type === type).length}
              isOn={filter.types.has(type)}
              onToggle={() => setFilter({ ...filter, types: toggled(filter.types, type) })}
            >
              <EdgeSwatch type={type} />
            </Choice>
          ))}
        </Group>
        {!isRun && (
          <Group title="Source">
            {EDGE_SOURCES.toReversed().map((source) => (
              <Choice
                key={source}
                title={source}
                note={MEANINGS[source]}
                count={edges.filter((edge) => edge.origin === source).length}
                isOn={filter.sources.has(source)}
                onToggle={() => setFilter({ ...filter, sources: toggled(filter.sources, source) })}
              >
                <EdgeSwatch source={source} />
              </Choice>
            ))}
          </Group>
        )}
        <Group title="Nodes">
          {NODE_KINDS.map((kind) => (
            <Choice
              key={kind}
              title={kind === 'capability' ? 'capabilities' : `${kind}s`}
              count={filter.kinds.has(kind) ? nodes.filter((node) => node.kind === kind).length : undefined}
              isOn={filter.kinds.has(kind)}
              onToggle={() => setFilter({ ...filter, kinds: toggled(filter.kinds, kind) })}
            >
              <NodeGlyph kind={kind} />
            </Choice>
          ))}
          {lone > 0 && (
            <Choice
              title="not used yet"
              count={lone}
              isOn={filter.lone}
              onToggle={() => setFilter({ ...filter, lone: !filter.lone })}
            />
          )}
        </Group>
        <Group title="Servers">
          {servers.map((server, i) => (
            <Choice
              key={server}
              title={shownLine(server, 40)}
              count={nodes.filter((node) => node.server === server).length}
              isOn={filter.servers?.has(server) ?? true}
              onToggle={() => {
                const next = toggled(filter.servers ?? new Set(servers), server);
                setFilter({ ...filter, servers: servers.every((each) => next.has(each)) ? null : next });
              }}
            >
              <NodeGlyph kind="tool" hue={i} />
            </Choice>
          ))}
        </Group>
      </div>
    </details>
  );
}

function Group({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <fieldset>
      <legend class="hidden">{title}</legend>
      {children}
    </fieldset>
  );
}

function Choice({
  title,
  note,
  count,
  isOn,
  onToggle,
  children,
}: {
  title: string;
  note?: string;
  count: number | undefined;
  isOn: boolean;
  onToggle: () => void;
  children?: ComponentChildren;
}) {
  return (
    <label class="graph-choice" title={note}>
      <input type="checkbox" checked={isOn} onChange={onToggle} />
      <span class="graph-choice-sign">{children}</span>
      <span class="graph-choice-title">{title}</span>
      {count !== undefined && <span class="number faint">{number(count)}</span>}
    </label>
  );
}
