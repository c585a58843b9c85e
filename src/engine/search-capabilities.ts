import { wilsonLowerBound } from '../core/capabilities/reliability.ts';
import { dot } from '../core/numeric/dot.ts';
import type { CapabilityHit } from './gateway.ts';
import type { Capability, Embedder } from './ports.ts';

/** Below it a capability is not suggested. */
const DEFAULTS = { leastReliability: 0.5 };

/** Meaning times reliability; what fails about as often as it works is left out. */
export async function searchCapabilities(
  capabilities: readonly Capability[],
  embedder: Embedder,
  remembering: Pick<Embedder, 'embed'>,
  query: string,
  limit: number,
): Promise<CapabilityHit[]> {
  const active = capabilities.filter(({ state }) => state === 'active');
  const reliable = active.filter((c) => reliability(c) >= DEFAULTS.leastReliability);
  if (reliable.length === 0 || query.trim() === '') return [];
  const [[wanted], offered] = await Promise.all([
    embedder.embed([query]),
    remembering.embed(reliable.map(describe)),
  ]);
  return reliable
    .map((capability, i) => toHit(capability, dot(wanted!, offered[i]!) * reliability(capability)))
    .sort((a, b) => b.score - a.score)
    .slice(0, limit);
}

/** What it says of itself. */
function describe({ slug, description }: Capability): string {
  return `${slug} ${description}`;
}

function reliability({ successes, uses }: Capability): number {
  return wilsonLowerBound(successes, uses);
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
