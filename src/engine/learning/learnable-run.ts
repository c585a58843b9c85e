import type { LearnableRun } from '../../core/learning/ranker/learn-ranker.ts';
import { clauses, words } from '../../core/retrieval/words.ts';
import { type ExecutionTrace, isEvidence } from '../../core/vocabulary/execution-trace.ts';
import { kindOf } from '../../core/vocabulary/ids.ts';
import type { Embedder, RecalledRun } from '../ports.ts';

type Past = Pick<
  ExecutionTrace,
  'runId' | 'origin' | 'executedPath' | 'toolInvocations' | 'success' | 'visibility'
>;

/** An intent in all the forms that are compared. */
export async function intentForms(embedder: Embedder, intent: string) {
  const text = intent.trim();
  const parts = clauses(text);
  const [whole, ...rest] = await embedder.embed(parts.length > 1 ? [text, ...parts] : [text]);
  return { text, intent: whole!, clauses: rest.length > 0 ? rest : [whole!], words: words(text) };
}

/** What a stored run teaches; null where there is nothing to learn, or its vectors are not made yet. */
export function learnableRun(run: RecalledRun): LearnableRun | null {
  const uses = usesOf(run);
  if (!run.intent || !run.clauses || uses.length === 0 || !isEvidence(run)) return null;
  const text = run.intentText.trim();
  return {
    text,
    intent: run.intent,
    clauses: run.clauses.length > 0 ? run.clauses : [run.intent],
    words: words(text),
    uses,
    succeeded: run.success,
    key: keyOf(text),
    runId: run.runId,
    isPrivate: run.visibility === 'private',
  };
}

/** The same of a run that just ended. */
export function learnableTrace(
  forms: Awaited<ReturnType<typeof intentForms>>,
  trace: Past,
): LearnableRun | null {
  const uses = usesOf(trace);
  if (uses.length === 0 || !isEvidence(trace)) return null;
  const isPrivate = trace.visibility === 'private';
  const { success: succeeded, runId } = trace;
  return { ...forms, uses, succeeded, key: keyOf(forms.text), runId, isPrivate };
}

/** In other spacing or case it is the same work. */
export function keyOf(text: string): string {
  return text.toLowerCase().replace(/\s+/g, ' ');
}

/** Tools and capabilities in order of use, without those that never worked; all where none did. */
function usesOf({ executedPath, toolInvocations }: Past): string[] {
  const worked = new Set(toolInvocations.filter(({ success }) => success).map(({ tool }) => tool));
  const called = new Set(toolInvocations.map(({ tool }) => tool));
  const nodes = executedPath.filter((node) => kindOf(node) !== 'operation');
  const good = nodes.filter((node) => !called.has(node) || worked.has(node));
  return good.length > 0 ? good : nodes;
}
