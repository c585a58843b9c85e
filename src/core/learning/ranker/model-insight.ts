import { rankFeatures } from './rank-features.ts';
import type { Ranker } from './ranker.ts';

const DEFAULTS = {
  /** Past runs that are looked at, the newest. */
  runs: 40,
  /** Past runs that are named for a head, those it moved most for. */
  examples: 2,
};

/** What one part of the model did for the candidates that were right. */
export interface PartInsight {
  /** A feature, or `head_1` and on. */
  readonly name: string;
  /** Mean and mean absolute change of the logit of a right candidate. */
  readonly moved: number;
  readonly importance: number;
  /** The strongest, without those whose words are private. */
  readonly examples: readonly { readonly node: string; readonly intent: string; readonly moved: number }[];
}

export interface ModelInsight {
  /** Runs it was looked at on. */
  readonly runs: number;
  /** The most important first. */
  readonly features: readonly PartInsight[];
  /** In their order. */
  readonly heads: readonly PartInsight[];
}

/**
 * What a model looks at, by what its parts did for the newest past runs: each as if it and its like had not
 * been seen, since a run says everything of itself. A generator, for it takes some milliseconds for each run.
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
