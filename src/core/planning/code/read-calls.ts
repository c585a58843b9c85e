import type { Node } from 'oxc-parser';
import { bareNode, staticKey } from '../../capabilities/bare-node.ts';
import { toolId } from '../../vocabulary/ids.ts';
import type { TaskBody } from '../../vocabulary/plan.ts';
import { PmlError } from '../../vocabulary/pml-error.ts';
import {
  bindPattern,
  childrenOf,
  declaredIn,
  type LoopBody,
  mappingOf,
  plainArguments,
} from './code-shapes.ts';
import { conditionsOf, type DraftedTask, type Effect } from './plan-draft.ts';
import type { PlanReading } from './plan-reading.ts';
import { codeTaskOf, rootOf } from './program-calls.ts';
import { type CodeValue, isPromiseAll } from './read-value.ts';

export type OnlyReads = (call: { readonly tool?: string; readonly capability?: string }) => boolean;
type NewTask = Omit<DraftedTask, 'conditions'>;
type FunctionNode = Node & { type: 'ArrowFunctionExpression' | 'FunctionExpression' };

/** Turns the calls in an expression into tasks, in the order in which the program makes them. */
export class CallReader {
  readonly #reading: PlanReading;
  readonly #onlyReads: OnlyReads;

  constructor(reading: PlanReading, onlyReads: OnlyReads) {
    this.#reading = reading;
    this.#onlyReads = onlyReads;
  }

  /** False, with the reason noted, where a call cannot become a task. */
  read(wrapped: Node, hint = ''): boolean {
    const reading = this.#reading;
    const node = bareNode(wrapped);
    if (reading.made.has(node) || !reading.calls.isIn(node)) return true;
    switch (node.type) {
      case 'Identifier':
      case 'MemberExpression':
        // The result of a call is not a tool, whatever is taken from it.
        if (rootOf(node).type !== 'Identifier') break;
        reading.refuse(node, 'passes tools on; write the calls where they are made');
        return false;
      case 'AwaitExpression':
        return this.read(node.argument, hint);
      case 'ConditionalExpression':
        return this.#readChoice(node, hint);
      case 'CallExpression':
        return this.#readCall(node, hint);
      case 'ArrowFunctionExpression':
      case 'FunctionExpression':
      case 'ClassExpression':
        reading.refuse(node, 'calls tools inside a function, which may run any number of times');
        return false;
      case 'LogicalExpression':
        if (!reading.calls.isIn(node.right)) return this.read(node.left);
        reading.refuse(
          node,
          `calls a tool depending on the left side of "${node.operator}"; write it with "if"`,
        );
        return false;
      case 'AssignmentExpression':
        reading.refuse(node, 'assigns the result of a call to a variable; use a new "const" for it');
        return false;
    }
    return childrenOf(node).every((child) => this.read(child));
  }

  /** `condition ? await call : undefined` */
  #readChoice(node: Node & { type: 'ConditionalExpression' }, hint: string): boolean {
    const reading = this.#reading;
    if (!this.read(node.test)) return false;
    const otherwise = reading.valueOf(node.alternate);
    if (otherwise?.kind !== 'literal' || otherwise.value !== undefined) {
      reading.refuse(node, 'chooses between calls; write one as "condition ? await call : undefined"');
      return false;
    }
    const condition = reading.conditionOf(node.test);
    if (condition === null) return false;
    const before = reading.conditions;
    reading.conditions = [...before, ...conditionsOf(condition)];
    const isRead = this.read(node.consequent, hint);
    reading.conditions = before;
    const value = isRead ? reading.valueOf(node.consequent) : null;
    if (value?.kind !== 'reference' || value.steps.length > 0) {
      if (isRead) reading.refuse(node, 'makes more than one call in a choice; write it with "if"');
      return false;
    }
    reading.made.set(node, value);
    return true;
  }

  #readCall(node: Node & { type: 'CallExpression' }, hint: string): boolean {
    const reading = this.#reading;
    const [first] = node.arguments;
    if (isPromiseAll(reading, node) && first) return this.#readAtOnce(node, bareNode(first), hint);
    const callee = bareNode(node.callee);
    const code = codeTaskOf(node);
    if (code) {
      const task = this.#codeTask(node, code, hint);
      return this.#keep(node, task && reading.add(node, task));
    }
    const target = reading.valueOf(callee);
    if (target?.kind === 'api') return this.#keep(node, this.#toolTask(node, target.path, hint));
    if (callee.type === 'Identifier' && reading.calls.isIn(callee)) {
      const isKnown = reading.names.declarationOf(callee) !== null;
      const why = isKnown ? 'calls tools inside a function' : 'passes tools on';
      reading.refuse(node, `${why}; write the calls where they are made`);
      return false;
    }
    if (callee.type === 'MemberExpression' && reading.calls.isIn(callee.object)) {
      if (rootOf(callee).type === 'Identifier') {
        reading.refuse(node, 'which tool is called is known only at run time');
        return false;
      }
      if (!this.read(callee.object)) return false;
    }
    return node.arguments.every((argument) => this.read(argument));
  }

  /** `Promise.all([…])`, or of a list that is gone through. */
  #readAtOnce(node: Node & { type: 'CallExpression' }, list: Node, hint: string): boolean {
    const reading = this.#reading;
    if (list.type === 'ArrayExpression') {
      let isRead = true;
      reading.draft.together(() => {
        isRead = list.elements.every((element) => element === null || this.read(element));
      });
      return isRead;
    }
    const mapped = mappingOf(list);
    if (mapped) return this.#keep(node, this.#readLoop(mapped.list, mapped.each, hint, false));
    return this.read(list);
  }

  /** A task for each item; null, with the reason noted, if the loop cannot be converted. */
  readLoop(list: Node, each: LoopBody, hint: string): CodeValue | null {
    return this.#readLoop(list, each, hint, true);
  }

  #readLoop(list: Node, each: LoopBody, hint: string, isInOrder: boolean): CodeValue | null {
    const reading = this.#reading;
    if (!this.read(list)) return null;
    const items = reading.argumentOf(list, 'items');
    if (items === undefined) return null;
    const call = bareNode(each.call);
    const inner = call.type === 'AwaitExpression' ? bareNode(call.argument) : call;
    const target = inner.type === 'CallExpression' ? reading.valueOf(inner.callee) : null;
    const bound = each.params.map((param, i) =>
      bindPattern(reading, param, { kind: 'reference', root: i === 0 ? 'item' : 'index', steps: [] }),
    );
    if (inner.type === 'CallExpression' && target?.kind === 'api' && bound.every(Boolean)) {
      const body = this.#bodyOf(inner, target.path);
      if (!body) return null;
      const effect = this.#onlyReads(body) ? 'reads' : 'writes';
      if (effect === 'writes' && isInOrder)
        return reading.refuse(inner, 'repeats a call that may have effects; their order would be lost');
      const args = plainArguments(reading, inner);
      if (args)
        return reading.add(inner, {
          body,
          hint: hint || hintOf(body),
          arguments: args,
          forEach: items,
          effect,
        });
    }
    const code = inner.type === 'CallExpression' ? codeTaskOf(inner) : null;
    if (inner.type === 'CallExpression' && code && !isInOrder) {
      const task = this.#codeTask(inner, code, hint);
      return task && reading.add(inner, { ...task, forEach: items });
    }
    if (isInOrder)
      return reading.refuse(each.call, 'makes more than one call with plain arguments for each item');
    return this.#loopCode(items, each, hint);
  }

  /** A loop body that is more than one call: code that is run for each item. */
  #loopCode(items: unknown, each: LoopBody, hint: string): CodeValue | null {
    const reading = this.#reading;
    const cut = reading.pure.cut(each.body, declaredIn(reading, each.params));
    if (typeof cut === 'string') return reading.refuse(each.body, `cannot be run on its own: ${cut}`);
    const params = each.params.map(
      (param, i) => `const ${reading.textOf(param)} = args.${i === 0 ? 'item' : 'index'};`,
    );
    const body = each.body.type === 'BlockStatement' ? cut.body : `return ${cut.body};`;
    const code = [...params, cut.head, body].filter((line) => line !== '').join('\n');
    const args = Object.fromEntries(
      ['item', 'index'].slice(0, params.length).map((name) => [name, `\${${name}}`]),
    );
    return reading.add(each.body, {
      body: { code },
      hint: hint || 'each',
      arguments: { ...reading.inputsFor(cut), ...args },
      deps: cut.deps,
      forEach: items,
      effect: this.#effectOf(each.body),
    });
  }

  #toolTask(
    node: Node & { type: 'CallExpression' },
    path: readonly string[],
    hint: string,
  ): CodeValue | null {
    const reading = this.#reading;
    const body = this.#bodyOf(node, path);
    if (!body || !node.arguments.every((argument) => this.read(argument))) return null;
    const args = this.#argumentsOf(node);
    return (
      args &&
      reading.add(node, {
        body,
        hint: hint || hintOf(body),
        arguments: args,
        effect: this.#onlyReads(body) ? 'reads' : 'writes',
      })
    );
  }

  #bodyOf(node: Node, [root, first = '', second, ...more]: readonly string[]): TaskBody | null {
    const reading = this.#reading;
    if (root === 'capabilities' && first !== '' && second === undefined) return { capability: first };
    if (root !== 'mcp' || second === undefined || more.length > 0)
      return reading.refuse(node, 'calls no tool: write mcp.server.tool(args)');
    try {
      return { tool: toolId(first, second) };
    } catch (error) {
      return reading.refuse(node, PmlError.from(error).message);
    }
  }

  #argumentsOf(node: Node & { type: 'CallExpression' }): Record<string, unknown> | null {
    const reading = this.#reading;
    const plain = plainArguments(reading, node);
    if (plain) return plain;
    const given = bareNode(node.arguments[0]!);
    if (given.type !== 'ObjectExpression' || given.properties.some(({ type }) => type === 'SpreadElement'))
      return reading.refuse(node, 'the arguments of this call are known only at run time');
    const fields = given.properties.map((property) => {
      if (property.type !== 'Property') return null;
      const key = staticKey(property.key, property.computed);
      if (key === null || property.kind !== 'init') return null;
      return [key, reading.argumentOf(property.value, key)] as const;
    });
    if (!fields.every((field) => field !== null))
      return reading.refuse(node, 'the arguments of this call are known only at run time');
    return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
  }

  /** `(async (args, deps) => {…})({…}, {…})`: code as a plan's task has it. */
  #codeTask(node: Node & { type: 'CallExpression' }, fn: FunctionNode, hint: string): NewTask | null {
    const reading = this.#reading;
    const [, handed] = node.arguments;
    const cut = reading.pure.cut(fn.body!, declaredIn(reading, fn.params));
    if (typeof cut === 'string' || cut.head !== '' || cut.deps.length > 0 || !handed)
      return reading.refuse(node, 'is code that uses more than its args and deps');
    const deps = depsOf(reading, bareNode(handed));
    const args = plainArguments(reading, node);
    if (!deps || !args) return reading.refuse(node, 'passes on something that is not the result of a call');
    const text = reading.textOf(fn.body!);
    const name = fn.type === 'FunctionExpression' && fn.id ? { name: fn.id.name } : {};
    const code = text.slice(1, -1).replace(/^\n/, '').replace(/\n$/, '');
    const effect = this.#effectOf(fn.body!);
    return { body: { code }, hint: hint || 'code', arguments: args, deps, effect, ...name };
  }

  /** By the tools that a piece of code names. */
  #effectOf(node: Node): Effect {
    const reading = this.#reading;
    if (!reading.calls.isIn(node)) return 'checks';
    let isSafe = true;
    const visit = (wrapped: Node) => {
      const inner = bareNode(wrapped);
      if (!reading.calls.isIn(inner)) return;
      const target = inner.type === 'CallExpression' ? reading.valueOf(inner.callee) : null;
      if (inner.type === 'CallExpression' && target?.kind === 'api') {
        const [root, first = '', second = ''] = target.path;
        isSafe &&= this.#onlyReads(root === 'mcp' ? { tool: `${first}:${second}` } : { capability: first });
        for (const argument of inner.arguments) visit(argument);
      } else if (inner.type === 'Identifier' || inner.type === 'MemberExpression') isSafe = false;
      else for (const child of childrenOf(inner)) visit(child);
    };
    visit(node);
    return isSafe ? 'reads' : 'writes';
  }

  #keep(node: Node, value: CodeValue | null): boolean {
    if (value) this.#reading.made.set(node, value);
    return value !== null;
  }
}

/** What a task is called that nobody gave a name. */
function hintOf({ tool, capability }: TaskBody): string {
  return tool?.slice(tool.indexOf(':') + 1) ?? capability ?? 'code';
}

/** The tasks in `{ list, "read-it": readIt, ...(read === undefined ? {} : { read }) }`. */
function depsOf(reading: PlanReading, node: Node): string[] | null {
  if (node.type !== 'ObjectExpression') return null;
  const deps: string[] = [];
  for (const property of node.properties) {
    if (property.type === 'SpreadElement') {
      const choice = bareNode(property.argument);
      const inner =
        choice.type === 'ConditionalExpression' ? depsOf(reading, bareNode(choice.alternate)) : null;
      if (!inner) return null;
      deps.push(...inner);
      continue;
    }
    const value = reading.valueOf(property.value);
    const key = staticKey(property.key, property.computed);
    if (value?.kind !== 'reference' || value.steps.length > 0 || value.root !== key) return null;
    deps.push(key);
  }
  return deps;
}
