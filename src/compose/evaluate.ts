import { availableParallelism } from 'node:os';
import { createEmbedder } from '../adapters/embedding/create-embedder.ts';
import { ParallelEmbedder, StoredEmbedder } from '../adapters/embedding/stored-embedder.ts';
import { WasmVectorIndex } from '../adapters/embedding/wasm-vector-index.ts';
import type { EvaluationReport } from '../core/vocabulary/evaluation-report.ts';
import type { EmbeddingSettings } from '../engine/ports.ts';
import { findDataSets, readDataSet } from '../evaluation/data-set.ts';
import { evaluate } from '../evaluation/evaluate.ts';
import type { EvaluateOptions, System } from '../surfaces/cli/system.ts';

const DEFAULTS = {
  /** Threads that embed at the most: each holds a copy of the model. */
  threads: 4,
};

/** Measures one data set after the other; vectors are kept in a folder for the next time. */
export async function evaluateDataSets(
  options: EvaluateOptions,
  embedding: EmbeddingSettings,
  vectors: string,
  onProgress: Parameters<System['evaluate']>[1],
): Promise<EvaluationReport[]> {
  const { split, tasks, protocol, seed, curve = false, draws, distractors, train, test } = options;
  const folders = await findDataSets(options.data);
  const files = {
    ...(distractors !== undefined && { distractors }),
    ...(train !== undefined && { trainFile: train }),
    ...(test !== undefined && { testFile: test }),
  };
  const embedder = new StoredEmbedder(manyOf(embedding), vectors);
  const emptyIndex = () => new WasmVectorIndex(embedder.dimension);
  try {
    const reports: EvaluationReport[] = [];
    for (const folder of folders) {
      const data = await readDataSet(folder, { split, tasks, ...files });
      reports.push(
        await evaluate(
          data,
          { protocol, seed, draws: curve ? draws : 0, onProgress },
          { embedder, emptyIndex },
        ),
      );
    }
    return reports;
  } finally {
    await embedder.close();
  }
}

/** The built-in model runs on as many cores as there are; the others see to that themselves. */
function manyOf(settings: EmbeddingSettings): ParallelEmbedder {
  const others = settings.kind === 'minilm' ? Math.min(DEFAULTS.threads, availableParallelism()) - 1 : 0;
  return new ParallelEmbedder(
    createEmbedder(settings),
    ...Array.from({ length: others }, () => createEmbedder(settings)),
  );
}
