import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { RecentEvents } from './recent-events.ts';

const message = (n: number, text = 'x'): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id: n,
  result: { content: [{ type: 'text', text }] },
});

async function replay(events: RecentEvents, after: string): Promise<unknown[]> {
  const sent: unknown[] = [];
  const send = async (_id: string, { id }: JSONRPCMessage & { id?: unknown }) => void sent.push(id);
  await events.replayEventsAfter(after, { send });
  return sent;
}

test('[MCP-26] events after a given one are sent again, of the same stream only', async () => {
  const events = new RecentEvents();
  const first = await events.storeEvent('a', message(1));
  await events.storeEvent('b', message(2));
  await events.storeEvent('a', message(3));
  expect(await events.getStreamIdForEventId(first)).toBe('a');
  expect(await replay(events, first)).toEqual([3]);
});

test('[MCP-26] only a bounded number is kept', async () => {
  const events = new RecentEvents();
  const first = await events.storeEvent('a', message(0));
  const second = await events.storeEvent('a', message(1));
  for (let n = 2; n <= 50; n++) await events.storeEvent('a', message(n));
  await expect(replay(events, first)).rejects.toThrow('was dropped');
  expect(await replay(events, second)).toHaveLength(49);
  await events.storeEvent('b', message(51));
  const at = await events.storeEvent('b', message(52));
  await events.storeEvent('b', message(53, 'y'.repeat(300_000)));
  await events.storeEvent('b', message(54));
  expect(await replay(events, at)).toEqual([54]);
});
