import type { GuestMark } from '../../../engine/ports.ts';
import type { WireMark } from '../messages.ts';

const DEFAULTS = {
  /** A buffer this full, or this old in milliseconds, is handed on: a killed child takes its buffer along. */
  fullAt: 64,
  staleAfter: 20,
};

/** Keeps marks until there is something to send anyway. */
export class MarkBuffer {
  readonly #send: (marks: readonly WireMark[]) => void;
  #marks: WireMark[] = [];
  #oldest = 0;

  constructor(send: (marks: readonly WireMark[]) => void) {
    this.#send = send;
  }

  add(frame: number, mark: GuestMark): void {
    const now = mark.kind === 'operation' ? mark.endedAt : mark.at;
    if (this.#marks.length === 0) this.#oldest = now;
    this.#marks.push([frame, mark]);
    if (this.#marks.length >= DEFAULTS.fullAt || now - this.#oldest > DEFAULTS.staleAfter) this.flush();
  }

  flush(): void {
    if (this.#marks.length === 0) return;
    this.#send(this.#marks);
    this.#marks = [];
  }
}
