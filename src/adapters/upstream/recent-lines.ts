const DEFAULTS = { lines: 200, lineLength: 2_000 };

/** The last lines of a stream that may never end and may hold anything. */
export class RecentLines {
  readonly #limit: number;
  #lines: string[] = [];
  #rest = '';
  #count = 0;

  constructor(limit: number = DEFAULTS.lines) {
    this.#limit = limit;
  }

  append(text: string): void {
    const parts = (this.#rest + text).split(/\r?\n/);
    this.#rest = (parts.pop() ?? '').slice(0, DEFAULTS.lineLength);
    for (const part of parts) this.#lines.push(part.slice(0, DEFAULTS.lineLength));
    this.#count += parts.length;
    if (this.#lines.length > this.#limit) this.#lines = this.#lines.slice(-this.#limit);
  }

  /** Lines completed so far, those no longer kept included. */
  get count(): number {
    return this.#count;
  }

  /** Oldest first, without the first `after` of them all; a line still being written counts. */
  list(after = 0): readonly string[] {
    const kept = this.#lines.slice(Math.max(0, after - (this.#count - this.#lines.length)));
    return this.#rest === '' ? kept : [...kept, this.#rest].slice(-this.#limit);
  }
}
