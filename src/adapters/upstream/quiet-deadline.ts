/**
 * Ends a request after `ms` of silence, or when its caller gives up. A sign of life starts the time
 * over; while a person is being asked it does not run at all.
 */
export class QuietDeadline {
  readonly #controller = new AbortController();
  readonly #ms: number;
  readonly #caller: AbortSignal | undefined;
  readonly #onCallerAbort = () => this.#controller.abort(this.#caller?.reason);
  #timer: NodeJS.Timeout | undefined;
  #holds = 0;
  #disposed = false;
  #expired = false;

  constructor(ms: number, caller: AbortSignal | undefined) {
    this.#ms = ms;
    this.#caller = caller;
    caller?.addEventListener('abort', this.#onCallerAbort, { once: true });
    if (caller?.aborted) this.#onCallerAbort();
    this.touch();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get expired(): boolean {
    return this.#expired;
  }

  touch(): void {
    clearTimeout(this.#timer);
    if (this.#holds > 0 || this.#disposed || this.signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#expired = true;
      this.#controller.abort(new Error(`no sign of life for ${this.#ms} ms`));
    }, this.#ms);
  }

  /** Stops the time until the answered function is called. */
  hold(): () => void {
    this.#holds += 1;
    clearTimeout(this.#timer);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holds -= 1;
      this.touch();
    };
  }

  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener('abort', this.#onCallerAbort);
  }
}
