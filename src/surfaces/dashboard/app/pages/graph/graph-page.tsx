import './graph.css';
import { useMemo } from 'preact/hooks';
import type { Graph, GraphNode, GraphPath } from '../../../shared/api-types.ts';
import { getJson } from '../../api.ts';
import { PageHead } from '../../components/page-layout.tsx';
import { Await, EmptyState } from '../../components/states.tsx';
import { plural } from '../../format.ts';
import { useResource } from '../../resource.ts';
import { type Drawing, type DrawnEdge, nested } from './drawing.ts';
import { type GraphState, graphState } from './graph-state.ts';
import { NodeDetails } from './node-details.tsx';
import { PathFinder } from './path-finder.tsx';
import { RunView } from './run-view.tsx';
import { Stage } from './stage.tsx';
import { useSettled } from './use-layout.ts';

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
    load: async (signal) => (from && to ? await getJson<GraphPath>('/path', { from, to }, signal) : null),
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
