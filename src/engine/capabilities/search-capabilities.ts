import { reliabilityOf, wilsonUpperBound } from '../../core/capabilities/lifecycle.ts';
import { dot } from '../../core/numeric/vectors.ts';
import { actionsOf, relateActions } from '../../core/retrieval/intent-actions.ts';
import type { CapabilityHit } from '../gateway.ts';
import type { Capability, Embedder } from '../ports.ts';

const DEFAULTS = {
  /** Relevance below which nothing is returned: unrelated texts of the built-in model stay under it. */
  leastRelevance: 0.3,
  /** What is shown to fail is left out: the upper bound of its success rate lies below. */
  failing: 0.5,
};

/** Relevance by what it says of itself and by past intents, times reliability; not for the opposite of those intents. */
export async function searchCapabilities(
  capabilities: readonly Capability[],
  embedder: Embedder,
  remembering: Pick<Embedder, 'embed'>,
  query: string,
  limit: number,
): Promise<CapabilityHit[]> {
  const offered = capabilities.filter(
    (capability) => capability.state === 'active' && !isFailing(capability) && !isOpposed(query, capability),
  );
  if (offered.length === 0 || query.trim() === '') return [];
  const texts = offered.map(({ slug, description, evidence }) => [
    `${slug} ${description}`,
    ...evidence.intents,
  ]);
  const [[wanted], vectors] = await Promise.all([embedder.embed([query]), remembering.embed(texts.flat())]);
  let first = 0;
  return offered
    .map((capability, i) => {
      const own = vectors.slice(first, first + texts[i]!.length);
      first += own.length;
      return { capability, relevance: Math.max(...own.map((vector) => dot(wanted!, vector))) };
    })
    .filter(({ relevance }) => relevance >= DEFAULTS.leastRelevance)
    .map(({ capability, relevance }) => toHit(capability, relevance * reliabilityOf(capability)))
    .sort((a, b) => b.score - a.score)
    .slice(0, limit);
}

function isFailing({ successes, uses }: Capability): boolean {
  return wilsonUpperBound(successes, uses) < DEFAULTS.failing;
}

/** All that it was used for is the opposite of what is asked for. */
function isOpposed(query: string, { evidence }: Capability): boolean {
  const asked = actionsOf(query);
  return (
    evidence.intents.length > 0 &&
    evidence.intents.every((intent) => relateActions(asked, actionsOf(intent)) === 'opposed')
  );
}

function toHit(capability: Capability, score: number): CapabilityHit {
  const { slug, description, parametersSchema, uses, successes, toolsUsed, toolInvocations } = capability;
  return {
    slug,
    description,
    parameters: parametersSchema,
    score,
    successRate: uses === 0 ? 0 : successes / uses,
    uses,
    toolsUsed,
    toolsSequence: toolInvocations.map((call) => (call as { tool: string }).tool),
  };
}
