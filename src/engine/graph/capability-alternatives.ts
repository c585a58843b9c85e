import { alternativeEdges } from '../../core/graph/alternatives.ts';
import type { GraphEdge } from '../../core/graph/graph-edge.ts';
import { capabilityNode } from '../../core/vocabulary/ids.ts';
import type { Capability, Embedder } from '../ports.ts';

/** Capabilities that succeeded with the same intents: either could run where the other did. */
export async function capabilityAlternatives(
  embedder: Pick<Embedder, 'embed'>,
  capabilities: readonly Capability[],
): Promise<GraphEdge[]> {
  const serving = capabilities.filter(
    ({ state, evidence }) => state === 'active' && evidence.intents.length > 0,
  );
  if (serving.length < 2) return [];
  const served = await Promise.all(
    serving.map(async ({ id, evidence, updatedAt }) => ({
      capability: capabilityNode(id),
      intents: await embedder.embed(evidence.intents),
      lastSeenAt: updatedAt.getTime(),
    })),
  );
  return alternativeEdges(served);
}
