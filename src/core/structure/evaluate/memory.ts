import { type Cell, join, UNDEFINED, type Value } from './value.ts';

/** The values that one path through the program assigns. */
export type Changes = ReadonlyMap<Cell, Value | null>;

const DEFAULTS = {
  /** Cost of joining two values, in steps of the walk. */
  joinParts: 4,
};

export const NO_CHANGES: Changes = new Map();

/**
 * Follows assignments along the flow: each branch starts from the same state, and where branches meet,
 * a cell has every value it may have after any of them.
 */
export class Memory {
  /** For each open branch, the values that its changed cells had before. */
  readonly #journals: Map<Cell, Value | null>[] = [];
  /** For each open watch, everything that was assigned to a cell. */
  readonly #watches: Map<Cell, Value>[] = [];
  readonly #spend: (parts: number) => void;

  /** `spend` gets the number of cells visited: with many variables that is most of the work. */
  constructor(spend: (parts: number) => void) {
    this.#spend = spend;
  }

  set(cell: Cell, value: Value): void {
    const journal = this.#journals.at(-1);
    if (journal && !journal.has(cell)) journal.set(cell, cell.value);
    this.#spend(this.#watches.length * DEFAULTS.joinParts);
    for (const watch of this.#watches) {
      const before = watch.get(cell);
      watch.set(cell, before ? join(before, value) : value);
    }
    cell.value = value;
  }

  /** The existing value remains possible. */
  add(cell: Cell, value: Value): void {
    this.set(cell, cell.value ? join(cell.value, value) : value);
  }

  /** The argument for a later `since`. */
  get depth(): number {
    return this.#journals.length;
  }

  /** The changes since there were `depth` open branches. */
  since(depth: number): Changes {
    const changes = new Map<Cell, Value | null>();
    for (let i = depth; i < this.#journals.length; i++) {
      this.#spend(this.#journals[i]!.size);
      for (const cell of this.#journals[i]!.keys()) changes.set(cell, cell.value);
    }
    return changes;
  }

  /** Runs one branch, undoes its changes and returns them. */
  branch(run: () => void): Changes {
    const depth = this.#journals.length;
    const journal = new Map<Cell, Value | null>();
    this.#journals.push(journal);
    run();
    const changes = this.since(depth);
    this.#journals.pop();
    for (const [cell, before] of journal) cell.value = before;
    return changes;
  }

  /** Runs a function and returns, for every changed cell, all values it had in the meantime joined. */
  watch(run: () => void): Changes {
    const seen = new Map<Cell, Value>();
    this.#watches.push(seen);
    run();
    this.#watches.pop();
    return seen;
  }

  /** Joins the branches: one of them ran. */
  meet(alternatives: readonly Changes[]): void {
    const touched = new Set(alternatives.flatMap((changes) => [...changes.keys()]));
    for (const cell of touched) {
      this.#spend(alternatives.length * DEFAULTS.joinParts);
      const values = alternatives.map((changes) => (changes.has(cell) ? changes.get(cell) : cell.value));
      this.set(
        cell,
        values.map((value) => value ?? UNDEFINED).reduce((a, b) => join(a, b)),
      );
    }
  }

  /** Runs a function that the program may or may not run. */
  maybe<T>(run: () => T): T {
    let result: T | undefined;
    const changes = this.branch(() => {
      result = run();
    });
    this.meet([changes, NO_CHANGES]);
    return result as T;
  }
}
