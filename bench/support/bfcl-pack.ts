import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerSettings } from '../../src/engine/ports.ts';

export interface GoldCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface Turn {
  readonly intent: string;
  readonly calls: readonly (GoldCall & { readonly fails?: boolean })[];
}

export interface Task {
  readonly id: string;
  readonly classes: readonly string[];
  readonly initial_config: unknown;
  readonly turns: readonly Turn[];
  readonly final_state: Readonly<Record<string, unknown>>;
}

/** Executable multi-turn tasks: servers with a state, what is asked for, and the calls that are right. */
export interface BfclPack {
  readonly dir: string;
  readonly train: readonly Task[];
  readonly dev: readonly Task[];
}

/** In the folder itself, or below it; null where it is not there. */
export function findPack(data: string): BfclPack | null {
  const dir = [data, join(data, 'bfcl')].find((path) => existsSync(join(path, 'tasks.train.jsonl')));
  if (dir === undefined) return null;
  const read = (name: string) =>
    readFileSync(join(dir, name), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Task);
  return { dir, train: read('tasks.train.jsonl'), dev: read('tasks.dev.jsonl') };
}

export function packServers({ dir }: BfclPack, states: string): ServerSettings[] {
  const described = JSON.parse(readFileSync(join(dir, 'servers.json'), 'utf8')) as Record<
    string,
    { command: string; args: string[] }
  >;
  const put = (text: string) =>
    text.replaceAll('{pack}', dir).replaceAll('{states}', states).replaceAll('{python}', 'python3');
  return Object.entries(described).map(([name, { command, args }]) => ({
    name,
    transport: 'stdio',
    command: put(command),
    args: args.map(put),
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' },
    cwd: null,
    disabled: false,
    tools: { include: ['*'], exclude: [] },
    timeoutMs: 20_000,
    concurrency: 1,
  }));
}

/** The servers begin with the state of the task. */
export function beginTask(states: string, { id, classes, initial_config }: Task): void {
  for (const name of classes) rmSync(join(states, `${name}.json`), { force: true });
  writeFileSync(join(states, 'current.json'), JSON.stringify({ id, initial_config }));
}

/** The states of all classes as they are now. */
export function stateOf(states: string, { classes }: Task): string {
  return canonical(
    classes.map((name) => {
      const file = join(states, `${name}.json`);
      return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
    }),
  );
}

/** Whether all classes that were called end in the state they should. */
export function endsWell(states: string, { classes, turns, final_state }: Task): boolean {
  const called = new Set(turns.flatMap(({ calls }) => calls.map(({ tool }) => tool.split(':')[0]!)));
  return classes.every((name) => {
    const file = join(states, `${name}.json`);
    if (!existsSync(file)) return !called.has(name);
    return canonical(JSON.parse(readFileSync(file, 'utf8'))) === canonical(final_state[name]);
  });
}

/** The same text for the same value. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join()}}`;
}

export interface CopyFigures {
  readonly calls_right: number;
  readonly turns_exact: number;
}

/** What copying the nearest past turn gets right on dev, as the pack measures it itself. */
export function copyFigures({ dir }: BfclPack): Record<'copy' | 'copy_and_fill', CopyFigures> {
  const told = execFileSync(process.execPath, [join(dir, 'replay.mjs'), '--baselines'], { encoding: 'utf8' });
  const { figures } = JSON.parse(told) as { figures: Record<string, { dev: CopyFigures }> };
  return { copy: figures.copy!.dev, copy_and_fill: figures.copy_and_fill!.dev };
}
