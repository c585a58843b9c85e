import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import { prepareProgram } from './prepare-program.ts';
import type { Binding, StaticStructure, StructureEdge, StructureNode } from './static-structure.ts';

const FOLDER = new URL('../../../../test/fixtures/structure-corpus/', import.meta.url);
const EDGE_TYPES: readonly StructureEdge['type'][] = [
  'sequence',
  'provides',
  'conditional',
  'contains',
  'loop_body',
];

interface Case {
  readonly title: string;
  readonly source: string;
  readonly expected: string;
}

function readCases(file: string): Case[] {
  return readFileSync(new URL(file, FOLDER), 'utf8')
    .split(/^=+\n/m)
    .map((text) => {
      const [program = '', expected = ''] = text.split(/^---\n/m);
      const [title = '', ...lines] = program.split('\n');
      return { title: title.replace(/^# /, ''), source: lines.join('\n'), expected: inOrder(expected) };
    });
}

/** Edges of one type are a set. */
function inOrder(expected: string): string {
  const lines = expected.trim().split('\n');
  return lines
    .map((line) => {
      const [, type, edges] = /^(\w+): (.*)$/.exec(line) ?? [];
      return type && edges ? `${type}: ${edges.split(', ').sort().join(', ')}` : line;
    })
    .sort((a, b) => rankOf(a) - rankOf(b))
    .join('\n');
}

/** Nodes, then edges by type, then unresolved calls. */
function rankOf(line: string): number {
  if (line.startsWith('?')) return EDGE_TYPES.length;
  return EDGE_TYPES.findIndex((type) => line.startsWith(`${type}:`));
}

function show({ nodes, edges, unresolved }: StaticStructure): string {
  const byType = EDGE_TYPES.map((type) => {
    const ofType = edges.filter((edge) => edge.type === type).map(showEdge);
    return ofType.length > 0 ? `${type}: ${ofType.sort().join(', ')}` : '';
  });
  const left = unresolved.map(({ text, reason }) => `? ${text} | ${reason}`);
  return [...nodes.map(showNode), ...byType.filter(Boolean), ...left].join('\n');
}

function showNode(node: StructureNode): string {
  const called = node.calledAt ? ` @${node.calledAt.line}:${node.calledAt.column}` : '';
  const what = {
    task: () => node.type === 'task' && `${node.tool} ${showArguments(node)}`,
    capability: () => node.type === 'capability' && `${node.slug} ${showArguments(node)}`,
    operation: () => node.type === 'operation' && node.operation.replace(/^code:/, ''),
    decision: () => node.type === 'decision' && node.condition,
    loop: () => node.type === 'loop' && node.over,
    fork: () => node.type === 'fork' && node.wait,
    join: () => node.type === 'join' && node.wait,
  }[node.type]();
  return `${node.id} ${node.type} ${what}${called}`;
}

function showArguments(node: Extract<StructureNode, { arguments: unknown }>): string {
  const { bindings, isComplete } = node.arguments;
  const parts = Object.entries(bindings).map(([name, binding]) => `${name}: ${showBinding(binding)}`);
  return `{${[...parts, ...(isComplete ? [] : ['…'])].join(', ')}}`;
}

function showBinding(binding: Binding): string {
  switch (binding.kind) {
    case 'literal':
      return JSON.stringify(binding.value);
    case 'reference':
      return `<${[binding.node, binding.path].filter(Boolean).join(' ')}>`;
    case 'parameter':
      return `<args.${binding.path}>`;
    case 'expression':
      return `= ${binding.text}`;
  }
}

function showEdge({ from, to, argument, branch }: StructureEdge): string {
  return `${from}-${to}${argument ? `.${argument}` : ''}${branch ? `(${branch})` : ''}`;
}

for (const file of globSync('*.txt', { cwd: FOLDER })) {
  describe(`[STRUCT-1] the structure of programs: ${basename(file, '.txt')}`, () => {
    test.each(readCases(file))('$title', ({ source, expected }) => {
      const program = prepareProgram(source);
      if (!program.ok) throw new Error(program.error.message);
      expect(show(program.value.structure)).toBe(expected);
    });
  });
}
