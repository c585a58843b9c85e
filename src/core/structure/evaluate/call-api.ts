import type { CallExpression, Span } from 'oxc-parser';
import { toolId } from '../../vocabulary/ids.ts';
import { PmlError } from '../../vocabulary/pml-error.ts';
import type { BoundArgument, DraftArguments, DraftBinding, DraftNode } from '../emit/draft.ts';
import { type Analysis, type Arguments, evaluateArguments } from './analysis.ts';
import { provide } from './branches.ts';
import {
  type ApiValue,
  isListed,
  NOTHING_KNOWN,
  type ObjectValue,
  reachOf,
  UNDEFINED,
  unknownFrom,
  type Value,
} from './value.ts';
import { depthOf, HOW_TO_CALL } from './value-members.ts';

const DEFAULTS = {
  /** Most parts of one literal; a larger one is stored as text. */
  maxParts: 10_000,
};

/** A call of a tool or a capability, or of a wrong path on `mcp` or `capabilities`. */
export function callApi(a: Analysis, call: Span, target: Value, args: Arguments): Value {
  if (target.kind !== 'api') return leaveCall(a, call, reachOf(target) ?? HOW_TO_CALL.mcp);
  if (target.path.length !== depthOf(target)) return leaveCall(a, call, HOW_TO_CALL[target.root]);
  const callee = calleeOf(target);
  if (typeof callee === 'string') return leaveCall(a, call, callee);
  const begins = a.flow.frontier;
  const content = { ...callee, arguments: readArguments(a, args) };
  const node = a.flow.step(call, content, call.start);
  provideArguments(a, node, args);
  // The call is in flight; the program continues until it awaits the result.
  a.flow.frontier = begins;
  return { kind: 'promise', value: { kind: 'result', node, path: '' }, ends: [node], begins };
}

/** A call with an unknown target; its result is unknown, too. */
export function leaveCall(a: Analysis, call: Span, reason: string): Value {
  a.draft.leaveUnresolved(call.start, a.textOf(call), reason);
  return NOTHING_KNOWN;
}

/** `f.call(self, …)`, `f.apply(self, […])`, `f.bind(self)`; null for any other name. */
export function callBound(a: Analysis, node: CallExpression, target: Value, name: string): Value | null {
  const isCallable =
    target.kind === 'function' || (target.kind === 'api' && target.path.length === depthOf(target));
  if (!isCallable || !['call', 'apply', 'bind'].includes(name)) return null;
  const [, ...texts] = node.arguments;
  const { values, more } = evaluateArguments(a, node.arguments);
  const [, ...rest] = values;
  if (name === 'bind') return rest.length === 0 && !more ? target : null;
  const list = rest[0];
  const args: Arguments =
    name === 'call'
      ? { values: rest, more, texts }
      : list && isListed(list)
        ? { values: [...list.props.values()].map(({ value }) => value ?? NOTHING_KNOWN), more, texts: [] }
        : { values: [], more: list ?? NOTHING_KNOWN, texts: [] };
  return target.kind === 'function'
    ? a.invoke({ fn: target, args, call: node })
    : callApi(a, node, target, args);
}

/** A text says why no such tool can exist. */
function calleeOf({ root, path }: ApiValue) {
  const [first = '', second = ''] = path;
  if (root === 'capabilities') return { type: 'capability', slug: first } as const;
  try {
    return { type: 'task', tool: toolId(first, second) } as const;
  } catch (thrown) {
    return PmlError.from(thrown).message;
  }
}

const NO_BINDINGS: DraftArguments['bindings'] = new Map();

/** A tool's first argument is an object of named arguments. */
function readArguments(a: Analysis, { values, more, texts }: Arguments): DraftArguments {
  const [given = UNDEFINED] = values;
  if (given.kind !== 'object' || given.isArray) {
    const isNone = given.kind === 'literal' && given.value === undefined && !more;
    return { bindings: NO_BINDINGS, isComplete: isNone };
  }
  a.spend(given.props.size);
  const bindings = new Map<string, BoundArgument>();
  for (const [name, cell] of given.props) {
    const span = cell.text ?? texts[0];
    const text = span ? a.textOf(span) : name;
    const binding = bindingOf(cell.value ?? UNDEFINED, text);
    if (binding) bindings.set(name, { binding, text });
  }
  return { bindings, isComplete: !given.isOpen };
}

/** Connects the steps whose results are in the arguments. */
function provideArguments(a: Analysis, node: DraftNode, { values, more }: Arguments): void {
  const [given, ...others] = values;
  if (given?.kind === 'object' && !given.isArray) {
    for (const [name, { value }] of given.props) if (value) provide(a, node, value, name);
    if (given.rest.value) provide(a, node, given.rest.value);
  } else if (given) provide(a, node, given);
  provide(a, node, unknownFrom(...others, more));
}

/** Null for `undefined`, which counts as not given. */
function bindingOf(value: Value, text: string): DraftBinding | null {
  if (value.kind === 'literal' && value.value === undefined) return null;
  if (value.kind === 'result' && !value.element)
    return { kind: 'reference', node: value.node, path: value.path };
  if (value.kind === 'parameter') return { kind: 'parameter', path: value.path };
  const known = new PlainData().read(value);
  return known ? { kind: 'literal', value: known.data } : { kind: 'expression', text };
}

/** Converts a value to data if every part of it is known and JSON can represent it. */
class PlainData {
  readonly #around = new Set<ObjectValue>();
  #parts = 0;

  /** Null if the value is not data, or too large. */
  read(value: Value): { readonly data: unknown } | null {
    if (++this.#parts > DEFAULTS.maxParts) return null;
    if (value.kind === 'literal') return isData(value.value) ? { data: value.value } : null;
    if (value.kind !== 'object' || value.isOpen || value.class || this.#around.has(value)) return null;
    this.#around.add(value);
    const data = value.isArray ? this.#list(value) : this.#record(value);
    this.#around.delete(value);
    return data;
  }

  #list({ props }: ObjectValue): { readonly data: unknown[] } | null {
    const data: unknown[] = [];
    for (const [index, { value }] of props) {
      const part = value && Number(index) === data.length ? this.read(value) : null;
      if (!part) return null;
      data.push(part.data);
    }
    return { data };
  }

  #record({ props }: ObjectValue): { readonly data: unknown } | null {
    const data: [string, unknown][] = [];
    for (const [key, { value }] of props) {
      const part = value && this.read(value);
      if (!part) return null;
      data.push([key, part.data]);
    }
    return { data: Object.fromEntries(data) };
  }
}

function isData(value: unknown): boolean {
  return value !== undefined && (typeof value !== 'number' || Number.isFinite(value));
}
