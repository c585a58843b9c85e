import type { CallExpression, Expression, Span, Statement } from 'oxc-parser';
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
} from './analysis.ts';
import { hoist } from './assign.ts';
import { evaluateExpression } from './evaluate-expression.ts';
import { executeStatement } from './execute-statement.ts';
import { Flow } from './flow.ts';
import { Invoker } from './invoke.ts';
import { Memory } from './memory.ts';
import { Scope } from './scope.ts';
import { type Cell, type FunctionValue, NOTHING_KNOWN, type Value, type Variables } from './value.ts';

const DEFAULTS = {
  /** Conditions and expressions are cut here, in characters. */
  maxText: 500,
  /** Parts of the syntax tree gone through, repetitions included: a bound on time. */
  maxParts: 500_000,
};

/** The names that every program is given. */
const GIVEN: Readonly<Record<string, Value>> = {
  mcp: { kind: 'api', root: 'mcp', path: [] },
  capabilities: { kind: 'api', root: 'capabilities', path: [] },
  args: { kind: 'parameter', path: '' },
  deps: NOTHING_KNOWN,
  console: { kind: 'global', name: 'console' },
};

export interface BuiltStructure {
  readonly structure: StaticStructure;
  /** What the script tells of when it runs, with the id of its node. */
  readonly marks: readonly (Mark & { readonly id: string })[];
  /** What no run could execute, and where. */
  readonly refusal: { readonly offset: number; readonly message: string } | null;
}

/** Goes through the program as if it ran. Throws `StructureTooLarge`. */
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
    // What the program declares itself may go by these names.
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

  /** The callers of these functions cannot be seen, so they stand apart. */
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
      throw new StructureTooLarge('The code goes too many ways to follow');
    }
  }
}
