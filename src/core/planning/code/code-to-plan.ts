import type { Node } from 'oxc-parser';
import { walk } from 'oxc-walker';
import { bareNode, isErased, staticKey } from '../../capabilities/bare-node.ts';
import { parseProgram } from '../../structure/parse/parse-program.ts';
import type { Plan } from '../../vocabulary/plan.ts';
import { PLAN_HELPERS, type PlanHelper } from '../plan/conditions.ts';
import { bindPattern, declaredIn } from './code-shapes.ts';
import { conditionsOf } from './plan-draft.ts';
import { PlanReading } from './plan-reading.ts';
import { codeTaskOf } from './program-calls.ts';
import { CallReader, type OnlyReads } from './read-calls.ts';

export interface CodeToPlanOptions {
  /** Whether a call changes nothing, so that it may run beside others. */
  readonly onlyReads: OnlyReads;
  /** Values of `args`, where they are known. */
  readonly args?: Readonly<Record<string, unknown>>;
}

export type CodeAsPlan =
  | {
      readonly ok: true;
      readonly plan: Plan;
      /** What the program returns, with references to the tasks' results; absent where it returns nothing. */
      readonly result?: unknown;
    }
  /** Why it cannot be converted to a plan, line by line. */
  | { readonly ok: false; readonly reasons: readonly string[] };

/**
 * A program whose calls do not depend on how the run goes, as a plan: every call becomes a task, the code between
 * them `code`, branches `when` and loops over a list `for_each`. Calls that only read run in parallel unless one uses
 * the other's result; all others keep their order. If the program does not fail, the plan returns what it returns;
 * console output is left out.
 */
export function codeToPlan(source: string, { onlyReads, args }: CodeToPlanOptions): CodeAsPlan {
  const parsed = parseProgram(source);
  if (!parsed.ok) return { ok: false, reasons: [`line ${parsed.at.line}: ${parsed.error.message}`] };
  const reading = new PlanReading(parsed.value, args ? new Set(Object.keys(args)) : null);
  const reader = new StatementReader(reading, new CallReader(reading, onlyReads));
  reader.readProgram(parsed.value.body.body);
  const { tasks } = reading.draft;
  const values = { ...reader.defaults, ...args };
  const reasons = [
    ...reading.reasons,
    ...(tasks.length === 0 && reading.reasons.length === 0 ? ['it calls nothing'] : []),
  ];
  if (reasons.length > 0) return { ok: false, reasons };
  const given = Object.keys(values).length > 0 ? { arguments: values } : {};
  const inputs = reading.inputs.map((name) => ({ name, schema: {} }));
  return {
    ok: true,
    plan: { tasks, inputs, ...given },
    ...(reader.result !== undefined && { result: reader.result }),
  };
}

class StatementReader {
  readonly #reading: PlanReading;
  readonly #calls: CallReader;
  /** How many branches enclose the statement being read. */
  #depth = 0;
  /** Of inputs that the program has values for itself. */
  readonly defaults: Record<string, unknown> = {};
  result: unknown;

  constructor(reading: PlanReading, calls: CallReader) {
    this.#reading = reading;
    this.#calls = calls;
  }

  readProgram(statements: readonly Node[]): void {
    const end = statements.findIndex(({ type }) => type === 'ReturnStatement');
    const body = end === -1 ? statements : statements.slice(0, end);
    for (const statement of statements) this.#noteHints(statement);
    // Functions may be used before they are declared; one that calls tools is refused where it is called.
    for (const statement of body)
      if (statement.type === 'FunctionDeclaration' && !this.#reading.calls.isIn(statement))
        this.#reading.pure.add(statement);
    for (const statement of body) this.#read(statement);
    const last = statements[end];
    if (last?.type === 'ReturnStatement' && last.argument) this.#readResult(last.argument);
  }

  #read(node: Node): void {
    const reading = this.#reading;
    if (isErased(node)) return;
    if (node.type === 'VariableDeclaration') {
      for (const declarator of node.declarations) this.#declare(declarator, node.kind);
      return;
    }
    if (node.type === 'FunctionDeclaration' && this.#depth === 0) return;
    if (!reading.calls.isIn(node)) {
      this.#readPure(node);
      return;
    }
    switch (node.type) {
      case 'ExpressionStatement':
        this.#calls.read(node.expression);
        return;
      case 'BlockStatement':
        for (const statement of node.body) this.#read(statement);
        return;
      case 'IfStatement':
        this.#readBranches(node);
        return;
      case 'ForOfStatement':
        this.#readLoop(node);
        return;
      case 'ReturnStatement':
        reading.refuse(node, 'may end the program early');
        return;
      default:
        reading.refuse(
          node,
          `calls tools within "${WORDS[node.type] ?? node.type}", which a plan cannot express`,
        );
    }
  }

  #declare(declarator: Node & { type: 'VariableDeclarator' }, kind: string): void {
    const reading = this.#reading;
    const { id, init } = declarator;
    const changed = [...declaredIn(reading, [id])].some((one) => reading.calls.changes.has(one));
    if (init && reading.calls.isIn(init) && reading.valueOf(init)?.kind !== 'api') {
      const hint = id.type === 'Identifier' ? this.#hintFor(id) : '';
      if (!this.#readHinted(init, id, hint)) return;
      if (changed) {
        reading.refuse(
          declarator,
          'the result of a call is changed later; copy it first, or use a new "const"',
        );
        return;
      }
    }
    const helper = init && id.type === 'Identifier' ? helperOf(reading.textOf(init)) : undefined;
    const declaration = id.type === 'Identifier' ? reading.names.declarationOf(id) : null;
    if (helper && declaration) reading.helpers.set(declaration, helper);
    const value = init && !changed && !helper ? reading.valueOf(init) : null;
    if (value?.kind === 'inputs') Object.assign(this.defaults, value.defaults);
    if (value && bindPattern(reading, id, value)) return;
    this.#refuseEndings(declarator);
    reading.pure.add(declarator, `${kind} `);
  }

  /** Calls that are made at once take their names from the list they are given to. */
  #readHinted(init: Node, id: Node, hint: string): boolean {
    const reading = this.#reading;
    const awaited = bareNode(init);
    const call = awaited.type === 'AwaitExpression' ? bareNode(awaited.argument) : awaited;
    const list = call.type === 'CallExpression' && call.arguments[0] ? bareNode(call.arguments[0]) : null;
    if (id.type !== 'ArrayPattern' || list?.type !== 'ArrayExpression') return this.#calls.read(init, hint);
    let isRead = true;
    reading.draft.together(() => {
      for (const [i, element] of list.elements.entries()) {
        const name = id.elements[i];
        const own = name?.type === 'Identifier' ? this.#hintFor(name) : '';
        if (element && !this.#calls.read(element, own)) isRead = false;
      }
    });
    return isRead;
  }

  #hintFor(id: Node & { type: 'Identifier' }): string {
    const declaration = this.#reading.names.declarationOf(id);
    return (declaration && this.#reading.hints.get(declaration)) ?? id.name;
  }

  #readBranches(node: Node & { type: 'IfStatement' }): void {
    const reading = this.#reading;
    if (!this.#calls.read(node.test)) return;
    const condition = reading.conditionOf(node.test);
    if (condition === null) return;
    const before = reading.conditions;
    this.#depth++;
    reading.conditions = [...before, ...conditionsOf(condition)];
    this.#read(node.consequent);
    reading.conditions = [...before, { not: condition }];
    if (node.alternate) this.#read(node.alternate);
    reading.conditions = before;
    this.#depth--;
  }

  /** `for (const item of list) out.push(await call)` */
  #readLoop(node: Node & { type: 'ForOfStatement' }): void {
    const reading = this.#reading;
    const { left, right, body } = node;
    const [only, ...more] = body.type === 'BlockStatement' ? body.body : [body];
    const pattern = left.type === 'VariableDeclaration' ? left.declarations[0]?.id : undefined;
    if (!pattern || node.await || more.length > 0 || only?.type !== 'ExpressionStatement') {
      reading.refuse(node, 'a loop can only make one call per item');
      return;
    }
    const pushed = pushOf(only.expression);
    const call = pushed?.value ?? only.expression;
    const declaration = pushed && reading.names.declarationOf(pushed.list);
    const isOwnList = !declaration || (reading.calls.changes.get(declaration)?.length ?? 0) === 1;
    if (!isOwnList) {
      reading.refuse(node, 'adds to a list that is changed elsewhere too');
      return;
    }
    const hint = pushed ? pushed.list.name : '';
    const value = this.#calls.readLoop(right, { params: [pattern], body: call, call }, hint);
    if (value && declaration) reading.values.set(declaration, value);
  }

  /** Code that calls nothing is run where it is needed. */
  #readPure(node: Node): void {
    this.#refuseEndings(node);
    // It would be run whether or not the branch is taken.
    if (this.#depth > 0 && this.#reading.calls.isChanging(node))
      this.#reading.refuse(node, 'changes a variable in a branch that calls tools; use a "const" of its own');
    this.#reading.pure.add(node);
  }

  /** Refuses what would end the program or leave the statement. */
  #refuseEndings(node: Node): void {
    const reading = this.#reading;
    walk(node, {
      enter(inner) {
        if (/Function|^Class/.test(inner.type)) this.skip();
        else if (inner.type === 'ThrowStatement' || inner.type === 'ReturnStatement')
          reading.refuse(inner, 'may end the program early');
      },
    });
  }

  #readResult(node: Node): void {
    const reading = this.#reading;
    if (!this.#calls.read(node, 'result')) return;
    this.result = reading.argumentOf(node, 'result');
    reading.noteInputs(this.result);
  }

  /** `{ "read-it": readIt }`, handed to code or returned: the task is to be called so. */
  #noteHints(statement: Node): void {
    const reading = this.#reading;
    const note = (object: Node | undefined) => {
      if (object?.type !== 'ObjectExpression') return;
      for (const property of object.properties) {
        if (property.type !== 'Property' || property.value.type !== 'Identifier') continue;
        const key = staticKey(property.key, property.computed);
        const declaration = reading.names.declarationOf(property.value);
        if (key !== null && declaration && /^[\p{L}\p{N}_-]+$/u.test(key))
          reading.hints.set(declaration, key);
      }
    };
    walk(statement, {
      enter(node) {
        if (node.type === 'ReturnStatement' && node.argument) note(bareNode(node.argument));
        if (node.type !== 'CallExpression' || !codeTaskOf(node)) return;
        const handed = bareNode(node.arguments[1]!);
        note(handed);
        for (const property of handed.type === 'ObjectExpression' ? handed.properties : []) {
          const spread = property.type === 'SpreadElement' ? bareNode(property.argument) : null;
          if (spread?.type === 'ConditionalExpression') note(bareNode(spread.alternate));
        }
      },
    });
  }
}

/** How statements begin, as people know them. */
const WORDS: Readonly<Record<string, string>> = {
  ForStatement: 'for',
  ForInStatement: 'for in',
  WhileStatement: 'while',
  DoWhileStatement: 'do',
  SwitchStatement: 'switch',
  TryStatement: 'try',
  ThrowStatement: 'throw',
  ClassDeclaration: 'class',
  LabeledStatement: 'a label',
};

function helperOf(text: string): PlanHelper | undefined {
  return (Object.keys(PLAN_HELPERS) as PlanHelper[]).find((name) => PLAN_HELPERS[name] === text);
}

/** `out.push(value)` */
function pushOf(wrapped: Node): { list: Node & { type: 'Identifier' }; value: Node } | null {
  const node = bareNode(wrapped);
  if (node.type !== 'CallExpression' || node.arguments.length !== 1) return null;
  const callee = bareNode(node.callee);
  if (callee.type !== 'MemberExpression' || staticKey(callee.property, callee.computed) !== 'push')
    return null;
  const list = bareNode(callee.object);
  return list.type === 'Identifier' ? { list, value: node.arguments[0]! } : null;
}
