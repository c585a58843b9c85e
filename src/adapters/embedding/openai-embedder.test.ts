import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { OpenAiEmbedder, type OpenAiOptions } from './openai-embedder.ts';

interface Seen {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: { model: string; input: string[] };
}

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** A real endpoint on this machine, and an embedder that uses it. */
async function endpoint(
  answer: (response: ServerResponse, seen: Seen, nth: number) => void,
  options?: OpenAiOptions,
) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as Seen['body'];
    seen.push({ url: request.url, headers: request.headers, body });
    answer(response, seen.at(-1)!, seen.length);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  stops.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const settings = {
    kind: 'openai',
    url: `http://127.0.0.1:${port}/v1/`,
    model: 'some-model',
    dimension: 2,
    apiKey: 'sk-very-secret',
  } as const;
  const embedder = new OpenAiEmbedder(settings, { retryDelayMs: 1, ...options });
  return { embedder, settings, seen };
}

/** The length of each text and 1, in reverse order. */
function lengths(response: ServerResponse, { body }: Seen): void {
  const data = body.input.map((text, index) => ({ index, embedding: [text.length, 1] })).reverse();
  response.end(JSON.stringify({ data }));
}

const failing = (status: number, text: string) => (response: ServerResponse) =>
  response.writeHead(status).end(text);

test('[EMB-9] calls the endpoint like OpenAI, in batches, and gives unit vectors in order', async () => {
  const { embedder, seen } = await endpoint(lengths);
  const texts = Array.from({ length: 70 }, (_, i) => 'x'.repeat(i + 1));
  const vectors = await embedder.embed(texts);
  expect(vectors).toHaveLength(70);
  for (const [i, vector] of vectors.entries()) {
    expect(vector[0]! / vector[1]!).toBeCloseTo(i + 1, 3);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
  }
  expect(seen.map(({ body }) => body.input.length)).toEqual([64, 6]);
  expect(seen[0]).toMatchObject({
    url: '/v1/embeddings',
    headers: { authorization: 'Bearer sk-very-secret', 'content-type': 'application/json' },
    body: { model: 'some-model', encoding_format: 'float' },
  });
});

test('[EMB-9] sends no key when none is configured, and never sends an empty text', async () => {
  const { settings, seen } = await endpoint(lengths);
  await new OpenAiEmbedder({ ...settings, apiKey: null }).embed(['']);
  expect(seen[0]!.headers.authorization).toBeUndefined();
  expect(seen[0]!.body.input).toEqual([' ']);
});

test('[EMB-10] retries when the endpoint is overloaded or breaks off, and then succeeds', async () => {
  const { embedder, seen } = await endpoint((response, request, nth) => {
    if (nth === 1) response.writeHead(429).end('slow down');
    else if (nth === 2) response.destroy();
    else lengths(response, request);
  });
  expect(await embedder.embed(['ab'])).toHaveLength(1);
  expect(seen).toHaveLength(3);
});

test('[EMB-10] gives up after a few attempts, with the answer of the endpoint', async () => {
  const { embedder, seen } = await endpoint(failing(503, 'no capacity'));
  await expect(embedder.embed(['ab'])).rejects.toMatchObject({
    code: 'embedding_unavailable',
    message: expect.stringContaining('answered 503: no capacity'),
  });
  expect(seen).toHaveLength(3);
});

test.each([
  [401, 'api_key'],
  [404, 'pml.embedding.url'],
  [400, 'pml.embedding'],
])('[EMB-10] does not retry after %i, says what to check and does not show the key', async (status, hint) => {
  const { embedder, seen } = await endpoint(failing(status, 'wrong key sk-very-secret'));
  const error = await embedder.embed(['ab']).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: 'embedding_unavailable', hint: expect.stringContaining(hint) });
  expect(error.message).not.toContain('sk-very-secret');
  expect(seen).toHaveLength(1);
});

test('[EMB-10] does not wait forever', async () => {
  const { embedder } = await endpoint(() => {}, { timeoutMs: 50 });
  await expect(embedder.embed(['ab'])).rejects.toMatchObject({
    message: expect.stringContaining('did not respond within 50 ms'),
  });
});

test('[EMB-10] names an endpoint that does not exist', async () => {
  const { settings } = await endpoint(lengths);
  const embedder = new OpenAiEmbedder(
    { ...settings, url: 'http://user:pass@127.0.0.1:1/v1' },
    { retryDelayMs: 1 },
  );
  const error = await embedder.embed(['ab']).catch((thrown) => thrown);
  expect(error).toMatchObject({
    code: 'embedding_unavailable',
    hint: expect.stringContaining('pml.embedding.url'),
  });
  expect(error.message).not.toContain('pass');
  expect(() => new OpenAiEmbedder({ ...settings, url: 'nowhere' })).toThrow('not a valid address');
});

test.each([
  ['too few vectors', { data: [{ index: 0, embedding: [1, 2] }] }],
  ['a vector of another size', { data: [0, 1].map((index) => ({ index, embedding: [1, 2, 3] })) }],
  ['no numbers', { data: [0, 1].map((index) => ({ index, embedding: ['a', null] })) }],
  ['something else', { ok: true }],
  ['nothing', null],
])('[EMB-10] refuses %s', async (_, body) => {
  const { embedder } = await endpoint((response) => response.end(JSON.stringify(body)));
  await expect(embedder.embed(['a', 'b'])).rejects.toMatchObject({
    code: 'embedding_unavailable',
    hint: expect.stringContaining('dimension'),
  });
});

test('[EMB-10] closing ends pending requests', async () => {
  const { embedder } = await endpoint(() => {});
  const waiting = expect(embedder.embed(['ab'])).rejects.toMatchObject({ code: 'embedding_unavailable' });
  await embedder.close();
  await waiting;
});
