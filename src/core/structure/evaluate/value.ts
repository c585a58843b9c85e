import type { ArrowFunctionExpression, Class, Function as FunctionNode, Span } from 'oxc-parser';
import type { DraftNode } from '../emit/draft.ts';
import type { Scope } from './scope.ts';

/**
 * What is known about a value before the run. Every kind except `unknown` is exact; `unknown` still has
 * the steps that the value comes from.
 */
export type Value =
  | Literal
  | ObjectValue
  | FunctionValue
  | ApiValue
  | ParameterValue
  | ResultValue
  | PromiseValue
  | GlobalValue
  | UnknownValue;

/** The value of a variable or property at this point of the program; null before the first assignment. */
export interface Cell {
  value: Value | null;
  /** The assigned expression. */
  text?: Span | undefined;
  /** Number of the variable, in order of declaration. */
  readonly born?: number;
}

export type Variables = Scope<Cell>;

export interface Literal {
  readonly kind: 'literal';
  readonly value: string | number | boolean | null | undefined;
}

/** An object or array that the program itself creates; it changes as the program runs. */
export interface ObjectValue {
  readonly kind: 'object';
  readonly isArray: boolean;
  readonly props: Map<string, Cell>;
  /** Values under unknown keys. */
  readonly rest: Cell;
  /** There may be keys that are not in `props`. */
  isOpen: boolean;
  /** For a class: what `new` needs. */
  readonly class?: { readonly node: Class; readonly scope: Variables; readonly parent: Value | null };
}

export interface FunctionValue {
  readonly kind: 'function';
  readonly node: FunctionNode | ArrowFunctionExpression;
  readonly scope: Variables;
  /** `this`, if the function has its own. */
  readonly self: Value;
}

/** `mcp`, `mcp.server`, `mcp.server.tool`; `capabilities`, `capabilities.slug`. */
export interface ApiValue {
  readonly kind: 'api';
  readonly root: 'mcp' | 'capabilities';
  readonly path: readonly string[];
}

/** `args` or a part of it. */
export interface ParameterValue {
  readonly kind: 'parameter';
  readonly path: string;
}

/** The result of a step, or a part of it. */
export interface ResultValue {
  readonly kind: 'result';
  readonly node: DraftNode;
  readonly path: string;
  /** For an operation's result made of promises: the value of each element. */
  readonly element?: Value;
}

export interface PromiseValue {
  readonly kind: 'promise';
  readonly value: Value;
  /** The steps after which it settles. */
  readonly ends: readonly DraftNode[];
  /** The steps after which it began. */
  readonly begins: readonly DraftNode[];
}

/** A name that the program does not declare: `Object`, `Object.keys`. */
export interface GlobalValue {
  readonly kind: 'global';
  readonly name: string;
}

export interface UnknownValue {
  readonly kind: 'unknown';
  readonly sources: readonly DraftNode[];
  /** The value may contain promises, which settle after these steps. */
  readonly ends: readonly DraftNode[];
  /** Functions that the value may be or contain. */
  readonly functions: readonly FunctionValue[];
  /** Objects that it may be or contain: code that changes the value may change them. */
  readonly objects: readonly ObjectValue[];
  /** If the value may be or lead to `mcp` or `capabilities`: why the exact part of them is unknown. */
  readonly reach: string | null;
}

export const UNDEFINED: Literal = { kind: 'literal', value: undefined };
export const NOTHING_KNOWN: UnknownValue = {
  kind: 'unknown',
  sources: [],
  ends: [],
  functions: [],
  objects: [],
  reach: null,
};
const ONE_OF_SEVERAL = 'The tool is known only at run time';

const DEFAULTS = {
  /** Most steps that one value is traced back to, so that a value that grows step by step stays linear. */
  maxSources: 64,
  /** Most properties of one object that are followed separately; larger objects are tables of data. */
  maxProperties: 1_000,
  /** Most properties that are examined to find where an object comes from. */
  maxSurvey: 10_000,
};

export function literal(value: Literal['value']): Literal {
  return { kind: 'literal', value };
}

export function objectValue(isArray: boolean, more: Pick<ObjectValue, 'class'> = {}): ObjectValue {
  return { kind: 'object', isArray, props: new Map(), rest: { value: null }, isOpen: false, ...more };
}

/** Adds a property to an object; for very large objects, only the possible values are known. */
export function setProperty(object: ObjectValue, key: string, cell: Cell): void {
  const { props, rest } = object;
  if (props.size < DEFAULTS.maxProperties || props.has(key)) {
    props.set(key, cell);
    return;
  }
  object.isOpen = true;
  if (cell.value) rest.value = rest.value ? join(rest.value, cell.value) : cell.value;
}

/** A value computed from others in a way that is not followed. */
export function unknownFrom(...values: readonly (Value | null)[]): UnknownValue {
  const found = new Survey();
  for (const value of values) if (value) found.visit(value);
  const { sources, ends, functions, objects, reach } = found;
  const size = sources.size + ends.size + functions.size + objects.size;
  if (size === 0 && reach === null) return NOTHING_KNOWN;
  return {
    kind: 'unknown',
    sources: [...sources],
    ends: [...ends],
    functions: [...functions],
    objects: [...objects],
    reach,
  };
}

/** The steps that a value comes from. */
export function sourcesOf(value: Value): readonly DraftNode[] {
  if (value.kind === 'literal' || value.kind === 'api' || value.kind === 'parameter') return [];
  if (value.kind === 'unknown') return value.sources;
  if (value.kind === 'result' && !value.element) return [value.node];
  return unknownFrom(value).sources;
}

/** The objects that a value is or may be. */
export function objectsOf(value: Value): readonly ObjectValue[] {
  if (value.kind === 'object') return [value];
  return value.kind === 'unknown' ? value.objects : [];
}

/** The steps after which every promise in it has settled. */
export function endsOf(value: Value): readonly DraftNode[] {
  return value.kind === 'promise' ? value.ends : unknownFrom(value).ends;
}

/** Null if neither `mcp` nor `capabilities` can be reached from the value. */
export function reachOf(value: Value): string | null {
  return unknownFrom(value).reach;
}

/** What is known about a value that is one of the two. */
export function join(a: Value, b: Value): Value {
  if (isSame(a, b)) return a;
  if (a.kind === 'promise' || b.kind === 'promise') {
    const [left, right] = [asPromise(a), asPromise(b)];
    return {
      kind: 'promise',
      value: join(left.value, right.value),
      ends: union(left.ends, right.ends).slice(0, DEFAULTS.maxSources),
      begins: union(left.begins, right.begins).slice(0, DEFAULTS.maxSources),
    };
  }
  return unknownFrom(a, b);
}

export function union<T>(a: readonly T[], b: readonly T[]): readonly T[] {
  if (a.length === 0 || a === b) return b;
  if (b.length === 0) return a;
  return [...new Set([...a, ...b])];
}

function asPromise(value: Value): PromiseValue {
  return value.kind === 'promise' ? value : { kind: 'promise', value, ends: [], begins: [] };
}

function isSame(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (a.kind === 'literal') return b.kind === 'literal' && Object.is(a.value, b.value);
  if (a.kind === 'parameter') return b.kind === 'parameter' && a.path === b.path;
  if (a.kind === 'global') return b.kind === 'global' && a.name === b.name;
  if (a.kind === 'result') return b.kind === 'result' && a.node === b.node && a.path === b.path;
  if (a.kind !== 'api' || b.kind !== 'api') return false;
  return a.root === b.root && a.path.join('\0') === b.path.join('\0');
}

/** Whether joining added nothing: `after` is `before` joined with something. */
export function isStable(before: Value, after: Value): boolean {
  if (isSame(before, after)) return true;
  if (before.kind === 'promise' && after.kind === 'promise') {
    return before.ends.length === after.ends.length && isStable(before.value, after.value);
  }
  if (before.kind !== 'unknown' || after.kind !== 'unknown') return false;
  const { sources, ends, functions, objects, reach } = before;
  return (
    sources.length === after.sources.length &&
    ends.length === after.ends.length &&
    functions.length === after.functions.length &&
    objects.length === after.objects.length &&
    reach === after.reach
  );
}

class Survey {
  readonly sources = new Set<DraftNode>();
  readonly ends = new Set<DraftNode>();
  readonly functions = new Set<FunctionValue>();
  readonly objects = new Set<ObjectValue>();
  reach: string | null = null;
  readonly #seen = new Set<ObjectValue>();
  #looked = 0;

  visit(value: Value): void {
    switch (value.kind) {
      case 'api':
        this.reach ??= ONE_OF_SEVERAL;
        return;
      case 'result':
        add(this.sources, value.node);
        if (value.element) this.visit(value.element);
        return;
      case 'promise':
        for (const node of value.ends) add(this.ends, node);
        this.visit(value.value);
        return;
      case 'unknown':
        for (const node of value.sources) add(this.sources, node);
        for (const node of value.ends) add(this.ends, node);
        for (const fn of value.functions) add(this.functions, fn);
        for (const object of value.objects) add(this.objects, object);
        this.reach ??= value.reach;
        return;
      case 'function':
        add(this.functions, value);
        return;
      case 'object':
        if (this.#seen.has(value)) return;
        this.#seen.add(value);
        add(this.objects, value);
        for (const cell of value.props.values()) {
          if (this.#looked++ > DEFAULTS.maxSurvey) return;
          if (cell.value) this.visit(cell.value);
        }
        if (value.rest.value) this.visit(value.rest.value);
    }
  }
}

function add<T>(all: Set<T>, one: T): void {
  if (all.size < DEFAULTS.maxSources) all.add(one);
}

/** An array all of whose elements are known. */
export function isListed(value: Value): value is ObjectValue {
  return value.kind === 'object' && value.isArray && !value.isOpen;
}
