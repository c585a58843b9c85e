import { batch, signal } from '@preact/signals';
import type { LiveRuns } from '../shared/api-types.ts';
import { EVENT_TYPES, type LiveEvent } from '../shared/events.ts';
import { ApiError, askRaw, getJson, isSignedIn } from './api.ts';

interface StreamMessage {
  readonly type: string;
  readonly data: string;
  readonly id: string;
}

interface StreamListener {
  onOpen(): void;
  onMessage(message: StreamMessage): void;
  /** The stream ended or could not be opened. */
  onEnd(): void;
}

const DEFAULTS = {
  /** Milliseconds before the first retry after a loss; doubled each time, up to the maximum. */
  firstRetryMs: 300,
  lastRetryMs: 5_000,
  /** Milliseconds of silence that count as a loss: the gateway sends a heartbeat every 15 s. */
  silenceMs: 40_000,
  /** Milliseconds an event waits for a frame at most: hidden tabs have none. */
  lastFrameMs: 250,
  /** Characters of one message; the gateway never sends longer ones. */
  message: 64 * 1024 * 1024,
  /** Milliseconds after the end of a touch until the browser has sent its click. */
  clickMs: 100,
};

export type Connection = 'connecting' | 'live' | 'lost';

/** For the banner and the dot in the navigation. */
export const connection = signal<Connection>('connecting');

/** Incremented whenever everything must be reloaded because events were missed. */
export const epoch = signal(0);

type Listener = (events: readonly LiveEvent[]) => void;

const listeners = new Set<Listener>();
let queue: LiveEvent[] = [];
let isFlushing = false;
let lastEventId: string | null = null;
let close = () => {};
let retryMs = DEFAULTS.firstRetryMs;
let watchdog: ReturnType<typeof setTimeout> | undefined;

/** Calls `listener` with the events of each frame, in one render. Returns a function that unsubscribes. */
export function onEvents(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

const { promise: placed, resolve: place } = Promise.withResolvers<void>();

/**
 * Resolves when the place to follow events from is known, or cannot be known yet: whatever happened after a load and
 * before that place would never be heard.
 */
export function placeKnown(): Promise<void> {
  return placed;
}

/** Follows events from a snapshot on, and after a loss from the last event seen. */
export async function startLive(): Promise<void> {
  try {
    lastEventId ??= (await getJson<LiveRuns>('/live')).last_event_id;
    open();
  } catch (error) {
    if (isSignedIn.peek() || ApiError.from(error).status !== 401) retry();
  }
  place();
}

function open(): void {
  close = openStream(`/api/events?since=${encodeURIComponent(lastEventId ?? '')}`, {
    onOpen() {
      retryMs = DEFAULTS.firstRetryMs;
      // Loads again what failed to load during the outage.
      if (connection.peek() === 'lost') epoch.value += 1;
      connection.value = 'live';
      stayAlert();
    },
    onMessage: receive,
    onEnd: retry,
  });
}

function receive(message: StreamMessage): void {
  if (message.id) lastEventId = message.id;
  stayAlert();
  if (message.type === 'reset') epoch.value += 1;
  if ((EVENT_TYPES as readonly string[]).includes(message.type)) enqueue(message);
}

function enqueue(message: StreamMessage): void {
  queue.push({ type: message.type, ...JSON.parse(message.data) } as LiveEvent);
  if (isFlushing) return;
  isFlushing = true;
  inNextFrame(async () => {
    await pressOver();
    const events = queue;
    queue = [];
    isFlushing = false;
    batch(() => {
      for (const listener of listeners) listener(events);
    });
  });
}

function retry(): void {
  close();
  clearTimeout(watchdog);
  connection.value = 'lost';
  setTimeout(() => void probe(), retryMs);
  retryMs = Math.min(DEFAULTS.lastRetryMs, retryMs * 2);
}

/** A refused stream gives no reason; a plain request does. */
async function probe(): Promise<void> {
  try {
    const { last_event_id } = await getJson<LiveRuns>('/live');
    lastEventId ??= last_event_id;
    open();
  } catch {
    if (isSignedIn.peek()) retry();
  }
}

function stayAlert(): void {
  clearTimeout(watchdog);
  watchdog = setTimeout(retry, DEFAULTS.silenceMs);
}

function inNextFrame(work: () => Promise<void>): void {
  let isDone = false;
  const once = () => {
    if (isDone) return;
    isDone = true;
    void work();
  };
  requestAnimationFrame(once);
  setTimeout(once, DEFAULTS.lastFrameMs);
}

/**
 * `text/event-stream` over `fetch`: an `EventSource` cannot send an Authorization header. Returns a function
 * that closes it.
 */
function openStream(address: string, listener: StreamListener): () => void {
  const closing = new AbortController();
  void read(address, listener, closing.signal).then(
    () => closing.signal.aborted || listener.onEnd(),
    () => closing.signal.aborted || listener.onEnd(),
  );
  return () => closing.abort();
}

async function read(address: string, listener: StreamListener, signal: AbortSignal): Promise<void> {
  const reply = await askRaw(address, { headers: { accept: 'text/event-stream' }, signal });
  if (!reply.ok || !reply.body) return;
  listener.onOpen();
  let rest = '';
  for await (const piece of reply.body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + piece).split('\n\n');
    rest = blocks.pop() ?? '';
    if (rest.length > DEFAULTS.message) return;
    for (const block of blocks) listener.onMessage(messageOf(block));
  }
}

/** Parses one message (HTML, 9.2.6) as the gateway writes it: line ends are plain line feeds. */
function messageOf(block: string): StreamMessage {
  const message = { type: 'message', data: [] as string[], id: '' };
  for (const line of block.split('\n')) {
    const [, field, value = ''] = /^([a-z]+): ?(.*)$/.exec(line) ?? [];
    if (field === 'event') message.type = value;
    else if (field === 'id') message.id = value;
    else if (field === 'data') message.data.push(value);
  }
  return { ...message, data: message.data.join('\n') };
}

let waiting: (() => void)[] = [];

let isPressed = false;

let timer: ReturnType<typeof setTimeout> | undefined;

/**
 * Resolves when no button is pressed: an element that moves between press and release would lose its click,
 * so updates wait.
 */
export function pressOver(): Promise<void> {
  return isPressed ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve();
}

function endIn(ms: number): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    isPressed = false;
    const released = waiting;
    waiting = [];
    for (const resolve of released) resolve();
  }, ms);
}

export function watchPresses(): void {
  const hear = (type: string, listener: (event: PointerEvent) => void) =>
    addEventListener(type, listener as EventListener, { capture: true, passive: true });
  hear('pointerdown', ({ button }) => {
    if (button !== 0) return;
    isPressed = true;
    clearTimeout(timer);
  });
  hear('pointerup', () => isPressed && endIn(DEFAULTS.clickMs));
  hear('click', () => isPressed && endIn(0));
  hear('pointercancel', () => isPressed && endIn(0));
  // The end of a press on a system menu is not reported.
  hear('keydown', () => isPressed && endIn(0));
  hear('pointermove', ({ buttons }) => isPressed && buttons === 0 && endIn(0));
}
