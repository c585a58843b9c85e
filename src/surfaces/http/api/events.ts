import type { HttpBindings } from '@hono/node-server';
import type { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { Gateway } from '../../../engine/gateway.ts';
import { maySee } from '../../../engine/people/roles.ts';
import type { NumberedEvent } from '../../../engine/traces/event-log.ts';
import { type EventStreamOptions, followEvents } from '../event-stream.ts';
import { whoIs } from '../guard.ts';

export interface EventOptions extends Pick<EventStreamOptions, 'heartbeatMs' | 'maxBehind'> {}

/** `/api/events`: a stream, which no operation is. */
export function eventRoutes(api: Hono, { events }: Gateway, life: string, options: EventOptions): void {
  api.get('/events', (context) => {
    const after = context.req.header('last-event-id') ?? context.req.query('since');
    const { outgoing } = (context.env ?? {}) as Partial<HttpBindings>;
    context.header('X-Accel-Buffering', 'no');
    const who = whoIs(context);
    const mayHear = ({ ownership }: NumberedEvent) => maySee(who, ownership);
    return streamSSE(context, async (stream) => {
      const ended = new AbortController();
      stream.onAbort(() => ended.abort());
      // Only the socket itself can be cut: what is written to a reader that stands still never ends.
      const onSlow = () => {
        ended.abort();
        stream.abort();
        outgoing?.destroy();
      };
      const messages = followEvents(events, {
        ...options,
        life,
        after,
        signal: ended.signal,
        onSlow,
        mayHear,
      });
      for await (const message of messages) await stream.writeSSE(message);
    });
  });
}
