import { appendFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { createRandom } from '../../src/core/numeric/random.ts';
import type { Plan, Task } from '../../src/core/vocabulary/plan.ts';
import type { JsonObject } from '../../src/engine/ports.ts';
import type { MemoryServer } from '../memory/upstream-server.ts';

export const TASKS = 20;

/** Twenty tasks, each adding up the results of up to three earlier ones; every other one may be called twice. */
export function countedPlan(runId: string, seed: number): Plan {
  const random = createRandom(seed);
  const tasks = Array.from({ length: TASKS }, (_, i): Task => {
    const before = new Set(Array.from({ length: Math.min(i, 3) }, () => random.int(i)));
    const inputs = random.int(4) === 0 ? [] : [...before].map((j) => `\${t${j}.value}`);
    const tool = i % 2 === 0 ? 'counted:step' : 'counted:safe';
    return { id: `t${i}`, tool, arguments: { run: runId, task: `t${i}`, inputs }, dependsOn: [] };
  });
  return { tasks, inputs: [] };
}

/** The correct results of the tasks of such a plan. */
export function expectedValues({ tasks }: Plan): Record<string, number> {
  const values: Record<string, number> = {};
  for (const { id, arguments: args } of tasks) {
    const before = (args.inputs as string[]).map((reference) => values[/t\d+/.exec(reference)![0]]!);
    values[id] = 1 + before.reduce((sum, value) => sum + value, 0);
  }
  return values;
}

/** A server whose effects can be counted: each is one line of a file, written immediately. */
export function countingServer(
  file: string,
  point: (where: string) => void = () => {},
  maxMs = 2,
): MemoryServer {
  const random = createRandom(process.pid);
  const call = async (args: JsonObject) => {
    point('before the effect');
    await setTimeout(random.int(maxMs + 1));
    appendFileSync(file, `${args.run} ${args.task}\n`);
    point('after the effect');
    await setTimeout(random.int(maxMs + 1));
    const value = 1 + (args.inputs as number[]).reduce((sum, input) => sum + input, 0);
    return { content: [], structuredContent: { value } };
  };
  const definition = { description: 'counts', inputSchema: { type: 'object' } };
  return {
    name: 'counted',
    tools: [
      { definition: { ...definition, name: 'step' }, call },
      { definition: { ...definition, name: 'safe', annotations: { idempotentHint: true } }, call },
    ],
  };
}

/** How often the effect of each task happened, by `run task`. */
export function countLines(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of text.split('\n').filter((one) => one !== ''))
    counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}
