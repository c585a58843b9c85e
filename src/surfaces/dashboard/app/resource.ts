import { effect, type ReadonlySignal, signal, untracked } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { LiveEvent } from '../shared/events.ts';
import { ApiError } from './api.ts';
import { epoch, onEvents, pressOver } from './live.ts';

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

/** The components that show it now, with their current options. */
interface User<T> {
  readonly current: ResourceOptions<T>;
}

interface SharedResource<T> extends Resource<T> {
  /** Answers how to leave. */
  join(user: User<T>): () => void;
  isInUse(): boolean;
}

const kept = new Map<string, SharedResource<unknown>>();

/**
 * A snapshot that follows events, shared by all who ask for the same key: it is loaded again when any of them
 * says so. Reading `.state.value` in a component follows it.
 */
export function useResource<T>(key: string, options: ResourceOptions<T>): Resource<T> {
  const user = useRef(options);
  user.current = options;
  const resource = useMemo(() => resourceOf(key) as SharedResource<T>, [key]);
  useEffect(() => resource.join(user), [resource]);
  return resource;
}

function resourceOf(key: string): SharedResource<unknown> {
  const found = kept.get(key);
  if (found) return found;
  const made = createResource<unknown>();
  kept.set(key, made);
  for (const [old, resource] of kept) {
    if (kept.size <= DEFAULTS.kept) break;
    if (!resource.isInUse() && old !== key) kept.delete(old);
  }
  return made;
}

function createResource<T>(): SharedResource<T> {
  const state = signal<Loaded<T>>({ data: undefined, error: undefined, isLoading: true });
  const users = new Set<User<T>>();
  let loading: AbortController | null = null;
  let isStale = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Events that came while a load was under way: its answer may or may not know them. */
  let meanwhile: LiveEvent[] = [];
  let undo: (() => void)[] = [];

  const wishes = () => [...users].map(({ current }) => current);
  const applied = (data: T, events: readonly LiveEvent[]): T => {
    const apply = wishes().find((wish) => wish.apply)?.apply;
    return apply ? events.reduce(apply, data) : data;
  };

  async function reload(): Promise<void> {
    const [wish] = wishes();
    if (!wish) return;
    loading?.abort();
    clearTimeout(timer);
    timer = undefined;
    const own = new AbortController();
    loading = own;
    isStale = false;
    meanwhile = [];
    state.value = { ...state.peek(), isLoading: true };
    try {
      const loaded = await wish.load(own.signal);
      await pressOver();
      if (loading !== own) return;
      state.value = { data: applied(loaded, meanwhile), error: undefined, isLoading: false };
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
    if (loading) meanwhile.push(...events);
    const { data } = state.peek();
    if (data !== undefined) {
      const next = applied(data, events);
      if (next !== data) state.value = { ...state.peek(), data: next };
    }
    if (wishes().some(({ reloadOn }) => reloadOn && events.some(reloadOn))) reloadSoon();
  }

  function start(): void {
    undo = [
      onEvents(hear),
      // At once, and again whenever events were missed.
      effect(() => {
        epoch.value;
        untracked(() => void reload());
      }),
    ];
  }

  function stop(): void {
    for (const step of undo.splice(0)) step();
    loading?.abort();
    loading = null;
    clearTimeout(timer);
    timer = undefined;
  }

  return {
    state,
    isInUse: () => users.size > 0,
    reload: () => void reload(),
    set(data) {
      state.value = { data, error: undefined, isLoading: false };
    },
    join(user) {
      const wasFollowed = wishes().some(({ reloadOn, apply }) => reloadOn || apply);
      users.add(user);
      if (users.size === 1) start();
      // Those who were there before did not mind how old it is.
      else if (!wasFollowed && user.current.reloadOn) void reload();
      return () => {
        users.delete(user);
        if (users.size === 0) stop();
      };
    },
  };
}
