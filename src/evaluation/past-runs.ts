import { type Matrix, matrixOf, rowOf } from '../core/numeric/matrices.ts';
import { nearestVotes, type PastUses, similarityToUsers } from '../core/retrieval/past-intents.ts';
import { type Bm25Index, createBm25 } from '../core/retrieval/text-scores.ts';
import { words } from '../core/retrieval/words.ts';
import type { Task } from './data-set.ts';
import type { Workbench } from './workbench.ts';

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
