import type { GuestMark, GuestProgram } from '../../engine/ports.ts';
import { monotonicNow, type WireMark } from './messages.ts';

const DEFAULTS = {
  /** A buffer this full, or this old in milliseconds, is handed on: a killed child takes its buffer along. */
  fullAt: 64,
  staleAfter: 20,
};

/** What a child tells, in the host's time. */
export interface MarkReader {
  toHost(moment: number): number;
  /** Null for a mark of no program, or of no such site of it. */
  read(mark: WireMark, frames: ReadonlyMap<number, GuestProgram>): GuestMark | null;
}

/**
 * A child's clock is this machine's own, but its word is not trusted: no moment lies before the run or
 * after now.
 */
export function createMarkReader(): MarkReader {
  // The host's clock is read second: a child's moment is never put before the host's own moments it followed.
  const monotonic = monotonicNow();
  const begin = performance.now();
  const toHost = (moment: number) =>
    Math.min(Math.max(begin + (moment - monotonic), begin), performance.now());
  return {
    toHost,
    read([frame, mark], frames) {
      if (frames.get(frame)?.sites[mark.site]?.kind !== mark.kind) return null;
      if (mark.kind === 'decision') return { ...mark, at: toHost(mark.at) };
      const startedAt = toHost(mark.startedAt);
      return { ...mark, startedAt, endedAt: Math.max(startedAt, toHost(mark.endedAt)) };
    },
  };
}

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
