import { expect, test } from 'vitest';
import { boundedFetch } from './bounded-fetch.ts';

const LIMIT = 100;

/** What comes through of an answer made of these pieces. */
async function received(type: string, pieces: Iterable<string>): Promise<string> {
  const encoder = new TextEncoder();
  const body = ReadableStream.from(
    Iterator.from(pieces[Symbol.iterator]()).map((piece) => encoder.encode(piece)),
  );
  const plain = async () => new Response(body, { headers: { 'content-type': type } });
  return await (await boundedFetch(plain, LIMIT)('http://localhost/')).text();
}

test('[HANG-4] an endless event is cut off; many events are not', async () => {
  const endless = (function* () {
    for (;;) yield 'data: x';
  })();
  await expect(received('text/event-stream', endless)).rejects.toThrow('larger than 100 bytes');
  const lines = (function* () {
    for (;;) yield 'data: x\n';
  })();
  await expect(received('text/event-stream', lines)).rejects.toThrow('larger than 100 bytes');
  for (const end of ['\n\n', '\r\n\r\n']) {
    const event = `data: ${'x'.repeat(60)}${end}`;
    await expect(received('text/event-stream', Array(50).fill(event))).resolves.toBe(event.repeat(50));
    await expect(received('text/event-stream', [event.repeat(50)])).resolves.toBe(event.repeat(50));
  }
  const split = ['data: ', 'x'.repeat(60), '\n', '\n', 'data: ', 'y'.repeat(60), '\n', '\n'];
  await expect(received('text/event-stream; charset=utf-8', split)).resolves.toBe(split.join(''));
});

test('[HANG-4] any other answer is cut off at the size limit', async () => {
  await expect(received('application/json', ['x'.repeat(100)])).resolves.toHaveLength(100);
  await expect(received('application/json', ['x'.repeat(60), '\n\n', 'x'.repeat(60)])).rejects.toThrow();
});
