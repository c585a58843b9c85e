import { argumentProblems } from '../../core/planning/plan/validate-plan.ts';
import type { StaticStructure, StructureNode } from '../../core/structure/emit/static-structure.ts';
import { type ErrorShape, PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Caller } from '../caller.ts';
import type { RunGrants } from '../calls/approvals.ts';
import { askPerson, exactCall } from '../calls/ask-person.ts';
import { judge, notAllowed, rejected, waitFor } from '../calls/call-tool.ts';
import type { CatalogueEntry } from '../catalogue/catalogue.ts';
import type { Approval, CodeError, JsonObject } from '../ports.ts';
import type { RunScope } from '../runs/run-scope.ts';

type CallNode = Extract<StructureNode, { type: 'task' | 'capability' }>;

/** A tool of PML itself, which is in no catalogue. */
export const READ_RESULT = 'pml:read_result';

interface Problem {
  readonly node: CallNode;
  readonly code: 'not_found' | 'invalid_argument';
  readonly text: string;
}

/**
 * What is wrong with a program can often be told before it calls anything: unknown tools and
 * capabilities, arguments that are missing or of the wrong type. Null when nothing is.
 */
export async function checkProgram(scope: RunScope, structure: StaticStructure): Promise<CodeError | null> {
  const calls = structure.nodes.filter(isCall);
  const problems = (await Promise.all(calls.map((node) => checkCall(scope, node)))).flat();
  const [first] = problems;
  if (!first) return null;
  const lines = problems.map(({ node, text }) => `line ${node.at.line}: ${text}`);
  return {
    code: problems.every(({ code }) => code === 'not_found') ? 'not_found' : 'invalid_argument',
    message: `Nothing was called, because of ${lines.join('; ')}`,
    hint: 'Look up tools and their arguments with pml_search_tools (in a terminal: pml search --signatures).',
    ...first.node.at,
  };
}

async function checkCall(scope: RunScope, node: CallNode): Promise<Problem[]> {
  if (node.type === 'task' && node.tool === READ_RESULT) return [];
  try {
    const schema =
      node.type === 'task'
        ? (await scope.findTool({ tool: node.tool, arguments: {} })).tool.inputSchema
        : scope.capabilities.known(node.slug).parametersSchema;
    const name = node.type === 'task' ? node.tool : `capabilities.${node.slug}`;
    return argumentProblems(schema, node.arguments.bindings, node.arguments.isComplete).map((text) => ({
      node,
      code: 'invalid_argument',
      text: `${name} ${text}`,
    }));
  } catch (thrown) {
    const { code, message, hint } = PmlError.from(thrown);
    // A server that cannot be reached now is told of by the call itself.
    if (code !== 'not_found' && code !== 'invalid_id') return [];
    return [{ node, code: 'not_found', text: hint === undefined ? message : `${message} (${hint})` }];
  }
}

function isCall(node: StructureNode): node is CallNode {
  return node.type === 'task' || node.type === 'capability';
}

type Preview =
  | { readonly kind: 'go' }
  | { readonly kind: 'refused'; readonly error: ErrorShape }
  | { readonly kind: 'waiting'; readonly approval: Approval };

type TaskNode = Extract<StructureNode, { type: 'task' }>;

/** What the policy will refuse, or a person will be asked, is settled before anything runs, where it can be seen. */
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

/** Null when a run has to tell what the arguments are. */
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
