import type { ConsoleLine } from '../ports/sandbox.ts';
import type { Intrinsics } from './intrinsics.ts';
import type { ShowValue } from './show-value.ts';

/** False: there is no room for more. */
export type Print = (level: ConsoleLine['level'], text: string) => boolean;

export function createGuestConsole(
  use: Intrinsics,
  print: Print,
  show: ShowValue,
  maxLength: number,
): object {
  let isFull = false;
  const printer = (level: ConsoleLine['level']) => {
    return (...values: unknown[]): void => {
      // One character more than there is room for: the other side cuts, and knows that it did.
      if (!isFull) isFull = !print(level, show.line(values, maxLength + 1));
    };
  };
  return use.freeze({
    __proto__: null,
    log: printer('log'),
    info: printer('info'),
    warn: printer('warn'),
    error: printer('error'),
    debug: printer('debug'),
  });
}
