import type { EventId, EventStore, JSONRPCMessage, StreamId } from '@modelcontextprotocol/server';

const DEFAULTS = {
  events: 50,
  /** Characters of content beyond which a message is not kept: losing one is better than keeping fifty. */
  chars: 256 * 1024,
};

interface KeptEvent {
  readonly id: EventId;
  readonly streamId: StreamId;
  /** Null for one that is too large to be kept. */
  readonly message: JSONRPCMessage | null;
}

/** What a session was told last, for a client that lost its connection and comes back for the rest. */
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
    if (streamId === undefined) throw new Error(`Event ${lastEventId} is not kept any more`);
    for (const { id, streamId: stream, message } of this.#events.slice(at + 1)) {
      if (stream === streamId && message) await send(id, message);
    }
    return streamId;
  }
}

/** By its content alone: nothing else grows large. */
function isLarge(message: JSONRPCMessage): boolean {
  const content = 'result' in message ? message.result.content : undefined;
  if (!Array.isArray(content)) return false;
  const chars = content.map(({ text, data }) => String(text ?? data ?? '').length);
  return chars.reduce((sum, size) => sum + size, 0) > DEFAULTS.chars;
}
