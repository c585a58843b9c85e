import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { handMadeGateway } from '../../../../test/support/hand-made-gateway.ts';
import { startHttp } from '../../../../test/support/http-gateway.ts';
import { readEvents } from '../../../../test/support/read-events.ts';
import type { EventLog } from '../../../engine/traces/event-log.ts';
import type { EventOptions } from './create-api.ts';
import { createApi } from './create-api.ts';

async function serve({ kept, ...options }: EventOptions & { kept?: number } = {}) {
  const gateway = handMadeGateway({ servers: async () => [] }, kept);
  const watch = countFollowers(gateway.events);
  const api = createApi({ ...gateway, events: watch.log }, { log: () => {} }, options);
  // The API itself follows what runs do.
  const own = watch.count();
  const { listener, token } = await startHttp({ api });
  onTestFinished(listener.close);
  const headers = { authorization: `Bearer ${token}` };
  return {
    listener,
    headers,
    followers: () => watch.count() - own,
    emit(...runs: string[]) {
      for (const run of runs) {
        watch.log.emit({
          type: 'run_started',
          run_id: run,
          session_id: null,
          origin: 'agent',
          intent: null,
          owner: null,
          visibility: 'shared',
        });
      }
    },
    async follow(query = '', lastEventId?: string) {
      const reply = await fetch(`${listener.url}/api/events${query}`, {
        headers: { ...headers, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) },
      });
      const events = readEvents(reply);
      onTestFinished(() => events.close().catch(() => {}));
      return { ...events, type: reply.headers.get('content-type') };
    },
  };
}

function countFollowers(log: EventLog): { log: EventLog; count(): number } {
  let followers = 0;
  const follow: EventLog['follow'] = (listener) => {
    const stop = log.follow(listener);
    followers += 1;
    return () => {
      followers -= 1;
      stop();
    };
  };
  const counted = Object.create(log, { follow: { value: follow } }) as EventLog;
  return { log: counted, count: () => followers };
}

test('[API-8] events arrive as they happen, each with its id', async () => {
  const { follow, emit } = await serve();
  const stream = await follow();
  expect(stream.type).toBe('text/event-stream');
  const hello = await stream.next();
  expect(hello).toMatchObject({ event: 'hello', id: expect.stringMatching(/^\w+\.0$/) });
  emit('a', 'b');
  const [a, b] = await stream.take(2);
  expect(a).toMatchObject({
    event: 'run_started',
    data: { type: 'run_started', run_id: 'a', at: expect.any(String) },
  });
  expect([a?.id, b?.id]).toEqual([1, 2].map((seq) => hello?.id?.replace(/0$/, String(seq))));
});

test('[API-9] a reader that reconnects gets what it missed, once and in order, by header or query', async () => {
  const { follow, emit } = await serve();
  const stream = await follow();
  await stream.next();
  emit('a', 'b');
  const [a] = await stream.take(1);
  await stream.close();
  emit('c', 'd');
  for (const again of [await follow('', a?.id), await follow(`?since=${a?.id}`)]) {
    const missed = await again.take(3);
    expect(missed.map(({ data }) => (data as { run_id: string }).run_id)).toEqual(['b', 'c', 'd']);
  }
  // The header is newer than the address: a browser repeats the address when it reconnects.
  const both = await follow(`?since=${a?.id}`, a?.id?.replace(/1$/, '3'));
  expect((await both.next())?.data).toMatchObject({ run_id: 'd' });
});

test('[API-9] a snapshot says which event to follow from', async () => {
  const { emit, headers, listener, follow } = await serve();
  emit('before');
  const snapshot = await fetch(`${listener.url}/api/servers`, { headers });
  const { last_event_id } = (await snapshot.json()) as { last_event_id: string };
  emit('after');
  const stream = await follow(`?since=${last_event_id}`);
  expect((await stream.next())?.data).toMatchObject({ run_id: 'after' });
});

test('[API-10] a reader whose events are no longer kept, or are from an earlier gateway process, is notified', async () => {
  const { follow, emit } = await serve({ kept: 3 });
  const stream = await follow();
  const hello = await stream.next();
  emit('a', 'b', 'c', 'd', 'e');
  const strangers = [hello?.id, 'deadbeef.2', 'nonsense', hello?.id?.replace(/0$/, '99')];
  for (const [index, id] of strangers.entries()) {
    const again = await follow('', id);
    expect(await again.next()).toMatchObject({
      event: 'reset',
      id: hello?.id?.replace(/0$/, `${5 + index}`),
    });
    emit('next');
    expect((await again.next())?.data).toMatchObject({ run_id: 'next' });
  }
});

test('[API-11] a heartbeat without an id breaks the silence', async () => {
  const { follow } = await serve({ heartbeatMs: 20 });
  const stream = await follow();
  await stream.next();
  expect(await stream.take(2)).toEqual(Array(2).fill({ event: 'heartbeat', id: undefined, data: {} }));
});

test('[API-12] a reader that stops reading is disconnected; the others continue, and it can reconnect', async () => {
  const { follow, emit, listener, headers, followers } = await serve({ maxBehind: 50, kept: 100_000 });
  const quick = await follow();
  const hello = await quick.next();
  // It never reads: nobody listens to what it receives.
  const slow = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ host: '127.0.0.1', port: listener.port, path: '/api/events', headers }, resolve)
      .on('error', reject)
      .end();
  });
  await expect.poll(followers).toBe(2);
  // Until the buffers of both ends of the connection are full and it falls behind.
  const text = 'x'.repeat(20_000);
  let sent = 0;
  while (followers() === 2 && sent < 2_000) {
    emit(...Array.from({ length: 20 }, () => text));
    sent += 20;
    await quick.take(20);
  }
  expect(followers()).toBe(1);
  const cut = once(slow.resume(), 'error');
  expect((await cut)[0]).toMatchObject({ code: 'ECONNRESET' });
  emit('after');
  expect((await quick.next())?.data).toMatchObject({ run_id: 'after' });
  const back = await follow('', hello?.id);
  expect(await back.take(sent + 1)).toHaveLength(sent + 1);
});

test('[API-12] a reader that disconnects leaves nothing behind', async () => {
  const { follow, followers } = await serve();
  const stream = await follow();
  await stream.next();
  expect(followers()).toBe(1);
  await stream.close();
  await expect.poll(followers).toBe(0);
});
