interface Call {
  /** A tool call takes a slot until it is answered; a capability call does not, or nesting would lock up. */
  readonly takesSlot: boolean;
  readonly send: () => void;
}

/** Lets calls out in the order they were made, and no more tool calls at once than there are slots. */
export class CallQueue {
  readonly #slots: number;
  #waiting: Call[] = [];
  #inFlight = 0;

  constructor(slots: number) {
    this.#slots = slots;
  }

  add(call: Call): void {
    this.#waiting.push(call);
    this.#advance();
  }

  freeSlot(): void {
    this.#inFlight--;
    this.#advance();
  }

  #advance(): void {
    let sent = 0;
    for (const { takesSlot, send } of this.#waiting) {
      if (takesSlot && this.#inFlight === this.#slots) break;
      if (takesSlot) this.#inFlight++;
      send();
      sent++;
    }
    if (sent > 0) this.#waiting = this.#waiting.slice(sent);
  }
}
