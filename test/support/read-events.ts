export interface ReceivedEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: unknown;
}

/** The events that a browser's EventSource would deliver, one at a time; null at the end of the stream. */
export function readEvents(reply: Response): {
  next(): Promise<ReceivedEvent | null>;
  take(count: number): Promise<ReceivedEvent[]>;
  close(): Promise<void>;
} {
  const reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  const next = async (): Promise<ReceivedEvent | null> => {
    for (;;) {
      const end = rest.indexOf('\n\n');
      if (end !== -1) {
        const lines = rest.slice(0, end).split('\n');
        rest = rest.slice(end + 2);
        const field = (name: string) =>
          lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
        return {
          event: field('event') ?? 'message',
          id: field('id'),
          data: JSON.parse(field('data') ?? 'null'),
        };
      }
      const { done, value } = await reader.read();
      if (done) return null;
      rest += value;
    }
  };
  return {
    next,
    async take(count) {
      const taken: ReceivedEvent[] = [];
      while (taken.length < count) taken.push((await next()) as ReceivedEvent);
      return taken;
    },
    close: () => reader.cancel(),
  };
}
