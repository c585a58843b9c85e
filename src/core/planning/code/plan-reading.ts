import type { Node } from 'oxc-parser';
import type { ScopeTrackerNode } from 'oxc-walker';
import { type Names, resolveNames } from '../../capabilities/names.ts';
import type { ParsedProgram } from '../../structure/parse/parse-program.ts';
import { positionAt } from '../../structure/parse/source-position.ts';
import type { Condition } from '../../vocabulary/plan.ts';
import { referencedTasks } from '../plan/references.ts';
import { usedTasks } from '../plan/validate-plan.ts';
import { type CodeValue, toArgument } from './code-value.ts';
import { conditionsOf, type DraftedTask, PlanDraft } from './plan-draft.ts';
import type { PlanHelper } from './print-values.ts';
import { ProgramCalls } from './program-calls.ts';
import { type CutCode, PureCode } from './pure-code.ts';
import { readCondition, readValue } from './read-value.ts';

/** Names that no task may have: they mean something else in references. */
const ITEM_NAMES = ['item', 'index'];

/** Where the reading of a program stands: what its names are by now, and the tasks it has come to. */
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

  /** A task; null, with the reason noted, where it uses what may not have run. */
  add(node: Node, drafted: Omit<DraftedTask, 'conditions'>): CodeValue | null {
    const conditions = this.conditions;
    const known = new Set(this.draft.tasks.map(({ id }) => id));
    const like = { arguments: drafted.arguments, forEach: drafted.forEach };
    const used = usedTasks({ ...like, id: '', code: '', dependsOn: [] }, known);
    const [uncertain] = this.draft.uncertain(used, conditions);
    if (uncertain !== undefined)
      return this.refuse(node, `uses what "${uncertain}" gave, which may not have run`);
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

  /** In a plan, a condition on what did not run is not even asked. */
  #isCertain(condition: Condition): boolean {
    const known = new Set(this.draft.tasks.map(({ id }) => id));
    const used = referencedTasks(condition).filter((id) => known.has(id));
    const parts = conditionsOf(condition).filter((part) => typeof part === 'object' && 'exists' in part);
    return this.draft.uncertain(used, [...this.conditions, ...parts]).length === 0;
  }

  /** What an expression gives, as an argument; by way of code where plans cannot say it. */
  argumentOf(node: Node, hint: string): unknown {
    const value = this.valueOf(node);
    if (value && value.kind !== 'api' && value.kind !== 'inputs') return toArgument(value);
    const computed = this.computed(node, hint);
    return computed ? toArgument(computed) : undefined;
  }

  /** A task that works an expression out from what is there; null, with the reason noted, where it cannot. */
  computed(node: Node, hint: string, wrap = (text: string) => text): CodeValue | null {
    const cut = this.pure.cut(node);
    if (typeof cut === 'string') return this.refuse(node, `cannot be worked out by itself: ${cut}`);
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
