import { effect, type ReadonlySignal, signal, untracked } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { LiveEvent } from '../shared/events.ts';
import { ApiError } from './api.ts';
import { epoch, onEvents } from './live.ts';

const DEFAULTS = {
  /** Milliseconds between two loads on account of events. */
  betweenLoadsMs: 400,
  /** Resources that are kept when no page shows them any more, so that coming back shows something at once. */
  kept: 30,
};

/** Both may stand: what was loaded before stays while a later load has failed. */
export interface Loaded<T> {
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
}

export interface ResourceOptions<T> {
  load(signal: AbortSignal): Promise<T>;
  /** Whether an event makes what was loaded stale. Bursts cause one load, and none is missed while one is under way. */
  reloadOn?(event: LiveEvent): boolean;
  /** What an event alone tells, applied at once. Must bear being told twice what the snapshot knew already. */
  apply?(data: T, event: LiveEvent): T;
}

export interface Resource<T> {
  readonly state: ReadonlySignal<Loaded<T>>;
  reload(): void;
  /** In place of what was loaded, such as what an action has answered. */
  set(data: T): void;
}

interface Kept extends Resource<unknown> {
  users: number;
  start(): void;
  stop(): void;
}

const kept = new Map<string, Kept>();

/**
 * A snapshot that follows events, shared by all who ask for the same key. Reading `.state.value` in a
 * component follows it.
 */
export function useResource<T>(key: string, options: ResourceOptions<T>): Resource<T> {
  // The options of the first render with this key count.
  const resource = useMemo(() => resourceOf(key, options), [key]);
  useEffect(() => {
    resource.users += 1;
    if (resource.users === 1) resource.start();
    return () => {
      resource.users -= 1;
      if (resource.users === 0) resource.stop();
    };
  }, [resource]);
  return resource as unknown as Resource<T>;
}

function resourceOf<T>(key: string, options: ResourceOptions<T>): Kept {
  const found = kept.get(key);
  if (found) return found;
  const made = createResource(options) as unknown as Kept;
  kept.set(key, made);
  for (const [old, { users }] of kept) {
    if (kept.size <= DEFAULTS.kept) break;
    if (users === 0 && old !== key) kept.delete(old);
  }
  return made;
}

function createResource<T>({ load, reloadOn, apply }: ResourceOptions<T>): Resource<T> & {
  users: number;
  start(): void;
  stop(): void;
} {
  const state = signal<Loaded<T>>({ data: undefined, error: undefined, isLoading: true });
  let loading: AbortController | null = null;
  let isStale = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Events that came while a load was under way: its answer may or may not know them. */
  let meanwhile: LiveEvent[] = [];
  let undo: (() => void)[] = [];

  async function reload(): Promise<void> {
    loading?.abort();
    clearTimeout(timer);
    timer = undefined;
    const own = new AbortController();
    loading = own;
    isStale = false;
    meanwhile = [];
    state.value = { ...state.peek(), isLoading: true };
    try {
      const loaded = await load(own.signal);
      if (loading !== own) return;
      const data = apply ? meanwhile.reduce(apply, loaded) : loaded;
      state.value = { data, error: undefined, isLoading: false };
    } catch (error) {
      if (loading !== own) return;
      state.value = { ...state.peek(), error: ApiError.from(error), isLoading: false };
    }
    loading = null;
    if (isStale) reloadSoon();
  }

  function reloadSoon(): void {
    isStale = true;
    if (loading) return;
    timer ??= setTimeout(() => void reload(), DEFAULTS.betweenLoadsMs);
  }

  function hear(events: readonly LiveEvent[]): void {
    if (apply) {
      if (loading) meanwhile.push(...events);
      const { data } = state.peek();
      if (data !== undefined) {
        const next = events.reduce(apply, data);
        if (next !== data) state.value = { ...state.peek(), data: next };
      }
    }
    if (reloadOn && events.some(reloadOn)) reloadSoon();
  }

  return {
    state,
    users: 0,
    reload: () => void reload(),
    set(data) {
      state.value = { data, error: undefined, isLoading: false };
    },
    start() {
      undo = [
        onEvents(hear),
        // At once, and again whenever events were missed.
        effect(() => {
          epoch.value;
          untracked(() => void reload());
        }),
      ];
    },
    stop() {
      for (const step of undo.splice(0)) step();
      loading?.abort();
      loading = null;
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
