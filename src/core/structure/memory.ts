import { type Cell, join, UNDEFINED, type Value } from './value.ts';

/** What one way through the program puts where. */
export type Changes = ReadonlyMap<Cell, Value | null>;

const NO_CHANGES: Changes = new Map();

/**
 * Follows assignments along the flow: each branch starts from the same state, and where branches meet,
 * a cell holds what it may hold after any of them.
 */
export class Memory {
  #journal: Map<Cell, Value | null> | null = null;

  set(cell: Cell, value: Value): void {
    if (this.#journal && !this.#journal.has(cell)) this.#journal.set(cell, cell.value);
    cell.value = value;
  }

  /** What is there stays one possibility. */
  add(cell: Cell, value: Value): void {
    this.set(cell, cell.value ? join(cell.value, value) : value);
  }

  /** Runs one branch, takes back what it changed, and tells what that was. */
  branch(run: () => void): Changes {
    const outer = this.#journal;
    const journal = new Map<Cell, Value | null>();
    this.#journal = journal;
    try {
      run();
    } finally {
      this.#journal = outer;
    }
    const changes = new Map<Cell, Value | null>();
    for (const [cell, before] of journal) {
      changes.set(cell, cell.value);
      cell.value = before;
    }
    return changes;
  }

  /** The branches meet: one of them was run. */
  meet(alternatives: readonly Changes[]): void {
    const touched = new Set(alternatives.flatMap((changes) => [...changes.keys()]));
    for (const cell of touched) {
      const values = alternatives.map((changes) => (changes.has(cell) ? changes.get(cell) : cell.value));
      this.set(
        cell,
        values.map((value) => value ?? UNDEFINED).reduce((a, b) => join(a, b)),
      );
    }
  }

  /** It is run or it is not. */
  maybe(run: () => void): void {
    this.meet([this.branch(run), NO_CHANGES]);
  }
}
