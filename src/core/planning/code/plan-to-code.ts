import { parseToolId, splitToolId } from '../../vocabulary/ids.ts';
import type { Plan, Task } from '../../vocabulary/plan.ts';
import { PLAN_HELPERS, type PlanHelper } from '../plan/conditions.ts';
import { referencedTasks } from '../plan/references.ts';
import { layersOf, usedTasks, withUsedTasks } from '../plan/validate-plan.ts';
import { type Printing, printCondition, printKey, printMember, printValue } from './print-values.ts';

/** Names that mean something else in a program; those of the language begin with a capital letter, but for a few. */
const TAKEN = new Set(
  `mcp capabilities args deps console inputs item index arguments async await break case catch class const
  continue debugger default delete do else enum eval export extends false finally for function globalThis if
  implements import in instanceof interface let new null of package private protected public return static super
  switch this throw true try typeof undefined var void while with yield parseInt parseFloat isNaN isFinite
  encodeURI encodeURIComponent decodeURI decodeURIComponent escape unescape`
    .split(/\s+/)
    .concat(Object.keys(PLAN_HELPERS)),
);

/**
 * A valid plan as TypeScript for the sandbox: tasks that may run at once do, layer by layer, and its result
 * is returned: what it says itself, else what the last tasks gave, by id where there are several. Where no task of the plan fails, the code gives what the
 * plan gives; time limits and retries are the plan's alone.
 */
export function planToCode(given: Plan): string {
  const plan = withUsedTasks(given);
  const printer = new Printer(plan);
  const steps = layersOf(plan.tasks).map((layer) => printer.layer(layer));
  const end = printer.end();
  return `${[...printer.head(), ...steps, end].join('\n')}\n`;
}

class Printer implements Printing {
  readonly #plan: Plan;
  readonly #tasks: ReadonlyMap<string, Task>;
  readonly #names: ReadonlyMap<string, string>;
  /** Tasks that may not run: by their own condition, or since they use one that may not. */
  readonly #skippable = new Set<string>();
  readonly #helpers = new Set<PlanHelper>();

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#tasks = new Map(plan.tasks.map((task) => [task.id, task]));
    this.#names = variableNames(plan.tasks.map(({ id }) => id));
    for (const id of layersOf(plan.tasks).flat()) {
      const task = this.#task(id);
      const uses = usedTasks(task, new Set(this.#tasks.keys()));
      if (task.when !== undefined || uses.some((used) => this.#skippable.has(used))) this.#skippable.add(id);
    }
  }

  placeOf(root: string): readonly [variable: string, ...steps: string[]] {
    const name = this.#names.get(root);
    if (name !== undefined) return [name];
    if (root === 'item' || root === 'index') return [root];
    return [this.#plan.arguments ? 'inputs' : 'args', root];
  }

  need(helper: PlanHelper): PlanHelper {
    this.#helpers.add(helper);
    return helper;
  }

  /** Called last: only then it is known what is needed. */
  head(): string[] {
    const { arguments: values } = this.#plan;
    const fields = Object.entries(values ?? {}).map(
      ([name, value]) => `${printKey(name)}: ${JSON.stringify(value)}, `,
    );
    return [
      ...[...this.#helpers].map((name) => `const ${name} = ${PLAN_HELPERS[name]};`),
      ...(values ? [`const inputs = { ${fields.join('')}...args };`] : []),
    ];
  }

  layer(ids: readonly string[]): string {
    const made = ids.map((id) => ({ name: this.#nameOf(id), call: this.#call(this.#task(id)) }));
    const reasons = ids.flatMap((id) => {
      const { reason } = this.#task(id);
      return reason === undefined ? [] : [`// ${id}: ${reason.replace(/\s+/g, ' ')}\n`];
    });
    const [only, ...more] = made;
    if (only && more.length === 0)
      return `${reasons.join('')}const ${only.name} = ${awaited(only.call, this.#guard(this.#task(ids[0]!)))};`;
    const calls = ids.map((id, i) => {
      const guard = this.#guard(this.#task(id));
      return `  ${guard === null ? made[i]!.call : `${guard} ? ${made[i]!.call} : undefined`},\n`;
    });
    const names = made.map(({ name }) => name).join(', ');
    return `${reasons.join('')}const [${names}] = await Promise.all([\n${calls.join('')}]);`;
  }

  end(): string {
    const { result } = this.#plan;
    if (result !== undefined) return `return ${printValue(result, this)};`;
    const used = new Set(this.#plan.tasks.flatMap(({ dependsOn }) => dependsOn));
    const last = this.#plan.tasks.filter(({ id }) => !used.has(id)).map(({ id }) => id);
    if (last.length === 1) return `return ${this.#nameOf(last[0]!)};`;
    return `return { ${last.map((id) => this.#field(id)).join(', ')} };`;
  }

  #nameOf(id: string): string {
    return this.#names.get(id)!;
  }

  #task(id: string): Task {
    return this.#tasks.get(id)!;
  }

  /** `read`, or `"read-it": readIt` */
  #field(id: string): string {
    const name = this.#nameOf(id);
    return name === id ? name : `${printKey(id)}: ${name}`;
  }

  /** What has to hold for the task to run; null where nothing has to. */
  #guard(task: Task): string | null {
    const used = usedTasks(task, new Set(this.#tasks.keys())).filter((id) => this.#skippable.has(id));
    const all = [
      ...used.map((id) => `${this.#nameOf(id)} !== undefined`),
      ...(task.when === undefined ? [] : [printCondition(task.when, this)]),
    ];
    return all.length === 0 ? null : all.join(' && ');
  }

  /** A promise, or a list's worth of them as one. */
  #call(task: Task): string {
    const { forEach } = task;
    if (forEach === undefined) return this.#single(task);
    const uses = referencedTasks(task.arguments);
    const params = uses.includes('index') ? 'item, index' : uses.includes('item') ? 'item' : '';
    return `Promise.all(${printValue(forEach, this)}.map((${params}) => ${this.#single(task)}))`;
  }

  #single(task: Task): string {
    const args = printValue(task.arguments, this);
    if (task.tool !== undefined) {
      const { server, tool } = splitToolId(parseToolId(task.tool));
      return `mcp${printMember(server)}${printMember(tool)}(${args})`;
    }
    if (task.capability !== undefined) return `capabilities${printMember(task.capability)}(${args})`;
    const isNamed = task.name !== undefined && !task.name.includes('.');
    const head = isNamed ? `async function ${task.name}(args, deps)` : 'async (args, deps) =>';
    return `(${head} {\n${task.code}\n})(${args}, ${this.#deps(task)})`;
  }

  #deps({ dependsOn }: Task): string {
    const fields = dependsOn.map((id) =>
      this.#skippable.has(id)
        ? `...(${this.#nameOf(id)} === undefined ? {} : { ${this.#field(id)} })`
        : this.#field(id),
    );
    return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
  }
}

function awaited(call: string, guard: string | null): string {
  return guard === null ? `await ${call}` : `${guard} ? await ${call} : undefined`;
}

/** `read-each file` -> `readEachFile`; unique, and never a reserved name. */
function variableNames(ids: readonly string[]): Map<string, string> {
  const names = new Map<string, string>();
  const taken = new Set(TAKEN);
  for (const id of ids) {
    const words = id.split(/[^\p{ID_Continue}]+/u).filter((word) => word !== '');
    const camel = words.map((word, i) => (i === 0 ? lowered(word) : word[0]!.toUpperCase() + word.slice(1)));
    const base = camel.join('').replace(/^(?!\p{ID_Start})/u, 't');
    let name = base;
    for (let n = 2; taken.has(name); n++) name = `${base}${n}`;
    taken.add(name);
    names.set(id, name);
  }
  return names;
}

/** Names with a capital letter are the language's. */
function lowered(word: string): string {
  return word[0]!.toLowerCase() + word.slice(1);
}
