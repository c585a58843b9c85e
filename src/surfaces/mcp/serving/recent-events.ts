import type { EventId, EventStore, JSONRPCMessage, StreamId } from '@modelcontextprotocol/server';

const DEFAULTS = {
  events: 50,
  /** Characters of content beyond which a message is not stored: losing one is better than storing fifty. */
  chars: 256 * 1024,
};

interface KeptEvent {
  readonly id: EventId;
  readonly streamId: StreamId;
  /** Null for a message too large to store. */
  readonly message: JSONRPCMessage | null;
}

/** A session's last messages, for a client that reconnects. */
export class RecentEvents implements EventStore {
  #events: KeptEvent[] = [];
  #last = 0;

  async storeEvent(streamId: StreamId, message: JSONRPCMessage): Promise<EventId> {
    const id = String(++this.#last);
    this.#events.push({ id, streamId, message: isLarge(message) ? null : message });
    if (this.#events.length > DEFAULTS.events) this.#events.shift();
    return id;
  }

  async getStreamIdForEventId(eventId: EventId): Promise<StreamId | undefined> {
    return this.#events.find(({ id }) => id === eventId)?.streamId;
  }

  async replayEventsAfter(
    lastEventId: EventId,
    { send }: { send: (eventId: EventId, message: JSONRPCMessage) => Promise<void> },
  ): Promise<StreamId> {
    const at = this.#events.findIndex(({ id }) => id === lastEventId);
    const streamId = this.#events[at]?.streamId;
    if (streamId === undefined) throw new Error(`Event ${lastEventId} was dropped`);
    for (const { id, streamId: stream, message } of this.#events.slice(at + 1)) {
      if (stream === streamId && message) await send(id, message);
    }
    return streamId;
  }
}

/** By content only: nothing else gets large. */
function isLarge(message: JSONRPCMessage): boolean {
  const content = 'result' in message ? message.result.content : undefined;
  if (!Array.isArray(content)) return false;
  const chars = content.map(({ text, data }) => String(text ?? data ?? '').length);
  return chars.reduce((sum, size) => sum + size, 0) > DEFAULTS.chars;
}
