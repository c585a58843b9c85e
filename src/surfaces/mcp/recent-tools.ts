import { LRUCache } from 'lru-cache';

const DEFAULTS = { tools: 5, sessions: 1_000 };

/** The tools each session used last: what a search takes as its context. */
export class RecentTools {
  readonly #sessions = new LRUCache<string, readonly string[]>({ max: DEFAULTS.sessions });

  add(sessionId: string | null, tool: string): void {
    if (sessionId === null) return;
    const others = this.of(sessionId).filter((other) => other !== tool);
    this.#sessions.set(sessionId, [...others, tool].slice(-DEFAULTS.tools));
  }

  /** Oldest first. */
  of(sessionId: string | null): readonly string[] {
    return (sessionId === null ? undefined : this.#sessions.get(sessionId)) ?? [];
  }
}
