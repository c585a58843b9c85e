import type { Draft, DraftContent, DraftNode, Head } from '../emit/draft.ts';
import { union } from './value.ts';

/** The steps that the next one follows. */
export type Frontier = readonly DraftNode[];

export interface Exit {
  readonly frontier: Frontier;
  /** The next statement can be reached. */
  readonly isAlive: boolean;
}

/** Where in the calls of helper functions the program is: every call has nodes of its own. */
export class Place {
  readonly calledAt: number | null;
  readonly #nodes = new Map<object, DraftNode>();
  readonly #calls = new Map<object, Map<object, Place>>();

  constructor(calledAt: number | null) {
    this.calledAt = calledAt;
  }

  /** The node that stands for a part of the syntax tree here; it is there again in a second pass. */
  recall(key: object): DraftNode | undefined {
    return this.#nodes.get(key);
  }

  keep(key: object, node: DraftNode): void {
    this.#nodes.set(key, node);
  }

  /** Null when this call was not followed before. */
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

/** The order in which the program comes to its steps. */
export class Flow {
  frontier: Frontier = [];
  isAlive = true;
  head: Head | null = null;
  place = new Place(null);
  readonly #draft: Draft;

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  /** The next step; `key` is the part of the syntax tree that it stands for. */
  step(key: object, content: DraftContent, offset: number): DraftNode {
    const known = this.place.recall(key);
    const node = known ?? this.#draft.add(content, offset, this.head, this.place.calledAt);
    if (known) this.#draft.widen(known, content);
    else this.place.keep(key, node);
    this.#follow(this.frontier, node);
    this.frontier = [node];
    return node;
  }

  /** A step that is there only if others hang on it; null when none did. */
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

  /** Runs what stands in `head`, and tells how it comes out. The frontier after it is the caller's to set. */
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

  /** Several ways come together. */
  meet(exits: readonly Exit[]): void {
    const alive = exits.filter(({ isAlive }) => isAlive);
    const ways = alive.length > 0 ? alive : exits;
    this.frontier = ways.reduce<Frontier>((all, { frontier }) => union(all, frontier), []);
    if (alive.length === 0) this.isAlive = false;
  }

  /** A promise is waited for: it began after `begins` and settles after `ends`. */
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
