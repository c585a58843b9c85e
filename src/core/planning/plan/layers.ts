import { PmlError } from '../../vocabulary/pml-error.ts';

interface Node {
  readonly id: string;
  readonly dependsOn: readonly string[];
}

/**
 * Kahn's algorithm by layers: a task stands in the first layer after all it depends on, tasks of one
 * layer in the order given. A cycle is an error that shows its path.
 */
export function layersOf(tasks: readonly Node[]): string[][] {
  const known = new Set(tasks.map((task) => task.id));
  const layers: string[][] = [];
  const placed = new Set<string>();
  while (placed.size < tasks.length) {
    const ready = tasks.filter(
      (task) => !placed.has(task.id) && task.dependsOn.every((id) => placed.has(id) || !known.has(id)),
    );
    if (ready.length === 0) throw cycleAmong(tasks.filter((task) => !placed.has(task.id)));
    layers.push(ready.map((task) => task.id));
    for (const task of ready) placed.add(task.id);
  }
  return layers;
}

/** Walks back along unplaced dependencies until a task comes round again. */
function cycleAmong(tasks: readonly Node[]): PmlError {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const path: string[] = [];
  let current: Node | undefined = tasks[0];
  while (current && !path.includes(current.id)) {
    path.push(current.id);
    current = current.dependsOn.map((id) => byId.get(id)).find((task) => task !== undefined);
  }
  const loop = current ? [...path.slice(path.indexOf(current.id)), current.id].reverse() : path;
  return new PmlError(
    'invalid_argument',
    `The tasks depend on each other in a circle: ${loop.join(' -> ')}`,
    {
      hint: 'Remove one of these from "depends_on".',
    },
  );
}
