import type { Draft, DraftContent, DraftNode, Head } from '../emit/draft.ts';
import { type Cell, join, UNDEFINED, union, type Value } from './value.ts';

const DEFAULTS = {
  /** Cost of joining two values, in steps of the walk. */
  joinParts: 4,
};

/** The steps that the next step follows. */
export type Frontier = readonly DraftNode[];

export interface Exit {
  readonly frontier: Frontier;
  /** Whether the next statement can be reached. */
  readonly isAlive: boolean;
}

/** The current chain of calls of helper functions: every call has its own nodes. */
export class Place {
  readonly calledAt: number | null;
  readonly #nodes = new Map<object, DraftNode>();
  readonly #calls = new Map<object, Map<object, Place>>();

  constructor(calledAt: number | null) {
    this.calledAt = calledAt;
  }

  /** The node of a syntax node here; a second pass finds it again. */
  recall(key: object): DraftNode | undefined {
    return this.#nodes.get(key);
  }

  keep(key: object, node: DraftNode): void {
    this.#nodes.set(key, node);
  }

  /** Null if this call was not followed before. */
  inCall(call: object, callee: object): Place | null {
    return this.#calls.get(call)?.get(callee) ?? null;
  }

  enterCall(call: object, callee: object, calledAt: number | null): Place {
    const place = new Place(calledAt);
    const callees = this.#calls.get(call) ?? new Map<object, Place>();
    this.#calls.set(call, callees.set(callee, place));
    return place;
  }
}

/** The order in which the program reaches its steps. */
export class Flow {
  frontier: Frontier = [];
  isAlive = true;
  head: Head | null = null;
  place = new Place(null);
  readonly #draft: Draft;

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  /** The next step; `key` is its syntax node. */
  step(key: object, content: DraftContent, offset: number): DraftNode {
    const known = this.place.recall(key);
    const node = known ?? this.#draft.add(content, offset, this.head, this.place.calledAt);
    if (known) this.#draft.widen(known, content);
    else this.place.keep(key, node);
    this.#follow(this.frontier, node);
    this.frontier = [node];
    return node;
  }

  /** A step that is kept only if other steps depend on it; null if none do. */
  stepIfUsed(
    key: object,
    content: DraftContent,
    offset: number,
    run: (node: DraftNode) => void,
  ): DraftNode | null {
    const before = this.frontier;
    const known = this.place.recall(key);
    const node = known ?? this.#draft.reserve(content, offset, this.head, this.place.calledAt);
    run(node);
    if (!known && this.#draft.takeBack(node)) {
      const isLed = this.frontier.includes(node);
      const rest = this.frontier.filter((other) => other !== node);
      this.frontier = isLed ? union(before, rest) : rest;
      return null;
    }
    if (!known) this.#draft.keep(node);
    this.place.keep(key, node);
    this.#follow(before, node);
    return node;
  }

  /** Runs the content of `head` and returns how it ends. The caller sets the frontier that follows. */
  inside(head: Head, run: () => void, frontier: Frontier = [head.node]): Exit {
    const { head: outer, isAlive } = this;
    this.head = head;
    this.frontier = frontier;
    run();
    const exit = { frontier: this.frontier, isAlive: this.isAlive };
    this.head = outer;
    this.isAlive = isAlive;
    return exit;
  }

  /** Joins several paths. */
  meet(exits: readonly Exit[]): void {
    const alive = exits.filter(({ isAlive }) => isAlive);
    const ways = alive.length > 0 ? alive : exits;
    this.frontier = ways.reduce<Frontier>((all, { frontier }) => union(all, frontier), []);
    if (alive.length === 0) this.isAlive = false;
  }

  /** A promise is awaited: it began after `begins` and settles after `ends`. */
  settle(begins: Frontier, ends: Frontier): void {
    if (ends.length === 0) return;
    this.frontier = union(
      this.frontier.filter((node) => !begins.includes(node)),
      ends,
    );
  }

  #follow(before: Frontier, node: DraftNode): void {
    if (!this.isAlive) return;
    for (const previous of before) {
      if (node.head?.node !== previous) this.#draft.connect(previous, node, 'sequence');
    }
  }
}

/** The values that one path through the program assigns. */
export type Changes = ReadonlyMap<Cell, Value | null>;

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
