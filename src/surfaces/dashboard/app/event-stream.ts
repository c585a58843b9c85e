import { askRaw } from './api.ts';

const DEFAULTS = {
  /** Characters of one message; the gateway sends no longer ones. */
  message: 64 * 1024 * 1024,
};

export interface StreamMessage {
  readonly type: string;
  readonly data: string;
  readonly id: string;
}

export interface StreamListener {
  onOpen(): void;
  onMessage(message: StreamMessage): void;
  /** It ended, or could not be had. */
  onEnd(): void;
}

/** `text/event-stream` by `fetch`: an `EventSource` can send no credential but a cookie. Answers how to close it. */
export function openStream(address: string, listener: StreamListener): () => void {
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

/** Fields of one message (HTML, 9.2.6), as the gateway writes them: ends of lines are plain line feeds. */
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
