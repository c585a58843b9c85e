const DEFAULTS = { lines: 200, lineLength: 2_000 };

/** The last lines of a stream that may never end and may hold anything. */
export class RecentLines {
  readonly #limit: number;
  #lines: string[] = [];
  #rest = '';

  constructor(limit: number = DEFAULTS.lines) {
    this.#limit = limit;
  }

  append(text: string): void {
    const parts = (this.#rest + text).split(/\r?\n/);
    this.#rest = (parts.pop() ?? '').slice(0, DEFAULTS.lineLength);
    for (const part of parts) this.#lines.push(part.slice(0, DEFAULTS.lineLength));
    if (this.#lines.length > this.#limit) this.#lines = this.#lines.slice(-this.#limit);
  }

  /** Oldest first; a line still being written counts. */
  list(): readonly string[] {
    return this.#rest === '' ? [...this.#lines] : [...this.#lines, this.#rest].slice(-this.#limit);
  }
}
