import { argumentProblems } from '../../core/planning/plan/validate-plan.ts';
import type { StaticStructure, StructureNode } from '../../core/structure/emit/static-structure.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { CodeError } from '../ports.ts';
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
