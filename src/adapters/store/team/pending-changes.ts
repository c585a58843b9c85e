import type { Change, ChangeListener } from '../../../engine/ports.ts';

const DEFAULTS = {
  /** Changes that wait to be told; with more of them it is told that anything may have changed. */
  most: 10_000,
  /** Before a listener that failed is told again, in milliseconds. */
  retryMs: 1_000,
};

/** Changes on their way to a listener: each one once, a batch at a time, and none lost when the listener fails. */
export class PendingChanges {
  readonly #waiting = new Map<string, Change>();
  readonly #sleep: (ms: number) => Promise<void>;
  readonly #onFailure: (error: unknown) => void;
  #isAll = false;
  #isTelling = false;
  #listener: ChangeListener | null = null;

  constructor(sleep: (ms: number) => Promise<void>, onFailure: (error: unknown) => void) {
    this.#sleep = sleep;
    this.#onFailure = onFailure;
  }

  listen(listener: ChangeListener | null): void {
    this.#listener = listener;
    void this.#tell();
  }

  add(changes: Iterable<Change>): void {
    for (const change of changes) this.#waiting.set(`${change.topic} ${change.key}`, change);
    if (this.#waiting.size > DEFAULTS.most) this.addAll();
    else void this.#tell();
  }

  /** Anything may have changed. */
  addAll(): void {
    this.#isAll = true;
    void this.#tell();
  }

  async #tell(): Promise<void> {
    if (this.#isTelling) return;
    this.#isTelling = true;
    while (this.#listener && (this.#isAll || this.#waiting.size > 0)) {
      const batch = this.#isAll ? null : [...this.#waiting.values()];
      this.#isAll = false;
      this.#waiting.clear();
      try {
        await this.#listener(batch);
      } catch (error) {
        this.#onFailure(error);
        // The store may be away again. What of it was done nobody knows.
        this.#isAll = true;
        await this.#sleep(DEFAULTS.retryMs);
      }
    }
    this.#isTelling = false;
  }
}
