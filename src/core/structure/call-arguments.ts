import type { Analysis, Arguments } from './analysis.ts';
import { provide } from './branches.ts';
import type { DraftArguments, DraftBinding, DraftNode } from './draft.ts';
import { type Cell, type ObjectValue, UNDEFINED, unknownFrom, type Value } from './value.ts';

const DEFAULTS = {
  /** Literals that lie deeper are kept as text. */
  maxDepth: 32,
};

const NO_BINDINGS: ReadonlyMap<string, DraftBinding> = new Map();

/** What a tool is called with: its first argument, an object of named arguments. */
export function readArguments(a: Analysis, { values, more, texts }: Arguments): DraftArguments {
  const [given = UNDEFINED] = values;
  if (given.kind !== 'object' || given.isArray) {
    const isNone = given.kind === 'literal' && given.value === undefined && !more;
    return { bindings: NO_BINDINGS, isComplete: isNone };
  }
  const bindings = new Map<string, DraftBinding>();
  for (const [name, cell] of given.props) {
    const text = cell.text ?? texts[0];
    const binding = bindingOf(cell.value ?? UNDEFINED, text ? a.textOf(text) : name);
    if (binding) bindings.set(name, binding);
  }
  return { bindings, isComplete: !given.isOpen };
}

/** The steps whose results are in the arguments provide them. */
export function provideArguments(a: Analysis, node: DraftNode, { values, more }: Arguments): void {
  const [given, ...others] = values;
  if (given?.kind === 'object' && !given.isArray) {
    for (const [name, { value }] of given.props) if (value) provide(a, node, value, name);
    if (given.rest.value) provide(a, node, given.rest.value);
  } else if (given) provide(a, node, given);
  provide(a, node, unknownFrom(...others, more));
}

/** Null for `undefined`: that is as if it were not given. */
function bindingOf(value: Value, text: string): DraftBinding | null {
  if (value.kind === 'literal' && value.value === undefined) return null;
  if (value.kind === 'result' && !value.element)
    return { kind: 'reference', node: value.node, path: value.path };
  if (value.kind === 'parameter') return { kind: 'parameter', path: value.path };
  const known = plain(value, DEFAULTS.maxDepth);
  return known ? { kind: 'literal', value: known.data } : { kind: 'expression', text };
}

/** The data that a value is, when every part of it is known and JSON can carry it. */
function plain(value: Value, depth: number): { data: unknown } | null {
  if (value.kind === 'literal') {
    const isData =
      value.value !== undefined && (typeof value.value !== 'number' || Number.isFinite(value.value));
    return isData ? { data: value.value } : null;
  }
  if (value.kind !== 'object' || value.isOpen || value.class || depth === 0) return null;
  return value.isArray ? plainArray(value, depth) : plainObject(value, depth);
}

function plainArray({ props }: ObjectValue, depth: number): { data: unknown } | null {
  const data: unknown[] = [];
  for (const [index, cell] of props) {
    const part = Number(index) === data.length ? plainCell(cell, depth) : null;
    if (!part) return null;
    data.push(part.data);
  }
  return { data };
}

function plainObject({ props }: ObjectValue, depth: number): { data: unknown } | null {
  const data: [string, unknown][] = [];
  for (const [key, cell] of props) {
    const part = plainCell(cell, depth);
    if (!part) return null;
    data.push([key, part.data]);
  }
  return { data: Object.fromEntries(data) };
}

function plainCell({ value }: Cell, depth: number): { data: unknown } | null {
  return value && plain(value, depth - 1);
}
