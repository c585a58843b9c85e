import { useMemo } from 'preact/hooks';
import type { Graph, GraphPath } from '../../../shared/api-types.ts';
import { getJson } from '../../api.ts';
import { EmptyState } from '../../components/states.tsx';
import { plural } from '../../format.ts';
import { useResource } from '../../resource.ts';
import { definitionDrawing } from './definition-drawing.ts';
import type { GraphState } from './graph-state.ts';
import { NodeDetails } from './node-details.tsx';
import { PathFinder } from './path-finder.tsx';
import { Stage } from './stage.tsx';
import { useSettled } from './use-settled.ts';

/** What is known of all runs and templates together. */
export function DefinitionView({ state, graph }: { state: GraphState; graph: Graph }) {
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
            In the drawing or in the list.
          </EmptyState>
        ),
        path: <PathFinder from={from} to={to} nodes={graph.nodes} path={path} filter={state.filter} />,
      }}
    />
  );
}
