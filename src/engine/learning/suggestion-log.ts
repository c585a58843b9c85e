import { intentForms } from '../../core/learning/ranker/candidates.ts';
import { comparePlans, type PlanChanges, whatRuns } from '../../core/planning/plan/compare-plans.ts';
import { withUsedTasks } from '../../core/planning/plan/validate-plan.ts';
import { createFoundSecrets } from '../../core/tracing/found-secrets.ts';
import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import { kindOf } from '../../core/vocabulary/ids.ts';
import type { Plan } from '../../core/vocabulary/plan.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Caller } from '../caller.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { StoredSuggestion, SuggestionOutcome } from '../ports.ts';
import type { TaskResult } from '../workflow/task-state.ts';
import { keyOf } from './learnable-run.ts';

/** Of those that something was taken out of, how many are looked back on: the newest. */
export const DOUBTED = 500;

const DEFAULTS = {
  /** Open suggestions of a session that a run of its own may settle. */
  open: 20,
};

/** Tools that were taken out of what was suggested for an intent. */
export interface TakenOut {
  readonly intent: Float32Array;
  readonly tools: readonly string[];
}

/** What was suggested and what became of it: what people take out is suggested less. */
export interface SuggestionLog {
  /** Answers its id; null for a plan of nothing. */
  keep(intent: string, plan: Plan, confidence: number, caller?: Caller): Promise<string | null>;
  get(id: string): Promise<StoredSuggestion>;
  /** A run that names its suggestion begins: it says nothing of others. */
  expect(runId: string): void;
  /** A run was started from it, with this plan. */
  ran(suggestion: StoredSuggestion, plan: Plan, runId: string): Promise<void>;
  /** By a person, or the agent that asked for it; false when it is settled already. */
  reject(id: string): Promise<boolean>;
  /** A run that named no suggestion, of the session and intent of one that is open, shows what became of it. */
  see(trace: ExecutionTrace): Promise<void>;
  takenOut(): readonly TakenOut[];
  /** What earlier lives of the gateway knew of it. */
  recall(): Promise<void>;
}

export function createSuggestionLog({ store, embedder, clock, crypto, redact }: FlowPorts): SuggestionLog {
  let takenOut: readonly TakenOut[] = [];
  /** Runs that name the suggestion they come from. */
  const expected = new Set<string>();
  let recalling: Promise<void> | null = null;

  async function remember(intentText: string, tools: readonly string[]): Promise<void> {
    const known = tools.filter((name) => !isCapability(name));
    if (known.length === 0) return;
    const { intent } = await intentForms(embedder, intentText);
    takenOut = [...takenOut, { intent, tools: known }].slice(-DOUBTED);
  }

  async function settle(
    { id, intentText }: StoredSuggestion,
    verdict: SuggestionOutcome['verdict'],
    changes: PlanChanges,
    runId: string | null,
  ): Promise<boolean> {
    const isFirst = await store.suggestions.settle(id, { verdict, runId, ...changes, at: clock.now() });
    if (isFirst) await remember(intentText, changes.left);
    return isFirst;
  }

  async function known(id: string): Promise<StoredSuggestion> {
    const found = await store.suggestions.get(id);
    if (found) return found;
    throw new PmlError('not_found', `Suggestion ${id} not found`, {
      hint: 'Omit it, or request a new suggestion with pml_suggest.',
    });
  }

  return {
    async keep(intent, plan, confidence, caller) {
      if (plan.tasks.length === 0) return null;
      const id = crypto.randomUuid();
      const found = createFoundSecrets();
      redact(intent, found);
      const kept = redact(plan, found) as Plan;
      await store.suggestions.put({
        id,
        sessionId: caller?.sessionId ?? null,
        intentText: String(redact(intent, found)),
        plan: kept,
        confidence,
        createdAt: clock.now(),
        outcome: null,
      });
      return id;
    },
    get: known,
    async ran(suggestion, plan, runId) {
      const changes = comparePlans(withUsedTasks(suggestion.plan), withUsedTasks(plan));
      const isSame = Object.values(changes).every(({ length }) => length === 0);
      await settle(suggestion, isSame ? 'accepted' : 'edited', changes, runId);
    },
    async reject(id) {
      const suggestion = await known(id);
      return await settle(suggestion, 'rejected', { left: toolsOf(suggestion), came: [], moved: [] }, null);
    },
    expect(runId) {
      expected.add(runId);
    },
    async see({ sessionId, origin, intentText, runId, executedPath, taskResults, success }) {
      if (sessionId === null || intentText === null || !success || expected.delete(runId)) return;
      // What PML chose itself nobody accepted.
      if (origin !== 'agent') return;
      // A workflow that waited for a person did the rest of its work in earlier traces.
      const done = (taskResults as readonly Partial<TaskResult>[]).flatMap(({ node, status }) =>
        node !== undefined && status === 'success' ? [node] : [],
      );
      const used = [...new Set([...executedPath, ...done].filter((node) => kindOf(node) === 'tool'))];
      if (used.length === 0) return;
      const isSameWork = (open: StoredSuggestion) =>
        keyOf(open.intentText.trim()) === keyOf(intentText.trim());
      const open = (await store.suggestions.open(sessionId, DEFAULTS.open)).find(isSameWork);
      if (open) {
        const tools = toolsOf(open);
        // Of what a capability calls the text of the plan does not tell.
        if (tools.some(isCapability)) return;
        const left = tools.filter((tool) => !used.includes(tool as never));
        const came = used.filter((tool) => !tools.includes(tool));
        const isSame = left.length === 0 && came.length === 0;
        await settle(open, isSame ? 'accepted' : 'rejected', { left, came, moved: [] }, runId);
      }
    },
    takenOut: () => takenOut,
    recall() {
      recalling ??= (async () => {
        for (const { intentText, outcome } of (await store.suggestions.doubted(DOUBTED)).reverse())
          await remember(intentText, outcome?.left ?? []);
      })();
      return recalling;
    },
  };
}

function isCapability(name: string): boolean {
  return name.startsWith('capabilities.');
}

function toolsOf({ plan }: StoredSuggestion): string[] {
  return [...new Set(plan.tasks.map(whatRuns))].filter((name) => !name.startsWith('code:'));
}
