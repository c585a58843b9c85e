import { rankFeatures } from './rank-features.ts';
import type { Ranker } from './ranker.ts';

const DEFAULTS = {
  /** Number of newest past runs that are examined. */
  runs: 40,
  /** Examples per head: the past runs for which it contributed most. */
  examples: 2,
};

/** What one part of the model contributed to the correct candidates. */
export interface PartInsight {
  /** A feature, or `head_1`, `head_2`, … */
  readonly name: string;
  /** Mean and mean absolute contribution to the logit of a correct candidate. */
  readonly moved: number;
  readonly importance: number;
  /** The strongest, without runs whose words are private. */
  readonly examples: readonly { readonly node: string; readonly intent: string; readonly moved: number }[];
}

export interface ModelInsight {
  /** Number of runs examined. */
  readonly runs: number;
  /** The most important first. */
  readonly features: readonly PartInsight[];
  /** In their order. */
  readonly heads: readonly PartInsight[];
}

/**
 * Importance of a model's parts, by their contributions on the newest past runs: each run as if it and runs of the
 * same work had not been seen, since a run explains itself. A generator, because each run takes some milliseconds.
 */
export function* lookIntoModel({ candidates, past, model }: Ranker): Generator<void, ModelInsight> {
  const parts = new Map<
    string,
    { sum: number; absolute: number; examples: PartInsight['examples'][number][] }
  >();
  const runs = past.runs.slice(-DEFAULTS.runs);
  let count = 0;
  for (const run of runs) {
    const text = candidates.textScores(run);
    const features = rankFeatures(run, text, candidates, past, past.alike(run.key));
    const batch = { candidates, examples: [{ features, intent: run.intent }] };
    for (const place of run.uses) {
      count++;
      for (const { name, moved } of model.terms.flatMap((term) => term.explain?.(batch, place) ?? [])) {
        const part = parts.get(name) ?? { sum: 0, absolute: 0, examples: [] };
        parts.set(name, part);
        part.sum += moved;
        part.absolute += Math.abs(moved);
        if (!run.isPrivate) part.examples.push({ node: candidates.ids[place]!, intent: run.text, moved });
      }
    }
    yield;
  }
  const all = [...parts].map(
    ([name, { sum, absolute, examples }]): PartInsight => ({
      name,
      moved: sum / count,
      importance: absolute / count,
      examples: strongest(examples),
    }),
  );
  const isHead = ({ name }: PartInsight) => name.startsWith('head_');
  return {
    runs: runs.length,
    features: all.filter((part) => !isHead(part)).sort((a, b) => b.importance - a.importance),
    heads: all.filter(isHead),
  };
}

function strongest(examples: PartInsight['examples']): PartInsight['examples'] {
  return examples.toSorted((a, b) => Math.abs(b.moved) - Math.abs(a.moved)).slice(0, DEFAULTS.examples);
}
