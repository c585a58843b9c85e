import type { Draft, DraftContent, DraftNode, Head } from '../emit/draft.ts';
import { union } from './value.ts';

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
