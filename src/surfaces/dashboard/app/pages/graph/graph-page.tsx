import { useId, useMemo } from 'preact/hooks';
import type { Graph, GraphNode, GraphPath } from '../../../shared/api-types.ts';
import { getJson } from '../../api.ts';
import { Icon } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { PageHead } from '../../components/page-layout.tsx';
import { Await, EmptyState, ErrorState, Skeleton } from '../../components/states.tsx';
import { plural, shownText } from '../../format.ts';
import { type Resource, useResource } from '../../resource.ts';
import { setQuery } from '../../router.ts';
import { type Drawing, type DrawnEdge, nested } from './drawing.ts';
import type { Filter } from './filter.ts';
import { type GraphState, graphState, setFilter } from './graph-state.ts';
import { EdgeSwatch } from './legend.tsx';
import { NodeDetails, nameOf } from './node-details.tsx';
import { hrefOf } from './node-list.tsx';
import { RunView } from './run-view.tsx';
import { Stage } from './stage.tsx';
import { useSettled } from './use-layout.ts';
import './graph.css';

/** The graph: as learned from all runs, or of a single run. */
export default function GraphPage() {
  const state = graphState();
  const graph = useResource<Graph>('graph', {
    load: (signal) => getJson('/graph', {}, signal),
    reloadOn: ({ type }) =>
      type === 'graph_changed' || type === 'capability_changed' || type === 'catalogue_changed',
  });
  return (
    <div class="page-wide graph-page">
      <Await of={graph.state.value} retry={graph.reload} lines={8}>
        {(data) =>
          data.nodes.length === 0 ? (
            <>
              <PageHead title="Graph" />
              <EmptyState icon="graph" title="Nothing to draw yet">
                <p>Tools appear here once a server is attached, and edges once programs have run.</p>
              </EmptyState>
            </>
          ) : state.mode === 'invocation' ? (
            <RunView state={state} graph={data} />
          ) : (
            <DefinitionView state={state} graph={data} />
          )
        }
      </Await>
    </div>
  );
}

const SIZES = {
  capability: 26,
  operation: 14,
  /** Size of a tool: the minimum, and what the most central one adds. */
  tool: 18,
  central: 20,
};

/** The graph from all runs and templates. */
function DefinitionView({ state, graph }: { state: GraphState; graph: Graph }) {
  const withOperations = state.filter.kinds.has('operation');
  const drawing = useMemo(() => definitionDrawing(graph, withOperations), [graph, withOperations]);
  const { settled, move, layOutAgain } = useSettled(drawing);
  const { from, to } = state;
  const path = useResource<GraphPath | null>(`path ${JSON.stringify([from, to])}`, {
    load: async (signal) => {
      if (!from || !to) return null;
      const asked = new URLSearchParams([...startsOf(from).map((start) => ['from', start]), ['to', to]]);
      return await getJson<GraphPath>(`/path?${asked}`, {}, signal);
    },
    reloadOn: ({ type }) => type === 'graph_changed',
  });
  const found = path.state.value.data;
  const marked = useMemo(
    () =>
      found && found.cost !== null
        ? {
            nodes: found.nodes,
            edges: found.steps.map(({ source, edge_type, target }) => `${source} ${edge_type} ${target}`),
          }
        : null,
    [found],
  );
  return (
    <Stage
      state={state}
      drawing={drawing}
      settled={settled}
      path={marked}
      lead={`${plural(drawing.nodes.length, 'node')}, ${plural(drawing.edges.length, 'edge')}`}
      onMove={move}
      onLayOut={layOutAgain}
      panels={{
        details: state.node ? (
          <NodeDetails key={state.node} id={state.node} nodes={graph.nodes} />
        ) : (
          <EmptyState icon="graph" title="Choose a node">
            In the graph or in the list.
          </EmptyState>
        ),
        path: <PathFinder from={from} to={to} nodes={graph.nodes} path={path} filter={state.filter} />,
      }}
    />
  );
}

/** Several that are all done are separated by commas, which no id has. */
function startsOf(from: string): string[] {
  return from
    .split(',')
    .map((start) => start.trim())
    .filter(Boolean);
}

/** Tools, capabilities, and operations if requested. */
function definitionDrawing({ nodes: all, edges }: Graph, withOperations: boolean): Drawing {
  const nodes = all.filter(({ kind }) => withOperations || kind !== 'operation');
  const isDrawn = new Set(nodes.map(({ id }) => id));
  const drawn: DrawnEdge[] = edges
    .filter(({ source, target }) => isDrawn.has(source) && isDrawn.has(target))
    .map((edge) => ({
      id: `${edge.source} ${edge.edge_type} ${edge.target}`,
      source: edge.source,
      target: edge.target,
      type: edge.edge_type,
      origin: edge.edge_source,
      weight: edge.weight,
      runs: edge.observed_count,
      calls: edge.invocation_count,
    }));
  const members = membersOf(nodes, drawn, isDrawn);
  const linked = new Set([
    ...drawn.flatMap(({ source, target }) => [source, target]),
    ...[...members].flatMap(([capability, inside]) => [capability, ...inside]),
  ]);
  const most = Math.max(...nodes.map(({ pagerank }) => pagerank), Number.MIN_VALUE);
  return {
    nodes: nodes.map((node) => ({
      id: node.id,
      kind: node.kind,
      label: node.label,
      server: node.server,
      community: node.community,
      cluster: node.cluster,
      size: sizeOf(node, most),
      isLone: !linked.has(node.id),
    })),
    edges: drawn,
    members,
  };
}

function sizeOf({ kind, pagerank }: GraphNode, most: number): number {
  return kind === 'tool' ? SIZES.tool + SIZES.central * Math.sqrt(pagerank / most) : SIZES[kind];
}

/** What its program uses, and what runs have shown it to call. */
function membersOf(
  nodes: readonly GraphNode[],
  edges: readonly DrawnEdge[],
  isDrawn: ReadonlySet<string>,
): Drawing['members'] {
  const direct = new Map<string, Set<string>>();
  const put = (capability: string, node: string) => {
    if (!isDrawn.has(node)) return;
    direct.set(capability, (direct.get(capability) ?? new Set()).add(node));
  };
  for (const { id, kind, tools_used = [], capabilities_used = [] } of nodes) {
    if (kind === 'capability') for (const node of [...tools_used, ...capabilities_used]) put(id, node);
  }
  const capabilities = new Set(nodes.filter(({ kind }) => kind === 'capability').map(({ id }) => id));
  for (const { type, source, target } of edges) {
    if (type === 'contains' && capabilities.has(source)) put(source, target);
  }
  return nested(direct);
}

/** Finds a path between two nodes and shows its evidence. */
function PathFinder({
  from,
  to,
  nodes,
  path,
  filter,
}: {
  from: string | null;
  to: string | null;
  nodes: readonly GraphNode[];
  path: Resource<GraphPath | null>;
  filter: Filter;
}) {
  const id = useId();
  const labels = new Map(nodes.map((node) => [node.id, node]));
  const written = (node: string | null) => (node === null ? '' : (capabilityName(node, labels) ?? node));
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const given = (name: string) => String(form.get(name) ?? '').trim() || undefined;
    setQuery({ from: given('from'), to: given('to'), panel: 'path' }, { replace: false });
  };
  return (
    <div class="graph-details">
      <form class="graph-path-form" onSubmit={submit}>
        <NodeField title="From" name="from" list={id} written={written(from)} />
        <NodeField title="To" name="to" list={id} written={written(to)} />
        <datalist id={id}>
          {nodes.map((node) => (
            <option key={node.id} value={node.kind === 'capability' ? node.label : node.id} />
          ))}
        </datalist>
        <div class="row">
          <Button kind="primary" type="submit">
            Find path
          </Button>
          <Button
            disabled={!from && !to}
            onClick={() => setQuery({ from: to ?? undefined, to: from ?? undefined }, { replace: false })}
          >
            Swap
          </Button>
          <Button
            kind="quiet"
            disabled={!from && !to}
            onClick={() => setQuery({ from: undefined, to: undefined, panel: 'path' })}
          >
            Clear
          </Button>
        </div>
      </form>
      {from && to ? (
        <Answer path={path} labels={labels} filter={filter} />
      ) : (
        <p class="muted">
          The cheapest path over dependencies, data flow and order; edges seen more often cost less. From
          several tools, separated by commas, a capability is reached once everything it uses is reached.
        </p>
      )}
    </div>
  );
}

/** Re-created when the address names another node, so that typing is not interrupted. */
function NodeField(of: { title: string; name: string; list: string; written: string }) {
  return (
    <label>
      <span>{of.title}</span>
      <input
        type="text"
        name={of.name}
        list={of.list}
        key={of.written}
        defaultValue={of.written}
        autocomplete="off"
      />
    </label>
  );
}

function Answer({
  path,
  labels,
  filter,
}: {
  path: Resource<GraphPath | null>;
  labels: ReadonlyMap<string, GraphNode>;
  filter: Filter;
}) {
  const { data, error, isLoading } = path.state.value;
  if (error) return <ErrorState error={error} />;
  if (!data) return isLoading ? <Skeleton lines={3} /> : null;
  if (data.cost === null) return <p role="status">{shownText(data.explanation)}</p>;
  const isThroughOperations =
    !filter.kinds.has('operation') && data.nodes.some((node) => labels.get(node)?.kind === 'operation');
  return (
    <section class="graph-path" aria-label="Path">
      <p class="muted" role="status">
        {data.steps.length + data.joins.length === 0
          ? 'This is the start node.'
          : `${plural(data.steps.length + data.joins.length, 'step')}, cost ${data.cost.toFixed(2)}`}
      </p>
      <ol>
        {data.steps.map((step) => (
          <li key={`${step.source} ${step.target}`}>
            <a href={hrefOf(step.source)}>{nameOf(step.source, labels)}</a>
            <p>
              <EdgeSwatch type={step.edge_type} source={step.edge_source} />
              <span>{shownText(step.explanation)}</span>
            </p>
          </li>
        ))}
        {data.joins.map(({ target, explanation }) => (
          <li key={target}>
            <p>
              <Icon name="capabilities" size={16} />
              <span>{shownText(explanation)}</span>
            </p>
          </li>
        ))}
        {data.nodes.length > 0 && (
          <li>
            <a href={hrefOf(data.nodes.at(-1)!)}>{nameOf(data.nodes.at(-1)!, labels)}</a>
          </li>
        )}
      </ol>
      {isThroughOperations && (
        <Button onClick={() => setFilter({ ...filter, kinds: new Set([...filter.kinds, 'operation']) })}>
          Show operations on this path
        </Button>
      )}
    </section>
  );
}

function capabilityName(id: string, labels: ReadonlyMap<string, GraphNode>): string | undefined {
  const node = labels.get(id);
  return node?.kind === 'capability' ? node.label : undefined;
}
