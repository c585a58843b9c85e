import type { NextStep, SearchHit } from '../gateway.ts';
import type { Embedder } from '../ports.ts';
import { intentForms } from './learnable-run.ts';
import type { NextMemory } from './next-memory.ts';

export interface NextParts {
  readonly embedder: Embedder;
  readonly next: Pick<NextMemory, 'predict'>;
  /** What serves where past runs have nothing to say. */
  readonly search: (intent: string) => Promise<readonly SearchHit[]>;
}

/** What past runs say comes next, or else what fits the intent and was not done yet. */
export async function predictNext(
  { embedder, next, search }: NextParts,
  intent: string,
  executed: readonly string[],
): Promise<NextStep[]> {
  const learned = intent.trim() === '' ? null : next.predict(await intentForms(embedder, intent), executed);
  if (learned) return learned;
  const hits = await search(intent);
  return hits
    .filter(({ tool }) => !executed.includes(tool.id))
    .map(({ tool, finalScore }) => ({ node: tool.id, score: finalScore, reason: 'fits the intent' }));
}
