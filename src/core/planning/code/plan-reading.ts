import type { Node } from 'oxc-parser';
import { type ScopeTrackerNode, walk } from 'oxc-walker';
import { type Names, resolveNames } from '../../capabilities/names.ts';
import { type ParsedProgram, positionAt } from '../../structure/parse/parse-program.ts';
import type { Condition } from '../../vocabulary/plan.ts';
import type { PlanHelper } from '../plan/conditions.ts';
import { referencedTasks } from '../plan/references.ts';
import { usedTasks } from '../plan/validate-plan.ts';
import { conditionsOf, type DraftedTask, PlanDraft } from './plan-draft.ts';
import { printKey, printMember } from './print-values.ts';
import { ProgramCalls } from './program-calls.ts';
import { type CodeValue, readCondition, readValue, toArgument } from './read-value.ts';

/** Names that no task may have: they mean something else in references. */
const ITEM_NAMES = ['item', 'index'];

/** The state while a program is read: what its names mean so far, and the tasks found so far. */
export class PlanReading {
  readonly names: Names;
  /** Names of the inputs there are; null where nobody knows yet. */
  readonly given: ReadonlySet<string> | null;
  readonly calls: ProgramCalls;
  readonly draft: PlanDraft;
  readonly pure: PureCode;
  readonly values = new Map<ScopeTrackerNode, CodeValue>();
  readonly helpers = new Map<ScopeTrackerNode, PlanHelper>();
  readonly made = new Map<Node, CodeValue>();
  readonly reasons: string[] = [];
  /** Names under which the program hands variables to code: the tasks that made them are called so. */
  readonly hints = new Map<ScopeTrackerNode, string>();
  /** What has to hold where the reading stands. */
  conditions: readonly Condition[] = [];
  readonly #program: ParsedProgram;
  readonly #inputs = new Set<string>();

  constructor(program: ParsedProgram, inputs: ReadonlySet<string> | null) {
    this.#program = program;
    this.given = inputs;
    this.names = resolveNames(program.program);
    this.calls = new ProgramCalls(program.program, this.names);
    this.draft = new PlanDraft([...ITEM_NAMES, ...(inputs ?? []), ...inputNames(this.names)]);
    const { names, values, made } = this;
    const isTask = (root: string) => this.draft.tasks.some(({ id }) => id === root);
    this.pure = new PureCode({ names, values, made, isTask, text: program.text });
  }

  get inputs(): readonly string[] {
    return [...this.#inputs];
  }

  textOf({ start, end }: Node): string {
    return this.#program.text.slice(start, end);
  }

  /** Notes why the program cannot be converted to a plan. */
  refuse(node: Node, why: string): null {
    const { line } = positionAt(this.#program.source, node.start - this.#program.offset);
    const reason = `line ${line}: ${why}`;
    if (!this.reasons.includes(reason)) this.reasons.push(reason);
    return null;
  }

  valueOf(node: Node): CodeValue | null {
    return readValue(this, node);
  }

  /** A task; null, with the reason noted, if it uses the result of a task that may not have run. */
  add(node: Node, drafted: Omit<DraftedTask, 'conditions'>): CodeValue | null {
    const conditions = this.conditions;
    const known = new Set(this.draft.tasks.map(({ id }) => id));
    const like = { arguments: drafted.arguments, forEach: drafted.forEach };
    const used = usedTasks({ ...like, id: '', code: '', dependsOn: [] }, known);
    const [uncertain] = this.draft.uncertain(used, conditions);
    if (uncertain !== undefined)
      return this.refuse(node, `uses the result of "${uncertain}", which may not have run`);
    this.#noteInputs([drafted.arguments, drafted.forEach], known);
    return { kind: 'reference', root: this.draft.add({ ...drafted, conditions }), steps: [] };
  }

  /** A condition as plans have them, else the result of code that says whether it holds. */
  conditionOf(node: Node): Condition | null {
    const condition = readCondition(this, node);
    if (condition !== null && this.#isCertain(condition)) {
      this.noteInputs(condition);
      return condition;
    }
    const value = this.computed(node, 'condition', (text) => `Boolean(${text})`);
    return value && (toArgument(value) as string);
  }

  /** In a plan, a condition on a task that did not run is not evaluated. */
  #isCertain(condition: Condition): boolean {
    const known = new Set(this.draft.tasks.map(({ id }) => id));
    const used = referencedTasks(condition).filter((id) => known.has(id));
    const parts = conditionsOf(condition).filter((part) => typeof part === 'object' && 'exists' in part);
    return this.draft.uncertain(used, [...this.conditions, ...parts]).length === 0;
  }

  /** The value of an expression as an argument; computed by code where plans cannot express it. */
  argumentOf(node: Node, hint: string): unknown {
    const value = this.valueOf(node);
    if (value && value.kind !== 'api' && value.kind !== 'inputs') return toArgument(value);
    const computed = this.computed(node, hint);
    return computed ? toArgument(computed) : undefined;
  }

  /** A task that computes an expression; null, with the reason noted, if that is not possible. */
  computed(node: Node, hint: string, wrap = (text: string) => text): CodeValue | null {
    const cut = this.pure.cut(node);
    if (typeof cut === 'string') return this.refuse(node, `cannot be computed on its own: ${cut}`);
    const code = [cut.head, `return ${wrap(cut.body)};`].filter((line) => line !== '').join('\n');
    const args = this.inputsFor(cut);
    const same = this.draft.same(code, args, this.conditions);
    if (same !== undefined) return { kind: 'reference', root: same, steps: [] };
    return this.add(node, { body: { code }, hint, arguments: args, deps: cut.deps, effect: 'computes' });
  }

  /** Arguments by which code gets the program's inputs. */
  inputsFor({ inputs }: CutCode): Record<string, string> {
    const there = inputs.filter((name) => this.given?.has(name) ?? true);
    for (const name of there) this.#inputs.add(name);
    return Object.fromEntries(there.map((name) => [name, `\${${name}}`]));
  }

  /** Inputs that a result or condition names. */
  noteInputs(value: unknown): void {
    this.#noteInputs(value, new Set(this.draft.tasks.map(({ id }) => id)));
  }

  #noteInputs(value: unknown, tasks: ReadonlySet<string>): void {
    for (const root of referencedTasks(value))
      if (!tasks.has(root) && !ITEM_NAMES.includes(root)) this.#inputs.add(root);
  }
}

/** `args.name` in the program, so that no task takes the name. */
function inputNames(names: Names): string[] {
  return names.free('args').flatMap((use) => {
    const user = names.parentOf(use);
    if (user?.type === 'MemberExpression' && user.property.type === 'Identifier') return [user.property.name];
    return user?.type === 'VariableDeclarator' && user.id.type === 'ObjectPattern'
      ? user.id.properties.flatMap((property) =>
          property.type === 'Property' && property.key.type === 'Identifier' ? [property.key.name] : [],
        )
      : [];
  });
}

/** A statement that makes no calls: it runs wherever its result is used. */
interface PureStatement {
  readonly node: Node;
  readonly head: string;
  readonly declares: ReadonlySet<ScopeTrackerNode>;
  readonly mentions: ReadonlySet<ScopeTrackerNode>;
  /** Declarations that only make something; all else may change what it mentions. */
  readonly isDeclaration: boolean;
}

/** A self-contained piece of a program. */
export interface CutCode {
  /** Statements that make what the piece needs, from `args` and `deps`. */
  readonly head: string;
  readonly body: string;
  readonly deps: readonly string[];
  /** Names of the program's inputs that it needs. */
  readonly inputs: readonly string[];
}

export interface PureCodeParts {
  readonly names: Names;
  readonly values: ReadonlyMap<ScopeTrackerNode, CodeValue>;
  readonly made: ReadonlyMap<Node, CodeValue>;
  readonly isTask: (root: string) => boolean;
  /** The program within its function, as offsets in the tree count. */
  readonly text: string;
}

/** What lies between the calls of a program, and how pieces of it are cut out. */
export class PureCode {
  readonly #parts: PureCodeParts;
  readonly #statements: PureStatement[] = [];

  constructor(parts: PureCodeParts) {
    this.#parts = parts;
  }

  add(node: Node, head = ''): void {
    const { declares, mentions } = this.#namesIn(node);
    const isDeclaration = head !== '' || node.type === 'FunctionDeclaration';
    this.#statements.push({ node, head, declares, mentions, isDeclaration });
  }

  /** A piece with all it needs; text: why it cannot stand by itself. */
  cut(node: Node, given: ReadonlySet<ScopeTrackerNode> = new Set()): CutCode | string {
    const { mentions } = this.#namesIn(node);
    const { needed, slice } = this.#slice(mentions);
    const deps = new Set<string>();
    const inputs = new Set<string>();
    const lines: string[] = [];
    const spelt = new Map<string, ScopeTrackerNode>();
    for (const declaration of needed) {
      if (given.has(declaration)) continue;
      const name = nameOf(declaration);
      if (spelt.has(name)) return `"${name}" has several meanings`;
      spelt.set(name, declaration);
      const value = this.#parts.values.get(declaration);
      if (!value) return `"${name}" is not defined yet`;
      const printed = this.#print(value, deps, inputs);
      if (printed === null) return `"${name}" cannot be passed to code`;
      lines.push(`const ${name} = ${printed};`);
    }
    const pieces = [...slice, { node, head: '' }].map(({ node: piece, head }) => ({
      head,
      text: this.#textOf(piece, deps, inputs),
    }));
    const lost = pieces.find(({ text }) => text === null);
    if (lost) return 'it uses "args" as a whole';
    const [body = '', ...rest] = pieces
      .map(({ head, text }) => (head === '' ? text! : `${head}${text};`))
      .toReversed();
    return { head: [...lines, ...rest.toReversed()].join('\n'), body, deps: [...deps], inputs: [...inputs] };
  }

  /** The declarations that the piece needs, and the statements that make or may change them. */
  #slice(first: ReadonlySet<ScopeTrackerNode>): { needed: Set<ScopeTrackerNode>; slice: PureStatement[] } {
    const needed = new Set(first);
    const chosen = new Set<PureStatement>();
    for (let before = -1; before < chosen.size; ) {
      before = chosen.size;
      for (const statement of this.#statements) {
        const { declares, mentions, isDeclaration } = statement;
        const isMade = [...declares].some((one) => needed.has(one) && !this.#parts.values.has(one));
        const mayChange =
          !isDeclaration && [...mentions].some((one) => needed.has(one) && !this.#parts.values.has(one));
        if (chosen.has(statement) || !(isMade || mayChange)) continue;
        chosen.add(statement);
        for (const one of mentions) needed.add(one);
      }
    }
    for (const { declares } of chosen) for (const one of declares) needed.delete(one);
    return { needed, slice: this.#statements.filter((statement) => chosen.has(statement)) };
  }

  /** What the node declares itself, and what it uses of others. */
  #namesIn(node: Node) {
    const { names, made } = this.#parts;
    const declares = new Set<ScopeTrackerNode>();
    const mentions = new Set<ScopeTrackerNode>();
    walk(node, {
      enter(inner) {
        if (made.has(inner)) this.skip();
        const declaration = inner.type === 'Identifier' ? names.declarationOf(inner) : null;
        if (!declaration || made.has(inner)) return;
        const { start, end } = declaration.node as Node;
        if (start >= node.start && end <= node.end) declares.add(declaration);
        else if (names.usesOf(inner).includes(inner)) mentions.add(declaration);
      },
    });
    return { declares, mentions };
  }

  /** The text with what calls gave in their place; null when it uses `args` as a whole. */
  #textOf(node: Node, deps: Set<string>, inputs: Set<string>): string | null {
    const { names, made, text } = this.#parts;
    const edits: { start: number; end: number; text: string }[] = [];
    let isWhole = true;
    walk(node, {
      enter: (inner, parent) => {
        const value = made.get(inner);
        if (value)
          edits.push({ start: inner.start, end: inner.end, text: this.#print(value, deps, inputs) ?? '' });
        if (inner.type !== 'Identifier' || inner.name !== 'args' || names.declarationOf(inner)) return;
        if (!names.free('args').includes(inner)) return;
        const input = parent?.type === 'MemberExpression' && parent.object === inner ? parent : null;
        const name =
          input && !input.computed && input.property.type === 'Identifier' ? input.property.name : null;
        if (name === null) isWhole = false;
        else inputs.add(name);
      },
    });
    if (!isWhole) return null;
    let result = '';
    let at = node.start;
    for (const edit of edits.sort((a, b) => a.start - b.start)) {
      if (edit.start < at) continue;
      result += text.slice(at, edit.start) + edit.text;
      at = edit.end;
    }
    return result + text.slice(at, node.end);
  }

  /** A value as code that has `args` and `deps`; null for what they cannot hold. */
  #print(value: CodeValue, deps: Set<string>, inputs: Set<string>): string | null {
    const inner = (one: CodeValue) => this.#print(one, deps, inputs);
    switch (value.kind) {
      case 'literal':
        return value.value === undefined ? 'undefined' : JSON.stringify(value.value);
      case 'reference': {
        const isTask = this.#parts.isTask(value.root);
        (isTask ? deps : inputs).add(value.root);
        return [isTask ? 'deps' : 'args', ...[value.root, ...value.steps].map(printMember)].join('');
      }
      case 'list': {
        const items = value.items.map(inner);
        return items.includes(null) ? null : `[${items.join(', ')}]`;
      }
      case 'object': {
        const fields = [...value.fields].map(([name, field]) => [printKey(name), inner(field)] as const);
        if (fields.some(([, field]) => field === null)) return null;
        return `{ ${fields.map(([name, field]) => `${name}: ${field}`).join(', ')} }`;
      }
      default:
        return null;
    }
  }
}

function nameOf({ node }: ScopeTrackerNode): string {
  const named = node as { name?: string; id?: { name?: string } };
  return named.name ?? named.id?.name ?? '';
}
