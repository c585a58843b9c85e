import vm from 'node:vm';
import type { PreparedProgram } from '../../src/core/structure/emit/prepare-program.ts';

const FILE = 'guest.js';

export interface VmOutcome {
  readonly value?: unknown;
  readonly error?: unknown;
  /** The names of reported operations and branches, in order. */
  readonly told: readonly string[];
  /** Where the error was thrown: the innermost place in the script. */
  readonly position: { readonly line: number; readonly column: number } | null;
}

/** Runs a script in this process, with hooks that act like a sandbox's and record what the script reports. */
export async function runInVm(
  { script, sites }: Pick<PreparedProgram, 'script' | 'sites'>,
  given: { readonly mcp?: unknown; readonly args?: unknown; readonly globals?: Record<string, unknown> } = {},
): Promise<VmOutcome> {
  const told: string[] = [];
  const hooks = {
    call(site: number, receiver: never, name: string, args: unknown[]) {
      const fn: unknown = receiver[name];
      if (typeof fn !== 'function') throw new TypeError(`${name} is not a function`);
      const { operation } = sites[site] as { operation: string };
      if (/\[native code\]/.test(Function.prototype.toString.call(fn))) told.push(operation);
      return Reflect.apply(fn, receiver, args);
    },
    test(site: number, value: unknown, branch?: string) {
      const { node } = sites[site] as { node: string };
      told.push(`${node} ${branch ?? Boolean(value)}`);
      return value;
    },
  };
  try {
    const main = compile(script, given.globals ?? {});
    const value = await main(given.mcp ?? {}, {}, given.args ?? {}, {}, console, hooks);
    return { value, told, position: null };
  } catch (error) {
    return { error, told, position: placeOf(error, FILE) };
  }
}

type Main = (...args: unknown[]) => Promise<unknown>;

/** Compiles an expression that is a function, as a separate file. */
export function compile(script: string, globals: Record<string, unknown>, file = FILE): Main {
  const names = Object.keys(globals);
  // On the first line, so that the script's line numbers stay the same.
  const maker = vm.runInThisContext(`(function (${names.join(', ')}) { return ${script}\n})`, {
    filename: file,
    columnOffset: -`(function (${names.join(', ')}) { return `.length,
  }) as (...values: unknown[]) => Main;
  return maker(...Object.values(globals));
}

/** The innermost place in a file, from an error's stack. */
export function placeOf(error: unknown, file: string): { line: number; column: number } | null {
  const stack = error instanceof Error || isErrorLike(error) ? String(error.stack) : '';
  const found = stack.split('\n').flatMap((line) => line.match(/([\w.]+):(\d+):(\d+)/) ?? []);
  const at = found.indexOf(file);
  return at === -1 ? null : { line: Number(found[at + 1]), column: Number(found[at + 2]) };
}

function isErrorLike(value: unknown): value is { stack: unknown } {
  return typeof value === 'object' && value !== null && 'stack' in value;
}
