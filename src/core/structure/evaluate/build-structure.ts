import type {
  CallExpression,
  Expression,
  IfStatement,
  Span,
  Statement,
  TSEnumDeclaration,
  VariableDeclaration,
} from 'oxc-parser';
import { Draft, StructureTooLarge } from '../emit/draft.ts';
import type { StaticStructure } from '../emit/static-structure.ts';
import type { ParsedProgram } from '../parse/parse-program.ts';
import {
  type Analysis,
  type ChainPlace,
  type Frame,
  type Invocation,
  type Mark,
  newFrame,
  newTarget,
  type Target,
} from './analysis.ts';
import { declareAs, hoist } from './assign.ts';
import { decideOn, leaveFunction } from './branches.ts';
import { evaluateClass } from './evaluate-class.ts';
import { evaluateExpression } from './evaluate-expression.ts';
import { executeLoop, executeSwitch, executeTry, isLoop } from './execute-control.ts';
import { Flow, Memory } from './flow.ts';
import { Invoker } from './invoke.ts';
import { Scope } from './scope.ts';
import {
  type Cell,
  type FunctionValue,
  literal,
  NOTHING_KNOWN,
  objectValue,
  UNDEFINED,
  type Value,
  type Variables,
} from './value.ts';

const DEFAULTS = {
  /** Longest condition or expression that is stored, in characters. */
  maxText: 500,
  /** Most syntax nodes walked through, repetitions included: a bound on time. */
  maxParts: 500_000,
};

/** The names that every program has. */
const GIVEN: Readonly<Record<string, Value>> = {
  mcp: { kind: 'api', root: 'mcp', path: [] },
  capabilities: { kind: 'api', root: 'capabilities', path: [] },
  args: { kind: 'parameter', path: '' },
  deps: NOTHING_KNOWN,
  console: { kind: 'global', name: 'console' },
};

export interface BuiltStructure {
  readonly structure: StaticStructure;
  /** What the script reports when it runs, with the id of its node. */
  readonly marks: readonly (Mark & { readonly id: string })[];
  /** The first thing that cannot be executed, and where. */
  readonly refusal: { readonly offset: number; readonly message: string } | null;
}

/** Walks through the program as if it ran. Throws `StructureTooLarge`. */
export function buildStructure({ text, source, offset, body }: ParsedProgram): BuiltStructure {
  const walk = new Walk(text);
  hoist(walk, body.body);
  walk.executeAll(body.body);
  walk.runNeverCalled();
  const { structure, ids } = walk.draft.finish(source, offset);
  const marks = [...walk.marks.values()].map((mark) => ({ ...mark, id: ids.get(mark.node)! }));
  return { structure, marks, refusal: walk.refusal };
}

class Walk implements Analysis {
  readonly draft = new Draft();
  readonly flow = new Flow(this.draft);
  readonly memory = new Memory((parts) => this.spend(parts));
  readonly marks = new Map<object, Mark>();
  readonly chains = new Map<CallExpression, ChainPlace>();
  scope: Variables = new Scope<Cell>(null, true);
  frame: Frame = newFrame(NOTHING_KNOWN, true, 0);
  captures: Analysis['captures'] = null;
  awaiting: object | null = null;
  repeated = 0;
  isSketch = false;
  declared = 0;
  refusal: BuiltStructure['refusal'] = null;
  readonly #text: string;
  readonly #invoker = new Invoker();
  #parts = 0;

  constructor(text: string) {
    this.#text = text;
    for (const [name, value] of Object.entries(GIVEN)) this.declare(name).value = value;
    // The program may declare variables with these names.
    this.scope = new Scope(this.scope, true);
  }

  evaluate(node: Expression): Value {
    this.spend(1);
    return evaluateExpression(this, node);
  }

  execute(node: Statement): void {
    this.spend(1);
    executeStatement(this, node);
  }

  executeAll(nodes: readonly Statement[]): void {
    for (const node of nodes) this.execute(node);
  }

  invoke(invocation: Invocation): Value {
    return this.#invoker.invoke(this, invocation);
  }

  note(fn: FunctionValue): FunctionValue {
    return this.#invoker.note(fn);
  }

  declare(name: string, scope = this.scope): Cell {
    return scope.declare(name, { value: null, born: ++this.declared });
  }

  textOf({ start, end }: Span): string {
    const text = this.#text.slice(start, Math.min(end, start + DEFAULTS.maxText));
    return end - start > DEFAULTS.maxText ? `${text}…` : text;
  }

  refuse(offset: number, message: string): void {
    this.refusal ??= { offset, message };
  }

  /** The callers of these functions are unknown, so they are separate from the rest. */
  runNeverCalled(): void {
    for (const fn of this.#invoker.neverCalled()) {
      this.flow.frontier = [];
      this.flow.isAlive = true;
      this.memory.maybe(() => {
        this.invoke({ fn, args: { values: [], more: NOTHING_KNOWN, texts: [] }, call: fn.node });
      });
    }
  }

  spend(parts: number): void {
    this.#parts += parts;
    if (this.#parts > DEFAULTS.maxParts) {
      throw new StructureTooLarge('The code has too many paths to analyse');
    }
  }
}

function executeStatement(a: Analysis, node: Statement, labels: readonly string[] = []): void {
  switch (node.type) {
    case 'ExpressionStatement':
      a.evaluate(node.expression);
      break;
    case 'VariableDeclaration':
      executeDeclaration(a, node);
      break;
    case 'ClassDeclaration':
      if (node.id && !node.declare) declareAs(a, node.id, evaluateClass(a, node), node);
      break;
    case 'TSEnumDeclaration':
      executeEnum(a, node);
      break;
    case 'BlockStatement':
      if (labels.length === 0) executeBlock(a, node.body);
      else leavable(a, newTarget('block', labels, a.memory.depth), () => executeBlock(a, node.body));
      break;
    case 'IfStatement':
      executeIf(a, node);
      break;
    case 'SwitchStatement':
      leavable(a, newTarget('switch', labels, a.memory.depth), () => executeSwitch(a, node));
      break;
    case 'TryStatement':
      executeTry(a, node, (body) => executeBlock(a, body));
      break;
    case 'LabeledStatement':
      executeStatement(a, node.body, [...labels, node.label.name]);
      break;
    case 'ReturnStatement':
      leaveFunction(a, node.argument ? a.evaluate(node.argument) : UNDEFINED);
      break;
    case 'ThrowStatement':
      a.evaluate(node.argument);
      a.flow.isAlive = false;
      break;
    case 'BreakStatement':
    case 'ContinueStatement':
      leave(a, node.type === 'BreakStatement', node.label?.name ?? null);
      break;
    default:
      if (isLoop(node)) executeLoop(a, node, labels);
  }
}

function executeIf(a: Analysis, node: IfStatement): void {
  const { consequent, alternate } = node;
  const run = (statement: Statement) => () => a.execute(statement);
  decideOn(a, node, node.test, run(consequent), alternate ? run(alternate) : null);
}

function executeBlock(a: Analysis, statements: readonly Statement[]): void {
  const outer = a.scope;
  a.scope = new Scope(outer, false);
  hoist(a, statements);
  a.executeAll(statements);
  a.scope = outer;
}

function executeDeclaration(a: Analysis, { declarations, kind, declare }: VariableDeclaration): void {
  if (declare) return;
  const scope = kind === 'var' ? a.scope.ofFunction : a.scope;
  for (const { id, init } of declarations) {
    if (init) declareAs(a, id, a.evaluate(init), init, scope);
    else if (kind !== 'var' && id.type === 'Identifier') declareAs(a, id, UNDEFINED, id, scope);
  }
}

/** An enum is an object of constants; a member without a value gets the next number. */
function executeEnum(a: Analysis, { id, body, declare }: TSEnumDeclaration): void {
  if (declare) return;
  const members = objectValue(false);
  // Numbers also map back to their names.
  members.isOpen = true;
  let next: Value = literal(0);
  const outer = a.scope;
  a.scope = new Scope(outer, false);
  for (const member of body.members) {
    const value: Value = member.initializer ? a.evaluate(member.initializer) : next;
    const name = member.id.type === 'Identifier' ? member.id.name : a.evaluate(member.id);
    if (typeof name === 'string') a.memory.set(a.declare(name), value);
    const key = typeof name === 'string' ? name : name.kind === 'literal' ? String(name.value) : null;
    if (key !== null) members.props.set(key, { value });
    next = value.kind === 'literal' && typeof value.value === 'number' ? literal(value.value + 1) : UNDEFINED;
  }
  a.scope = outer;
  declareAs(a, id, members, id);
}

/** Runs a statement that `break` can leave; afterwards the flow also continues from the breaks. */
function leavable(a: Analysis, target: Target, run: () => void): void {
  a.frame.targets.push(target);
  const changes = a.memory.branch(run);
  a.frame.targets.pop();
  const { frontier, isAlive } = a.flow;
  const ends = [...(isAlive ? [changes] : []), ...target.left];
  if (ends.length > 0) a.memory.meet(ends);
  if (target.breaks.length === 0) return;
  a.flow.isAlive = true;
  a.flow.meet([
    { frontier, isAlive },
    ...target.breaks.map((broken) => ({ frontier: broken, isAlive: true })),
  ]);
}

function leave(a: Analysis, isBreak: boolean, label: string | null): void {
  const target = a.frame.targets.findLast(({ labels, kind }) => {
    if (label !== null) return labels.includes(label);
    return kind === 'loop' || (isBreak && kind === 'switch');
  });
  if (!a.flow.isAlive || !target) return;
  if (isBreak) target.breaks.push(a.flow.frontier);
  target.left.push(a.memory.since(target.depth));
  a.flow.isAlive = false;
}
