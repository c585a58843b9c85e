import type { IntentForms } from '../../core/learning/ranker/candidates.ts';
import type { LearnableRun } from '../../core/learning/ranker/learn-ranker.ts';
import { words } from '../../core/retrieval/words.ts';
import { type ExecutionTrace, isEvidence, wasGood } from '../../core/vocabulary/execution-trace.ts';
import { kindOf } from '../../core/vocabulary/ids.ts';
import type { RecalledRun } from '../ports.ts';

type Past = Pick<
  ExecutionTrace,
  | 'runId'
  | 'origin'
  | 'executedPath'
  | 'toolInvocations'
  | 'success'
  | 'visibility'
  | 'capabilityId'
  | 'guest'
  | 'verdict'
>;

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
    succeeded: wasGood(run),
    ...verdictOf(run),
    key: keyOf(text),
    runId: run.runId,
    isPrivate: run.visibility === 'private',
    ...(isSingleCall(run) && { isSingle: true }),
  };
}

/** The same of a run that just ended. */
export function learnableTrace(forms: IntentForms, trace: Past): LearnableRun | null {
  const uses = usesOf(trace);
  if (uses.length === 0 || !isEvidence(trace)) return null;
  const isPrivate = trace.visibility === 'private';
  const { runId } = trace;
  const single = isSingleCall(trace) && { isSingle: true };
  const outcome = { succeeded: wasGood(trace), ...verdictOf(trace) };
  return { ...forms, uses, ...outcome, key: keyOf(forms.text), runId, isPrivate, ...single };
}

function verdictOf({ verdict }: Pick<Past, 'verdict'>): Pick<LearnableRun, 'verdict'> {
  return verdict ? { verdict: verdict.good ? 'good' : 'bad' } : {};
}

/** Made by itself, it says nothing of what comes after it, nor that nothing does. */
function isSingleCall({ capabilityId, guest, executedPath }: Past): boolean {
  return capabilityId === null && guest === null && executedPath.length === 1;
}

/** A step of a job, together with those before it: one run that used all of it, under the id of the first. */
export function learnableJob(forms: IntentForms, job: readonly ExecutionTrace[]): LearnableRun | null {
  const runs = job.flatMap((step) => learnableTrace(forms, step) ?? []);
  return joinedRun(runs, job[0]?.runId);
}

/** What steps of a job teach, as one run; null without any. */
export function joinedRun(steps: readonly LearnableRun[], runId: string | undefined): LearnableRun | null {
  const last = steps.at(-1);
  if (!last) return null;
  // A call that failed and was mended belongs to how the job was found, not to the job.
  const good = steps.filter(({ succeeded }) => succeeded);
  const uses = (good.length > 0 ? good : steps).flatMap((step) => step.uses);
  const isSingle = steps.length === 1 && last.isSingle === true;
  return { ...last, uses, isJob: true, isSingle, ...(runId !== undefined && { runId }) };
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
