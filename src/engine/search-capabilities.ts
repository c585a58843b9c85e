import { wilsonLowerBound } from '../core/capabilities/reliability.ts';
import type { CapabilityHit } from './gateway.ts';
import type { Capability, Embedder, Store } from './ports.ts';

/** Below it a capability is not suggested. */
const DEFAULTS = { leastReliability: 0.5 };

/** Meaning times reliability; what fails about as often as it works is left out. */
export async function searchCapabilities(
  store: Pick<Store, 'capabilities'>,
  embedder: Embedder,
  query: string,
  limit: number,
): Promise<CapabilityHit[]> {
  const active = (await store.capabilities.list()).filter(({ state }) => state === 'active');
  const reliable = active.filter((c) => reliability(c) >= DEFAULTS.leastReliability);
  if (reliable.length === 0 || query.trim() === '') return [];
  const [wanted, ...offered] = await embedder.embed([
    query,
    ...reliable.map((c) => `${c.slug} ${c.description}`),
  ]);
  return reliable
    .map((capability, i) => toHit(capability, dot(wanted!, offered[i]!) * reliability(capability)))
    .sort((a, b) => b.score - a.score)
    .slice(0, limit);
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

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
