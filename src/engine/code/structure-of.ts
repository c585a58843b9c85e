import { prepareProgram } from '../../core/structure/emit/prepare-program.ts';
import type { Binding, StructureEdge, StructureNode } from '../../core/structure/emit/static-structure.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';

/** Edges from what a step is in to the step. */
const HEADS: readonly StructureEdge['type'][] = ['conditional', 'loop_body', 'contains'];

/** What a program can do, as programs see it; code that cannot run is an error with its place. */
export function structureOf(code: string) {
  const prepared = prepareProgram(code);
  if (!prepared.ok) {
    const { error, at } = prepared;
    throw new PmlError('invalid_argument', `Line ${at.line}, column ${at.column}: ${error.message}`, {
      ...(error.hint !== undefined && { hint: error.hint }),
    });
  }
  const { nodes, edges, unresolved } = prepared.value.structure;
  const heads = new Map<string, StructureEdge>();
  // A call that a fork waits for may have begun elsewhere: the first edge says where it is.
  for (const edge of edges) if (HEADS.includes(edge.type) && !heads.has(edge.to)) heads.set(edge.to, edge);
  return {
    nodes: nodes.map((node) => ({
      id: node.id,
      type: node.type,
      name: nameOf(node),
      at: node.at,
      called_at: node.calledAt ?? null,
      depth: depthOf(node.id, heads),
      branch: heads.get(node.id)?.branch ?? null,
      arguments: 'arguments' in node ? argumentsOf(node.arguments.bindings) : {},
    })),
    edges: edges.map(({ from, to, type, branch = null, argument = null }) => ({
      from,
      to,
      type,
      branch,
      argument,
    })),
    unresolved,
  };
}

function nameOf(node: StructureNode): string {
  switch (node.type) {
    case 'task':
      return node.tool;
    case 'capability':
      return node.slug;
    case 'operation':
      return node.operation;
    case 'decision':
      return node.condition;
    case 'loop':
      return node.over;
    default:
      return node.wait;
  }
}

function depthOf(id: string, heads: ReadonlyMap<string, StructureEdge>): number {
  const above = new Set<string>();
  for (let head = heads.get(id); head && !above.has(head.from); head = heads.get(head.from))
    above.add(head.from);
  return above.size;
}

function argumentsOf(bindings: Readonly<Record<string, Binding>>): Record<string, string> {
  return Object.fromEntries(Object.entries(bindings).map(([name, binding]) => [name, textOf(binding)]));
}

/** As written in code. */
function textOf(binding: Binding): string {
  switch (binding.kind) {
    case 'literal':
      return JSON.stringify(binding.value) ?? 'undefined';
    case 'parameter':
      return binding.path === '' ? 'args' : `args.${binding.path}`;
    case 'reference':
      return binding.path === '' ? binding.node : `${binding.node}.${binding.path}`;
    case 'expression':
      return binding.text;
  }
}
