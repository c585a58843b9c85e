import type { CandidateEntry } from '../../core/learning/ranker/candidates.ts';
import { toolWords, words } from '../../core/retrieval/words.ts';
import { capabilityNode } from '../../core/vocabulary/ids.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Capability, Embedder } from '../ports.ts';

/** The tools of the catalogue, as the ranker compares them. */
export function toolEntries({ tools, vectors }: Catalogue): CandidateEntry[] {
  return tools.map((tool) => ({
    id: tool.id,
    server: tool.server,
    name: tool.name,
    description: tool.description,
    words: toolWords(tool),
    vector: vectors.get(tool.id) ?? null,
  }));
}

/** The capabilities that can be called. */
export async function capabilityEntries(
  capabilities: readonly Capability[],
  embedder: Pick<Embedder, 'embed'>,
): Promise<CandidateEntry[]> {
  const active = capabilities.filter(({ state }) => state === 'active');
  const texts = active.map(({ slug, description }) => `${slug} ${description}`);
  const vectors = await embedder.embed(texts);
  return active.map(({ id, slug }, i) => ({
    id: capabilityNode(id),
    server: '',
    name: slug,
    words: [...words(slug), ...words(texts[i]!)],
    vector: vectors[i]!,
  }));
}
