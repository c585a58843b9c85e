import type { TaskTarget } from '../../core/planning/plan/validate-plan.ts';
import { callsNothing, type StaticStructure } from '../../core/structure/emit/static-structure.ts';
import { namedTask } from '../../core/structure/evaluate/call-operation.ts';
import { CODE_TASK, capabilityNode, type NodeId, toolId } from '../../core/vocabulary/ids.ts';
import type { Task } from '../../core/vocabulary/plan.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { mayBeCalledTwice } from '../../core/vocabulary/tool-definition.ts';
import { judge, notAllowed } from '../calls/call-tool.ts';
import { checkProgram } from '../code/check-program.ts';
import type { RunScope } from '../runs/run-scope.ts';

/** What a task runs, as far as it can be known beforehand. */
export interface Target extends TaskTarget {
  readonly node: NodeId;
  /** A tool that says it only reads, or code that calls nothing. */
  readonly changesNothing: boolean;
  /** Such a tool about which nobody has to be asked. */
  readonly mayRunAhead: boolean;
}

const NOT_AHEAD = { changesNothing: false, mayRunAhead: false };

const ANYTHING = { type: 'object' };
/** Stands for what does not exist. */
const NOWHERE = toolId('unknown', 'unknown');

export async function targetOf(scope: RunScope, task: Task): Promise<Target> {
  try {
    if (task.tool !== undefined) return await toolTarget(scope, task.tool);
    if (task.capability !== undefined) return await capabilityTarget(scope, task.capability);
    return await codeTarget(scope, task.code, task.name);
  } catch (thrown) {
    const { code, message, hint } = PmlError.from(thrown);
    // A server that cannot be reached now is told of by the call itself.
    const problems =
      code === 'not_found' || code === 'invalid_id' || code === 'invalid_argument'
        ? [`cannot run: ${message}${hint === undefined ? '' : ` (${hint})`}`]
        : [];
    const name = task.tool ?? task.capability ?? 'code';
    return { node: NOWHERE, name, schema: ANYTHING, isRepeatable: false, ...NOT_AHEAD, problems };
  }
}

async function toolTarget(scope: RunScope, name: string): Promise<Target> {
  const entry = await scope.findTool({ tool: name, arguments: {} });
  const { tool } = entry;
  const verdict = judge(scope.settings, entry);
  const changesNothing = tool.annotations?.readOnlyHint === true;
  return {
    node: tool.id,
    name: tool.id,
    schema: tool.inputSchema,
    isRepeatable: mayBeCalledTwice(tool),
    changesNothing,
    mayRunAhead: changesNothing && verdict.action === 'allow',
    problems: verdict.action === 'deny' ? [`cannot run: ${notAllowed(tool, verdict).message}`] : [],
  };
}

async function capabilityTarget(scope: RunScope, slug: string): Promise<Target> {
  const { id, code, state, parametersSchema } = scope.capabilities.known(slug);
  const prepared = scope.programs.prepare(code);
  return {
    node: capabilityNode(id),
    name: slug,
    schema: parametersSchema,
    isRepeatable: prepared.ok && (await isRepeatable(scope, prepared.value.structure)),
    ...NOT_AHEAD,
    problems: state === 'quarantined' ? [`cannot run: ${slug} is quarantined`] : [],
  };
}

async function codeTarget(scope: RunScope, code: string, name: string | undefined): Promise<Target> {
  const node = name === undefined ? CODE_TASK : namedTask(name);
  const head = { node, name: node, schema: ANYTHING };
  const prepared = scope.programs.prepare(code);
  if (!prepared.ok) {
    const { line, column } = prepared.at;
    const problem = `cannot run: ${prepared.error.message} (line ${line}, column ${column})`;
    return { ...head, isRepeatable: false, ...NOT_AHEAD, problems: [problem] };
  }
  const { structure } = prepared.value;
  const problem = await checkProgram(scope, structure);
  return {
    ...head,
    isRepeatable: await isRepeatable(scope, structure),
    changesNothing: callsNothing(structure),
    mayRunAhead: false,
    problems: problem ? [`cannot run: ${problem.message}`] : [],
  };
}

/** By what a program's text says it calls: nothing, or only what may be called twice. */
async function isRepeatable(scope: RunScope, { nodes, unresolved }: StaticStructure): Promise<boolean> {
  if (unresolved.length > 0 || nodes.some(({ type }) => type === 'capability')) return false;
  for (const node of nodes) {
    if (node.type !== 'task') continue;
    const entry = await scope.findTool({ tool: node.tool, arguments: {} }).catch(() => null);
    if (!entry || !mayBeCalledTwice(entry.tool)) return false;
  }
  return true;
}
