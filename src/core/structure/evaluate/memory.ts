import { type Cell, join, UNDEFINED, type Value } from './value.ts';

/** What one way through the program puts where. */
export type Changes = ReadonlyMap<Cell, Value | null>;

const DEFAULTS = {
  /** What putting two values together costs, beside a step of the walk. */
  joinParts: 4,
};

export const NO_CHANGES: Changes = new Map();

/**
 * Follows assignments along the flow: each branch starts from the same state, and where branches meet,
 * a cell holds what it may hold after any of them.
 */
export class Memory {
  /** For each branch under way, what the cells it changed held before. */
  readonly #journals: Map<Cell, Value | null>[] = [];
  /** For each watch under way, all that was put into a cell. */
  readonly #watches: Map<Cell, Value>[] = [];
  readonly #spend: (parts: number) => void;

  /** `spend` is told how many cells were gone through: with many variables that is most of the work. */
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

  /** What is there stays one possibility. */
  add(cell: Cell, value: Value): void {
    this.set(cell, cell.value ? join(cell.value, value) : value);
  }

  /** The place to come back to with `since`. */
  get depth(): number {
    return this.#journals.length;
  }

  /** What was changed since the branches within `depth` others began. */
  since(depth: number): Changes {
    const changes = new Map<Cell, Value | null>();
    for (let i = depth; i < this.#journals.length; i++) {
      this.#spend(this.#journals[i]!.size);
      for (const cell of this.#journals[i]!.keys()) changes.set(cell, cell.value);
    }
    return changes;
  }

  /** Runs one branch, takes back what it changed, and tells what that was. */
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

  /** Runs something, and tells what every cell it changed held at one time or another. */
  watch(run: () => void): Changes {
    const seen = new Map<Cell, Value>();
    this.#watches.push(seen);
    run();
    this.#watches.pop();
    return seen;
  }

  /** The branches meet: one of them was run. */
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

  /** It is run or it is not. */
  maybe<T>(run: () => T): T {
    let result: T | undefined;
    const changes = this.branch(() => {
      result = run();
    });
    this.meet([changes, NO_CHANGES]);
    return result as T;
  }
}
