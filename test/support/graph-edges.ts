import type { Gateway } from '../../src/engine/gateway.ts';
import type { EdgeView, GraphView } from '../../src/engine/graph/graph-view.ts';

/** All edges, as `fs:read -sequence-> fs:write`, with capabilities by name. */
export function told({ nodes, edges }: GraphView): string[] {
  const names = new Map(nodes.map(({ id, kind, label }) => [id, kind === 'capability' ? label : id]));
  return edges.map(
    ({ source, target, edge_type }) => `${names.get(source)} -${edge_type}-> ${names.get(target)}`,
  );
}

/** The same for one type. */
export function ofType(view: GraphView, type: EdgeView['edge_type']): string[] {
  return told({ ...view, edges: view.edges.filter(({ edge_type }) => edge_type === type) });
}

export async function findEdge(
  gateway: Gateway,
  source: string,
  target: string,
  type: EdgeView['edge_type'],
): Promise<EdgeView | undefined> {
  const { edges } = await gateway.graph.view();
  return edges.find((edge) => edge.source === source && edge.target === target && edge.edge_type === type);
}
