/**
 * Ends a request after `ms` of silence, or when its caller gives up. A sign of life starts the time
 * over; while a person is being asked it does not run at all.
 */
export class QuietDeadline {
  readonly #controller = new AbortController();
  readonly #ms: number;
  readonly #caller: AbortSignal | undefined;
  readonly #onCallerAbort = () => this.#controller.abort(this.#caller?.reason);
  readonly #isFirm: boolean;
  /** Milliseconds that are left, when it last began to run. */
  #left: number;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;
  #holds = 0;
  #disposed = false;
  #expired = false;

  /** `isFirm`: signs of life do not start it over. */
  constructor(ms: number, caller: AbortSignal | undefined, isFirm = false) {
    this.#ms = ms;
    this.#left = ms;
    this.#isFirm = isFirm;
    this.#caller = caller;
    caller?.addEventListener('abort', this.#onCallerAbort, { once: true });
    if (caller?.aborted) this.#onCallerAbort();
    this.#run();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get expired(): boolean {
    return this.#expired;
  }

  touch(): void {
    if (!this.#isFirm) this.#run();
  }

  #run(): void {
    clearTimeout(this.#timer);
    if (this.#holds > 0 || this.#disposed || this.signal.aborted) return;
    this.#since = Date.now();
    this.#timer = setTimeout(() => {
      this.#expired = true;
      this.#controller.abort(new Error(`no answer within ${this.#ms} ms`));
    }, this.#left);
  }

  /** Stops the time until the answered function is called. */
  hold(): () => void {
    if (this.#isFirm && this.#holds === 0) this.#left = Math.max(0, this.#left - (Date.now() - this.#since));
    this.#holds += 1;
    clearTimeout(this.#timer);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holds -= 1;
      this.#run();
    };
  }

  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener('abort', this.#onCallerAbort);
  }
}
