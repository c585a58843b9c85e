import type { Plan } from '../../core/vocabulary/plan.ts';
import { printable } from '../../core/vocabulary/text.ts';
import type { WorkflowResult } from '../../engine/gateway.ts';
import { workflowToWire } from '../../engine/gateway-wire.ts';
import type { CommandContext } from './command.ts';
import { tellApproval, tellError, tellValue } from './tell-run.ts';

interface ToldState {
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** Tells what a workflow gave: values on stdout, all else on stderr. Anything but success fails the command. */
export function tellWorkflow(
  { terminal, fail }: CommandContext,
  result: WorkflowResult,
  options: { readonly json?: boolean },
  /** Only what no other task takes up is told; all of it where the plan is not known. */
  plan: Plan | null = null,
): void {
  const { status, runId, approvals, error, next } = result;
  if (status !== 'success') fail();
  if (options.json) {
    terminal.out(`${JSON.stringify(workflowToWire(result))}\n`);
    return;
  }
  const results = result.results as Readonly<Record<string, ToldState>>;
  if (error) tellError(terminal, error, null);
  else if (status === 'error') {
    for (const [id, state] of Object.entries(results))
      if (state.error) terminal.err(`pml: ${printable(`${id}: ${state.error.message}`)}\n`);
  }
  if (status === 'approval_required') {
    tellApproval(
      terminal,
      runId,
      approvals.filter(({ state }) => state === 'pending'),
    );
  }
  if (next) {
    terminal.err(`A layer is done; next: ${printable(next.join(', '))}.\n`);
    terminal.err(`Go on with "pml runs resume ${runId}", or give it up with "pml runs abort ${runId}".\n`);
  }
  if (status !== 'success') return;
  const used = new Set(plan?.tasks.flatMap(({ dependsOn }) => dependsOn));
  const last = Object.entries(results).filter(([id, state]) => !used.has(id) && state.result !== undefined);
  const values = last.map(([id, state]) => [id, state.result]);
  tellValue(terminal, values.length === 1 ? last[0]?.[1].result : Object.fromEntries(values));
}
