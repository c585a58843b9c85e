import type { UpstreamClient } from '../../engine/ports.ts';

const DEFAULTS = {
  /**
   * How many slots a user may hold for each that is free, where a server has several users: with a limit of 8, six.
   * So one whose calls never end leaves room for all others, and two leave some, too (dynamic thresholds, Choudhury
   * and Hahne 1998).
   */
  heldPerFree: 2,
};

/** Stands for calls that are made for no user. */
const NOBODY = '';

interface Waiter {
  readonly user: string;
  readonly take: () => void;
}

/**
 * At most `limit` calls at once; the rest wait, the user with the fewest under way first, and in order. The limit may
 * change at any time.
 */
export class CallSlots {
  #limit: number;
  #taken = 0;
  /** By user; none with 0. */
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

  /** Answers how to give the slot back; rejects with the signal's reason when it aborts first. */
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

  /** Whose turn it is; -1 when nobody's. */
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

/** One call's slot. While its client is being asked the call does without: a person may take their time. */
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

  /** The same client; its answers go on when there is a slot again. */
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
