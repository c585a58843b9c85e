import type { Plan, Task } from '../../vocabulary/plan.ts';
import { PmlError } from '../../vocabulary/pml-error.ts';
import { isReference } from './references.ts';

export interface GivenPlan {
  readonly plan: Plan;
  /** Names of values that no task takes, or more than one. */
  readonly unplaced: readonly string[];
}

/**
 * A suggested plan with the values that its caller gives: those of its inputs, and those that were filled in from past
 * runs and are meant otherwise now, by the name of the argument, or tool and argument where several tasks have it.
 */
export function withGiven(plan: Plan, given: Readonly<Record<string, unknown>>): GivenPlan {
  const isInput = (name: string) => plan.inputs.some((input) => input.name === name);
  const inputs = Object.entries(given).filter(([name]) => isInput(name));
  let { tasks } = plan;
  const unplaced: string[] = [];
  for (const [name, value] of Object.entries(given).filter(([other]) => !isInput(other))) {
    const having = tasks.filter((task) => argumentOf(task, name) === name);
    const named = having.length === 1 ? having : tasks.filter((task) => argumentOf(task, name) !== null);
    if (named.length !== 1) {
      unplaced.push(name);
      continue;
    }
    const [{ id }] = named as [Task];
    tasks = tasks.map((task) =>
      task.id === id
        ? { ...task, arguments: { ...task.arguments, [argumentOf(task, name) ?? name]: value } }
        : task,
    );
  }
  const placed = { ...plan, tasks, arguments: { ...plan.arguments, ...Object.fromEntries(inputs) } };
  return { plan: placed, unplaced };
}

/** The same, for a caller who counts on every value: one that cannot be placed is an error. */
export function withAllGiven(plan: Plan, given: Readonly<Record<string, unknown>>): Plan {
  const { plan: placed, unplaced } = withGiven(plan, given);
  const [name] = unplaced;
  if (name === undefined) return placed;
  const taken = [...plan.inputs.map((input) => input.name), ...plan.tasks.flatMap(namesOf)];
  const known = [...new Set(taken)].map((each) => `"${each}"`).join(', ');
  throw new PmlError('invalid_argument', `The suggestion has no argument "${name}", or more than one`, {
    hint: known === '' ? 'It takes none.' : `It takes ${known}.`,
  });
}

/** Of what was filled in, with the tool in front. */
function namesOf({ tool, capability, arguments: args }: Task): string[] {
  const filled = Object.keys(args).filter((name) => !isReference(args[name]));
  return filled.map((name) => `${(tool ?? capability ?? '').split(':').at(-1)}_${name}`);
}

/** The argument that a name means: its own, or behind the tool's name; null where it has none that was filled in. */
function argumentOf({ tool, capability, arguments: args }: Task, name: string): string | null {
  const isFilled = (argument: string) => Object.hasOwn(args, argument) && !isReference(args[argument]);
  if (isFilled(name)) return name;
  const prefix = `${(tool ?? capability ?? '').split(':').at(-1)}_`;
  const rest = name.slice(prefix.length);
  return name.startsWith(prefix) && isFilled(rest) ? rest : null;
}
