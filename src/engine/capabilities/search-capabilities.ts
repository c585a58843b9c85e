import { reliabilityOf, wilsonUpperBound } from '../../core/capabilities/lifecycle.ts';
import { dot } from '../../core/numeric/matrices.ts';
import { actionsOf, relateActions } from '../../core/retrieval/intent-actions.ts';
import { identifierWords, words } from '../../core/retrieval/words.ts';
import type { Capability, Embedder } from '../ports.ts';
import { isUnlisted } from './capability-registry.ts';

const DEFAULTS = {
  /** Relevance below which nothing is returned: unrelated texts of the built-in model stay under it. */
  leastRelevance: 0.3,
  /** Share of the query's words, by rarity, from which they count by themselves, and what finding all of them is worth. */
  leastShare: 0.6,
  allWords: 0.8,
  /** Characters of a program whose names are looked at. */
  code: 8_000,
  /** What is shown to fail is left out: the upper bound of its success rate lies below. */
  failing: 0.5,
};

export interface CapabilityHit {
  readonly slug: string;
  readonly description: string;
  readonly parameters: unknown;
  readonly score: number;
  readonly successRate: number;
  readonly uses: number;
  readonly toolsUsed: readonly string[];
  readonly toolsSequence: readonly string[];
}

/**
 * Relevance times reliability, whole jobs before parts of jobs; not for the opposite of past intents. Relevant is what is near in meaning to what it says of
 * itself, to a past intent or to its tools, or what has the query's words in any of these or in its code.
 */
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
  const texts = offered.map(({ slug, description, evidence, toolsUsed }) => [
    `${slug} ${description}`,
    ...evidence.intents,
    identifierWords(toolsUsed.join(' ')),
  ]);
  const shareOf = wordShares(query, offered);
  const [[wanted], vectors] = await Promise.all([embedder.embed([query]), remembering.embed(texts.flat())]);
  let first = 0;
  return offered
    .map((capability, i) => {
      const own = vectors.slice(first, first + texts[i]!.length);
      first += own.length;
      const share = shareOf(capability);
      const byWords = share >= DEFAULTS.leastShare ? share * DEFAULTS.allWords : 0;
      return { capability, relevance: Math.max(byWords, ...own.map((vector) => dot(wanted!, vector))) };
    })
    .filter(({ relevance }) => relevance >= DEFAULTS.leastRelevance)
    .map(({ capability, relevance }) => ({
      hit: toHit(capability, relevance * reliabilityOf(capability)),
      isPart: isUnlisted(capability),
    }))
    .sort((a, b) => Number(a.isPart) - Number(b.isPart) || b.hit.score - a.hit.score)
    .map(({ hit }) => hit)
    .slice(0, limit);
}

/** How much of a query a capability's words have, in [0, 1]: words that few capabilities have count more. */
function wordShares(query: string, offered: readonly Capability[]): (capability: Capability) => number {
  const asked = new Map([...new Set(words(query))].map((word) => [word, 0]));
  for (const word of asked.keys()) {
    const having = offered.filter((capability) => wordsIn(capability).has(word)).length;
    asked.set(word, Math.log(1 + offered.length / (1 + having)));
  }
  const all = [...asked.values()].reduce((sum, weight) => sum + weight, 0);
  return (capability) => {
    const own = wordsIn(capability);
    let found = 0;
    for (const [word, weight] of asked) if (own.has(word)) found += weight;
    return all === 0 ? 0 : found / all;
  };
}

const knownWords = new WeakMap<Capability, ReadonlySet<string>>();

function wordsIn(capability: Capability): ReadonlySet<string> {
  const known = knownWords.get(capability);
  if (known) return known;
  const { slug, aliases, description, evidence, toolsUsed, code } = capability;
  const all = [
    slug,
    ...aliases,
    description,
    ...evidence.intents,
    ...toolsUsed,
    code.slice(0, DEFAULTS.code),
  ];
  const found = new Set(words(all.join(' ')));
  knownWords.set(capability, found);
  return found;
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
