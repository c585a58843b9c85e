import type { ComponentChildren } from 'preact';
import {
  EDGE_COLOURS,
  EDGE_LINES,
  EDGE_SOURCES,
  EDGE_TYPES,
  type EdgeSource,
  type EdgeType,
  type NodeKind,
} from '../../../shared/vocabulary.ts';
import { number, shownLine } from '../../format.ts';
import type { Drawing } from './drawing.ts';
import { type Filter, NODE_KINDS, toggled } from './filter.ts';
import { type Mode, setFilter } from './graph-state.ts';

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

const DASHES = { solid: undefined, dashed: '6 4', dotted: '0.1 5' };

/** A sample of an edge as the graph draws it. Without a type it shows only the line style. */
export function EdgeSwatch({ type, source = 'observed' }: { type?: EdgeType; source?: EdgeSource }) {
  const line = EDGE_LINES[source];
  const dashes = DASHES[line];
  const shape = {
    x1: 2,
    y1: 6,
    x2: 24,
    y2: 6,
    'stroke-dasharray': dashes,
    'stroke-linecap': line === 'dotted' ? ('round' as const) : ('butt' as const),
  };
  return (
    <svg class="edge-swatch" width={26} height={12} viewBox="0 0 26 12" aria-hidden="true">
      {type && <line class="edge-outline" {...shape} />}
      <line class="edge-line" {...shape} stroke={type ? EDGE_COLOURS[type] : 'currentColor'} />
    </svg>
  );
}

/** The shape of a kind of node in the graph. */
export function NodeGlyph({ kind, hue }: { kind: NodeKind; hue?: number }) {
  const colour = hue === undefined ? 'currentColor' : `var(--graph-hue-${(hue % 8) + 1})`;
  return (
    <svg class="node-glyph" width={16} height={16} viewBox="0 0 16 16" aria-hidden="true">
      {kind === 'tool' && <circle cx={8} cy={8} r={5} style={{ stroke: colour }} />}
      {kind === 'capability' && (
        <path d="M4.6 2.2h6.8L14.8 8l-3.400 5.8H4.6L1.200 8z" style={{ fill: colour, stroke: colour }} />
      )}
      {kind === 'operation' && <path d="M8 2.500 13.500 8 8 13.500 2.500 8z" class="node-glyph-operation" />}
    </svg>
  );
}
