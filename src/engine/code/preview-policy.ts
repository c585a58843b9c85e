import type { StaticStructure, StructureNode } from '../../core/structure/emit/static-structure.ts';
import type { ErrorShape } from '../../core/vocabulary/pml-error.ts';
import type { Caller } from '../caller.ts';
import type { RunGrants } from '../calls/approvals.ts';
import { askPerson, exactCall } from '../calls/ask-person.ts';
import { judge, notAllowed, rejected, waitFor } from '../calls/call-tool.ts';
import type { CatalogueEntry } from '../catalogue/catalogue.ts';
import type { Approval, JsonObject } from '../ports.ts';
import type { RunScope } from '../runs/run-scope.ts';

type Preview =
  | { readonly kind: 'go' }
  | { readonly kind: 'refused'; readonly error: ErrorShape }
  | { readonly kind: 'waiting'; readonly approval: Approval };

type TaskNode = Extract<StructureNode, { type: 'task' }>;

/** Finds what the policy refuses or a person must approve before anything runs, as far as the code shows it. */
export async function previewPolicy(
  scope: RunScope,
  { nodes }: StaticStructure,
  run: {
    readonly runId: string;
    readonly grants: RunGrants;
    readonly timeoutMs?: number | undefined;
    readonly work?: (() => string) | undefined;
  },
  caller: Caller,
): Promise<Preview> {
  const asks: { entry: CatalogueEntry; args: JsonObject; reason: string }[] = [];
  for (const node of nodes) {
    const entry = node.type === 'task' ? await find(scope, node) : null;
    if (node.type !== 'task' || !entry) continue;
    const verdict = judge(scope.settings, entry);
    if (verdict.action === 'deny') return { kind: 'refused', error: notAllowed(entry.tool, verdict) };
    const args = verdict.action === 'ask' ? literalArguments(node) : null;
    const isGranted = args && run.grants.has(exactCall(scope.ports, entry.proposed ?? entry.tool, args));
    if (args && !isGranted) asks.push({ entry, args, reason: verdict.reason });
  }
  const answers = await Promise.all(
    asks.map(async ({ entry, args, reason }) => {
      const tool = entry.proposed ?? entry.tool;
      const question = {
        runId: run.runId,
        tool,
        ...(entry.proposed && { accepted: entry.tool }),
        arguments: args,
        reason,
        waitMs: waitFor(scope.settings, run.timeoutMs),
        mayClientDecide: scope.settings.permissions.clientsDecide,
        ...(run.work && { work: run.work() }),
      };
      return { tool, args, answer: await askPerson(scope.ports, scope.approvals, question, caller) };
    }),
  );
  for (const { tool, args, answer } of answers) {
    if (answer.kind === 'approved') run.grants.add(exactCall(scope.ports, tool, args));
  }
  for (const { tool, answer } of answers) {
    if (answer.kind === 'rejected') return { kind: 'refused', error: rejected(tool) };
    if (answer.kind === 'open') return { kind: 'waiting', approval: answer.approval };
  }
  return { kind: 'go' };
}

/** Null if the arguments are known only at run time. */
function literalArguments({ arguments: { bindings, isComplete } }: TaskNode): JsonObject | null {
  if (!isComplete) return null;
  const entries = Object.entries(bindings);
  if (!entries.every(([, binding]) => binding.kind === 'literal')) return null;
  return Object.fromEntries(
    entries.map(([name, binding]) => [name, binding.kind === 'literal' && binding.value]),
  );
}

async function find(scope: RunScope, node: TaskNode): Promise<CatalogueEntry | null> {
  return await scope.findTool({ tool: node.tool, arguments: {} }).catch(() => null);
}
