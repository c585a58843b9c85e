import type { Gold } from '../core/learning/gate/metrics.ts';
import { type Matrix, type Multiplier, matrixOf } from '../core/numeric/matrices.ts';
import { WasmMultiplier } from '../core/numeric/wasm-multiplier.ts';
import { clauses } from '../core/retrieval/clauses.ts';
import { toolText } from '../core/retrieval/tool-text.ts';
import { createSearchIndex, type SearchIndex } from '../engine/catalogue/search-index.ts';
import type { Embedder, VectorIndex } from '../engine/ports.ts';
import type { DataSet, Task } from './data-set.ts';
import { type Progress, VectorBook } from './vector-book.ts';

export interface EvaluationPorts {
  readonly embedder: Embedder;
  readonly emptyIndex: () => VectorIndex;
}

/** A data set with everything embedded, and the index that search looks into. */
export interface Workbench {
  readonly index: SearchIndex;
  readonly book: VectorBook;
  /** [tools x dimension] */
  readonly toolVectors: Matrix;
  readonly multiplier: Multiplier;
  /** The places of a task's tools among all tools, without repeats; unknown ones are left out. */
  placesOf(task: Task): number[];
  /** For each tool of a task, without repeats, the places of all that count as it. */
  goldOf(task: Task): Gold;
  /** The place of one tool and of those that count as it in this task. */
  acceptedFor(task: Task, tool: string): number[];
}

export async function openWorkbench(
  data: DataSet,
  measured: readonly Task[],
  ports: EvaluationPorts,
  onProgress?: Progress,
): Promise<Workbench> {
  const book = new VectorBook(ports.embedder);
  const texts = data.tools.map(toolText);
  const intents = [...data.train, ...data.test].map(({ intent }) => intent.trim());
  await book.learn(
    [...texts, ...intents, ...measured.flatMap(({ intent }) => clauses(intent.trim()))],
    onProgress,
  );
  const vectors = ports.emptyIndex();
  for (const [i, { id }] of data.tools.entries()) vectors.set(id, book.of(texts[i]!));
  const places = new Map<string, number>(data.tools.map(({ id }, i) => [id, i]));
  const known = (ids: readonly string[]) => ids.flatMap((id) => places.get(id) ?? []);
  const acceptedFor = ({ alternatives }: Task, tool: string) => known([tool, ...(alternatives[tool] ?? [])]);
  return {
    index: createSearchIndex(data.tools, vectors),
    book,
    toolVectors: matrixOf(
      texts.map((text) => book.of(text)),
      book.dimension,
    ),
    multiplier: new WasmMultiplier(),
    placesOf: ({ tools }) => [...new Set(known(tools))],
    goldOf: (task) => [...new Set(task.tools)].map((tool) => acceptedFor(task, tool)),
    acceptedFor,
  };
}
