import type { CandidateEntry } from '../../src/core/learning/ranker/candidates.ts';
import type { LearnableRun } from '../../src/core/learning/ranker/learn-ranker.ts';
import { normalise } from '../../src/core/numeric/matrices.ts';
import { createRandom } from '../../src/core/numeric/random.ts';

const DEFAULTS = {
  dimension: 384,
  kinds: 150,
  /** Candidates per kind of work, and clauses per intent: one for each candidate. */
  steps: 6,
  servers: 40,
  /** Number of words in the vocabulary, in the text of a tool, and in each clause of an intent. */
  vocabulary: 3_000,
  toolWords: 30,
  clauseWords: 8,
  /** Distance of a clause from its candidate: cosine 1 / sqrt(1 + noise^2). */
  noise: 1,
};

export interface MadeUpWork {
  readonly dimension: number;
  readonly tools: readonly CandidateEntry[];
  readonly capabilities: readonly CandidateEntry[];
  /** The next run, of the next kind of work. */
  run(): LearnableRun;
  runs(count: number): LearnableRun[];
}

/**
 * Made-up tools, capabilities and runs, deterministic for a seed. Each kind of work uses six candidates, and an intent
 * has a clause near each of the six, so that every past run is remembered by six prototypes: the most that six clauses
 * can give. Some words are common and most are rare, as in any text.
 */
export function madeUpWork({
  tools,
  capabilities,
  seed = 1,
}: {
  readonly tools: number;
  readonly capabilities: number;
  readonly seed?: number;
}): MadeUpWork {
  const { dimension, kinds, steps, servers, vocabulary, noise } = DEFAULTS;
  const random = createRandom(seed);
  const unit = () => normalise(Float32Array.from({ length: dimension }, () => random.next() - 0.5));
  const near = (vector: Float32Array) => {
    const other = unit();
    return normalise(vector.map((value, i) => value + noise * other[i]!));
  };
  // Squared, so that low indices are more frequent.
  const word = () => `word${Math.floor(random.next() ** 2 * vocabulary)}`;
  const words = (count: number) => Array.from({ length: count }, word);
  const entry = (id: string, server: string, name: string): CandidateEntry & { vector: Float32Array } => {
    return { id, server, name, words: words(DEFAULTS.toolWords), vector: unit() };
  };
  const toolEntries = Array.from({ length: tools }, (_, i) => {
    const [server, name] = [`server${i % servers}`, `${word()}_${word()}_${i}`];
    return entry(`${server}:${name}`, server, name);
  });
  const capabilityEntries = Array.from({ length: capabilities }, (_, i) =>
    entry(`capability:${i}`, '', `${word()}-${word()}-${i}`),
  );
  const all = [...toolEntries, ...capabilityEntries];
  const work = Array.from({ length: kinds }, () => random.shuffle([...all]).slice(0, steps));
  let made = 0;
  const run = (): LearnableRun => {
    const nth = made++;
    const used = work[nth % kinds]!;
    const clauses = used.map(({ vector }) => near(vector));
    const said = used.flatMap((each) => [
      ...Array.from({ length: 2 }, () => each.words[random.int(each.words.length)]!),
      ...words(DEFAULTS.clauseWords - 2),
    ]);
    const sum = new Float32Array(dimension);
    for (const clause of clauses) for (let i = 0; i < dimension; i++) sum[i]! += clause[i]!;
    return {
      text: said.join(' '),
      intent: normalise(sum),
      clauses,
      words: said,
      uses: used.map(({ id }) => id),
      succeeded: random.next() < 0.9,
      key: `${nth}`,
    };
  };
  return {
    dimension,
    tools: toolEntries,
    capabilities: capabilityEntries,
    run,
    runs: (count) => Array.from({ length: count }, run),
  };
}
