import type { UpstreamClient } from '../../engine/ports.ts';
import type { CallSlots } from './call-slots.ts';

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
