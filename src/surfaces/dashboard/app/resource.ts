import { effect, type ReadonlySignal, signal, untracked } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { LiveEvent } from '../shared/events.ts';
import { ApiError } from './api.ts';
import { epoch, onEvents, placeKnown, pressOver } from './live.ts';

const DEFAULTS = {
  /** Minimum milliseconds between two reloads caused by events. */
  betweenLoadsMs: 400,
  /** Unused resources to keep, so that a page the user returns to shows data at once. */
  kept: 30,
};

/** Both may be set: data stays when a later load fails. */
export interface Loaded<T> {
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
}

export interface ResourceOptions<T> {
  load(signal: AbortSignal): Promise<T>;
  /**
   * Whether an event makes the data stale. A burst causes one reload, and events during a load are not
   * missed.
   */
  reloadOn?(event: LiveEvent): boolean;
  /** Applies an event directly. Must tolerate events that the snapshot already includes. */
  apply?(data: T, event: LiveEvent): T;
}

export interface Resource<T> {
  readonly state: ReadonlySignal<Loaded<T>>;
  reload(): void;
  /** Replaces the data, for example with the response of an action. */
  set(data: T): void;
}

/** A component that uses the resource, with its current options. */
interface User<T> {
  readonly current: ResourceOptions<T>;
}

interface SharedResource<T> extends Resource<T> {
  /** Returns a function that leaves. */
  join(user: User<T>): () => void;
  isInUse(): boolean;
  /** Drops a load under way, to load again when `withoutLoads` ends. */
  interrupt(): void;
}

const kept = new Map<string, SharedResource<unknown>>();

/** The resources to load afterwards, while loads are held. */
let held: Set<() => Promise<void>> | null = null;

/**
 * Deletes something by `work` and navigates away from its page. Nothing is loaded meanwhile: the page would ask for
 * what is gone.
 */
export async function withoutLoads(work: () => Promise<void>): Promise<void> {
  const waiting = new Set<() => Promise<void>>();
  held = waiting;
  for (const resource of kept.values()) resource.interrupt();
  try {
    await work();
    // The page that work navigated to is rendered in a microtask.
    await new Promise((resolve) => setTimeout(resolve));
  } finally {
    held = null;
    for (const load of waiting) void load();
  }
}

/**
 * A snapshot that follows events, shared by all components with the same key: it reloads when any of them
 * asks. Reading `.state.value` in a component subscribes to it.
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
  /** Events that arrived during a load, whose response may or may not include them. */
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
    if (held) {
      loading = null;
      held.add(reload);
      return;
    }
    const own = new AbortController();
    loading = own;
    isStale = false;
    meanwhile = [];
    state.value = { ...state.peek(), isLoading: true };
    try {
      await placeKnown();
      if (loading !== own) return;
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
      // Now, and whenever events were missed.
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
    interrupt: () => void (loading && reload()),
    reload: () => void reload(),
    set(data) {
      state.value = { data, error: undefined, isLoading: false };
      // A load that began before would bring back the data of then.
      if (loading) void reload();
    },
    join(user) {
      const wasFollowed = wishes().some(({ reloadOn, apply }) => reloadOn || apply);
      users.add(user);
      if (users.size === 1) start();
      // Earlier users did not follow events, so the data may be stale.
      else if (!wasFollowed && user.current.reloadOn) void reload();
      return () => {
        users.delete(user);
        if (users.size === 0) stop();
      };
    },
  };
}
