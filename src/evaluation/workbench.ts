import type { Gold } from '../core/learning/gate/metrics.ts';
import { WasmMultiplier } from '../core/numeric/kernels.ts';
import { type Matrix, type Multiplier, matrixOf, rowOf } from '../core/numeric/matrices.ts';
import { nearestVotes, type PastUses, similarityToUsers } from '../core/retrieval/past-intents.ts';
import {
  type Bm25Index,
  createBm25,
  type SearchWeights,
  SHIPPED_WEIGHTS,
} from '../core/retrieval/text-scores.ts';
import { clauses, toolText, words } from '../core/retrieval/words.ts';
import { createSearchIndex, type SearchIndex } from '../engine/catalogue/search.ts';
import type { Embedder, VectorIndex } from '../engine/ports.ts';
import type { DataSet, Task } from './data-set.ts';

const DEFAULTS = {
  /** Texts per embedding call; progress is reported after each. */
  batch: 256,
};

/** Called with the number of embedded texts and the total. */
type Progress = (done: number, total: number) => void;

export interface EvaluationPorts {
  readonly embedder: Embedder;
  readonly emptyIndex: () => VectorIndex;
}

/** A data set with everything embedded, and the search index. */
export interface Workbench {
  readonly index: SearchIndex;
  readonly embeddings: VectorCache;
  /** [tools x dimension] */
  readonly toolVectors: Matrix;
  readonly multiplier: Multiplier;
  /** Indices of a task's tools among all tools, without repeats; unknown ones are left out. */
  placesOf(task: Task): number[];
  /** For each tool of a task, without repeats, the indices of all tools that count as it. */
  goldOf(task: Task): Gold;
  /** Indices of one tool and of those that count as it in this task. */
  acceptedFor(task: Task, tool: string): number[];
}

export async function openWorkbench(
  data: DataSet,
  measured: readonly Task[],
  ports: EvaluationPorts,
  onProgress?: Progress,
): Promise<Workbench> {
  const embeddings = new VectorCache(ports.embedder);
  const texts = data.tools.map(toolText);
  const intents = [...data.train, ...data.test].map(({ intent }) => intent.trim());
  await embeddings.learn(
    [...texts, ...intents, ...measured.flatMap(({ intent }) => clauses(intent.trim()))],
    onProgress,
  );
  const vectors = ports.emptyIndex();
  for (const [i, { id }] of data.tools.entries()) vectors.set(id, embeddings.of(texts[i]!));
  const places = new Map<string, number>(data.tools.map(({ id }, i) => [id, i]));
  const known = (ids: readonly string[]) => ids.flatMap((id) => places.get(id) ?? []);
  const acceptedFor = ({ alternatives }: Task, tool: string) => known([tool, ...(alternatives[tool] ?? [])]);
  return {
    index: createSearchIndex(data.tools, vectors),
    embeddings,
    toolVectors: matrixOf(
      texts.map((text) => embeddings.of(text)),
      embeddings.dimension,
    ),
    multiplier: new WasmMultiplier(),
    placesOf: ({ tools }) => [...new Set(known(tools))],
    goldOf: (task) => [...new Set(task.tools)].map((tool) => acceptedFor(task, tool)),
    acceptedFor,
  };
}

/** An embedder that gets its texts in advance, in batches, and then answers immediately. */
class VectorCache implements Embedder {
  readonly #embedder: Embedder;
  readonly #vectors = new Map<string, Float32Array>();

  constructor(embedder: Embedder) {
    this.#embedder = embedder;
  }

  get model(): string {
    return this.#embedder.model;
  }

  get dimension(): number {
    return this.#embedder.dimension;
  }

  async learn(texts: Iterable<string>, onProgress: Progress = () => {}): Promise<void> {
    const unknown = [...new Set(texts)].filter((text) => !this.#vectors.has(text));
    for (let first = 0; first < unknown.length; first += DEFAULTS.batch) {
      const batch = unknown.slice(first, first + DEFAULTS.batch);
      const vectors = await this.#embedder.embed(batch);
      for (const [i, text] of batch.entries()) this.#vectors.set(text, vectors[i]!);
      onProgress(first + batch.length, unknown.length);
    }
  }

  /** The vector of a text given in advance. */
  of(text: string): Float32Array {
    return this.#vectors.get(text)!;
  }

  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    await this.learn(texts);
    return texts.map((text) => this.of(text));
  }

  async close(): Promise<void> {
    await this.#embedder.close();
  }
}

/** Past runs: the intents as vectors and words, and their tools. */
export interface PastRuns {
  readonly tasks: readonly Task[];
  readonly lexical: Bm25Index;
  /** [tasks x dimension] */
  readonly vectors: Matrix;
  readonly uses: readonly (readonly number[])[];
}

export function pastRuns(bench: Workbench, tasks: readonly Task[]): PastRuns {
  return {
    tasks,
    lexical: createBm25(tasks.map(({ intent }) => words(intent))),
    vectors: intentVectors(bench, tasks),
    uses: tasks.map((task) => bench.placesOf(task)),
  };
}

/** [tasks x dimension] */
export function intentVectors({ embeddings, toolVectors }: Workbench, tasks: readonly Task[]): Matrix {
  return matrixOf(
    tasks.map(({ intent }) => embeddings.of(intent.trim())),
    toolVectors.columns,
  );
}

/** Evidence of past runs for each tool, for one query. */
export interface PastEvidence {
  /** Cosines of the query and each past intent. */
  readonly cosines: Float32Array;
  /** Votes of the nearest past intents, by embedding and by words. */
  readonly votes: Float64Array;
  readonly lexicalVotes: Float64Array;
  /** Similarity to the past intents that used the tool. */
  readonly greatest: Float64Array;
  readonly mean: Float64Array;
  /** log(1 + uses) */
  readonly popularity: Float64Array;
}

/** Evidence for every task, from the past runs that are not hidden from it. */
export function pastEvidence(
  bench: Workbench,
  past: PastRuns,
  tasks: readonly Task[],
  hides: (task: Task, pastTask: Task) => boolean,
): PastEvidence[] {
  const similarities = bench.multiplier.timesTransposed(intentVectors(bench, tasks), past.vectors);
  return tasks.map((task, i) => {
    const cosines = rowOf(similarities, i);
    const uses: PastUses = {
      size: bench.index.tools.length,
      uses: past.uses,
      isHidden: (other) => hides(task, past.tasks[other]!),
    };
    const byWords = past.lexical.scores(words(task.intent));
    const most = byWords.reduce((best, score) => Math.max(best, score), 0) || 1;
    const { greatest, mean, count } = similarityToUsers(cosines, uses);
    return {
      cosines,
      votes: nearestVotes(cosines, uses),
      lexicalVotes: nearestVotes(
        byWords.map((score) => score / most),
        uses,
      ),
      greatest,
      mean,
      popularity: count.map(Math.log1p),
    };
  });
}

// Written by scripts/fit-search.ts; do not edit.

/** For each data set that the shipped weights were fitted on, the weights fitted on the others. */
const HELD_OUT: Readonly<Record<string, SearchWeights>> = {
  livemcp: { whole: 0.35, clause: 0.4, lexical: 0.25, server: 0.1 },
  mcpbench: { whole: 0.35, clause: 0.4, lexical: 0.25, server: 0.25 },
  toole: { whole: 0.3, clause: 0.4, lexical: 0.3, server: 0.25 },
  toollink: { whole: 0.35, clause: 0.4, lexical: 0.25, server: 0.25 },
  traject: { whole: 0.35, clause: 0.4, lexical: 0.25, server: 0.25 },
  ultratool: { whole: 0.35, clause: 0.4, lexical: 0.25, server: 0.25 },
};

/** The weights for a data set, fitted without it, so that figures hold for unseen tools. */
export function weightsFor(dataset: string): SearchWeights {
  return HELD_OUT[dataset] ?? SHIPPED_WEIGHTS;
}
