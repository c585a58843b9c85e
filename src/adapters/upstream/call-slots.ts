interface Waiter {
  readonly take: () => void;
}

/** At most `limit` calls at once; the rest wait in order. The limit may change at any time. */
export class CallSlots {
  #limit: number;
  #taken = 0;
  readonly #waiting: Waiter[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  set limit(limit: number) {
    this.#limit = limit;
    this.#hand();
  }

  /** Answers how to give the slot back; rejects with the signal's reason when it aborts first. */
  async take(signal: AbortSignal | undefined): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#taken < this.#limit && this.#waiting.length === 0) this.#taken += 1;
    else await this.#wait(signal);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#taken -= 1;
      this.#hand();
    };
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(signal?.reason);
      };
      const waiter: Waiter = {
        take: () => {
          signal?.removeEventListener('abort', leave);
          resolve();
        },
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiter);
    });
  }

  #hand(): void {
    while (this.#taken < this.#limit) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#taken += 1;
      next.take();
    }
  }
}
