import type { UpstreamClient } from '../../engine/ports.ts';

const DEFAULTS = {
  /**
   * Slots one user may hold per free slot when a server has several users: six of eight. So a user whose
   * calls never end leaves slots for the others, and so do two such users (dynamic thresholds, Choudhury and
   * Hahne 1998).
   */
  heldPerFree: 2,
};

/** The user of calls that are made for nobody. */
const NOBODY = '';

interface Waiter {
  readonly user: string;
  readonly take: () => void;
}

/**
 * At most `limit` concurrent calls. Others wait in order, the user with the fewest calls first. The limit may
 * change at any time.
 */
export class CallSlots {
  #limit: number;
  #taken = 0;
  /** Slots held, by user; users with none are absent. */
  readonly #held = new Map<string, number>();
  readonly #waiting: Waiter[] = [];
  #firstUser: string | null = null;
  #hasSeveralUsers = false;

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

  /** Returns a function that releases the slot; rejects with the signal's reason if it aborts first. */
  async take(signal: AbortSignal | undefined, user = NOBODY): Promise<() => void> {
    signal?.throwIfAborted();
    this.#firstUser ??= user;
    this.#hasSeveralUsers ||= user !== this.#firstUser;
    await this.#wait(signal, user);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#count(user, -1);
      this.#hand();
    };
  }

  #wait(signal: AbortSignal | undefined, user: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(signal?.reason);
      };
      const waiter: Waiter = {
        user,
        take: () => {
          signal?.removeEventListener('abort', leave);
          resolve();
        },
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiter);
      this.#hand();
    });
  }

  #hand(): void {
    for (let next = this.#next(); next >= 0; next = this.#next()) {
      const [waiter] = this.#waiting.splice(next, 1);
      this.#count(waiter!.user, 1);
      waiter!.take();
    }
  }

  /** Index of the next waiter to serve; -1 if none. */
  #next(): number {
    const free = this.#limit - this.#taken;
    if (free <= 0) return -1;
    let next = -1;
    let fewest = this.#hasSeveralUsers ? DEFAULTS.heldPerFree * free : Number.POSITIVE_INFINITY;
    for (const [place, { user }] of this.#waiting.entries()) {
      const held = this.#held.get(user) ?? 0;
      if (held >= fewest) continue;
      next = place;
      fewest = held;
      if (held === 0) break;
    }
    return next;
  }

  #count(user: string, more: number): void {
    this.#taken += more;
    const held = (this.#held.get(user) ?? 0) + more;
    if (held === 0) this.#held.delete(user);
    else this.#held.set(user, held);
  }
}

/** A call's slot. It is released while the client is being asked, because a person may take long. */
export class HeldSlot {
  readonly #slots: CallSlots;
  readonly #user: string | undefined;
  #giveBack: () => void;
  #questions = 0;
  #released = false;

  private constructor(slots: CallSlots, user: string | undefined, giveBack: () => void) {
    this.#slots = slots;
    this.#user = user;
    this.#giveBack = giveBack;
  }

  static async take(slots: CallSlots, signal: AbortSignal | undefined, user?: string): Promise<HeldSlot> {
    return new HeldSlot(slots, user, await slots.take(signal, user));
  }

  /** The same client, but its answers wait for a free slot. */
  lentWhileAsking(client: UpstreamClient): UpstreamClient {
    return {
      ...client,
      ask: async (method, params, signal) => {
        this.#questions += 1;
        this.#giveBack();
        try {
          return await client.ask(method, params, signal);
        } finally {
          this.#questions -= 1;
          await this.#takeAgain(signal);
        }
      },
    };
  }

  release(): void {
    this.#released = true;
    this.#giveBack();
  }

  async #takeAgain(signal: AbortSignal): Promise<void> {
    if (!this.#isNeeded()) return;
    const giveBack = await this.#slots.take(signal, this.#user);
    if (this.#isNeeded()) this.#giveBack = giveBack;
    else giveBack();
  }

  #isNeeded(): boolean {
    return this.#questions === 0 && !this.#released;
  }
}
