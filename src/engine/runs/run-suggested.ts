import type { Plan } from '../../core/vocabulary/plan.ts';
import type { WorkflowResult } from '../gateway.ts';
import type { SuggestionLog } from '../learning/suggestion-log.ts';

export interface SuggestedRun {
  readonly plan: Plan;
  readonly intent: string | null;
  readonly runId: string;
  /** Absent: nothing was suggested. */
  readonly suggestionId?: string | undefined;
}

/** Runs a plan and notes what became of the suggestion it came from. */
export async function runSuggested(
  suggestions: SuggestionLog,
  { suggestionId, ...request }: SuggestedRun,
  run: (request: Omit<SuggestedRun, 'suggestionId'>) => Promise<WorkflowResult>,
): Promise<WorkflowResult> {
  if (suggestionId === undefined) return await run(request);
  const from = await suggestions.get(suggestionId);
  suggestions.expect(request.runId);
  const made = await run({ ...request, intent: request.intent ?? from.intentText });
  await suggestions.ran(from, request.plan, made.runId);
  return made;
}
