import { describe, expect, test } from 'vitest';
import { toolId } from '../../src/core/vocabulary/ids.ts';
import type { SearchHit } from '../../src/engine/catalogue/search.ts';
import type { Gateway } from '../../src/engine/gateway.ts';
import { createMemoryEmbedder } from '../memory/embedder.ts';
import type { MemoryServer } from '../memory/upstream-server.ts';
import { callTool, connectClient, ERAS, fetchInto, openEndpoints } from '../support/mcp-endpoints.ts';
import { temporaryStore } from '../support/temporary-store.ts';
import { NOBODY, testGateway, tool } from '../support/test-gateway.ts';

const server = (name: string, tools: Readonly<Record<string, string>>): MemoryServer => ({
  name,
  tools: Object.entries(tools).map(([each, description]) => tool(each, () => each, { description })),
});

const SERVERS = [
  server('playwright', {
    navigate: 'Open a page in the browser',
    screenshot: 'Take a screenshot of the page',
    click: 'Click on an element',
  }),
  server('filesystem', { write_file: 'Write text to a file', read_file: 'Read text of a file' }),
  server('camera', { screenshot: 'Take a screenshot of the page' }),
  server('mail', { send: 'Send a message' }),
];

/** A share of runs, so never all of it. */
const BETWEEN = expect.toSatisfy((score: number) => score > 0 && score < 1);

const CAPTURE = `await mcp.playwright.navigate({});
await mcp.playwright.screenshot({});
return await mcp.filesystem.write_file({});`;

async function runs(gateway: Gateway, code: string, times = 1) {
  for (let i = 0; i < times; i++) {
    expect(await gateway.executeCode({ code }, NOBODY)).toMatchObject({ status: 'success' });
    await gateway.settled();
  }
}

async function search(gateway: Gateway, query: string, ...contextTools: string[]) {
  const context = contextTools.length > 0 ? { contextTools } : {};
  return await gateway.searchTools({ query, limit: 10, includeRelated: true, ...context });
}

const ids = (hits: readonly SearchHit[]) => hits.map(({ tool }) => tool.id);
const hit = (hits: readonly SearchHit[], id: string) => hits.find(({ tool }) => tool.id === id)!;

function expectNumbers(hits: readonly SearchHit[]) {
  for (const { semanticScore, graphScore, finalScore, related } of hits) {
    const scores = [semanticScore, graphScore, finalScore, ...related.map(({ score }) => score)];
    expect(scores.every(Number.isFinite)).toBe(true);
  }
}

describe.each(ERAS)('%s', (era) => {
  test('[GRAPHUSE-15] search_tools returns the parts of its score, and what comes before and after', async () => {
    const { gateway } = await testGateway({ servers: SERVERS, store: await temporaryStore() });
    await runs(gateway, CAPTURE, 3);
    const client = await connectClient(fetchInto(openEndpoints(gateway)), { era });
    const { structuredContent } = await callTool(client, 'pml_search_tools', {
      query: 'take a screenshot',
      limit: 5,
      include_related: true,
      context_tools: ['playwright:navigate'],
    });
    const { tools } = structuredContent as { tools: Record<string, unknown>[] };
    const [first] = tools;
    expect(first).toMatchObject({
      tool_id: 'playwright:screenshot',
      server_id: 'playwright',
      graph_score: 1,
      related_tools: [
        { tool_id: 'filesystem:write_file', relation: 'often_after', score: BETWEEN },
        { tool_id: 'playwright:navigate', relation: 'often_before', score: BETWEEN },
      ],
    });
    // Two edges were seen, so the text has 0.8 of the score.
    const expected = 0.8 * Number(first?.semantic_score) + 0.2;
    expect(first?.final_score).toBeCloseTo(expected, 12);
  });
});

test('[GRAPHUSE-15] of tools with equal texts, the one that runs showed with the context comes first', async () => {
  const { gateway } = await testGateway({ servers: SERVERS });
  await runs(gateway, CAPTURE);
  await runs(gateway, 'await mcp.mail.send({}); return await mcp.camera.screenshot({})');
  const query = 'Take a screenshot of the page';
  const plain = await search(gateway, query);
  const [one, other] = [hit(plain, 'playwright:screenshot'), hit(plain, 'camera:screenshot')];
  expect(one.graphScore).toBe(0);
  expect(one.finalScore).toBe(one.semanticScore);
  expect(Math.abs(one.semanticScore - other.semanticScore)).toBeLessThan(0.15);
  expect(ids(await search(gateway, query, 'playwright:navigate'))[0]).toBe('playwright:screenshot');
  expect(ids(await search(gateway, query, 'mail:send'))[0]).toBe('camera:screenshot');
  expect(ids(await search(gateway, query, 'mail__send'))[0]).toBe('camera:screenshot');
});

test('[GRAPHUSE-15] tools with common neighbours are less related than neighbours, and varying orders are reported as such', async () => {
  const { gateway } = await testGateway({ servers: SERVERS });
  await runs(gateway, CAPTURE, 2);
  await runs(gateway, 'await mcp.mail.send({}); return await mcp.filesystem.read_file({})');
  await runs(gateway, 'await mcp.filesystem.read_file({}); return await mcp.mail.send({})');
  const navigate = hit(await search(gateway, 'open a page'), 'playwright:navigate');
  expect(navigate.related.map(({ toolId: id }) => id)).toEqual([
    'playwright:screenshot',
    'filesystem:write_file',
  ]);
  const [neighbour, further] = navigate.related;
  expect(neighbour).toMatchObject({ relation: 'often_after', score: BETWEEN });
  expect(further?.score).toBeGreaterThan(0);
  expect(further?.score).toBeLessThan(neighbour?.score ?? 0);
  expect(hit(await search(gateway, 'send a message'), 'mail:send').related).toEqual([
    { toolId: 'filesystem:read_file', relation: 'used_together', score: BETWEEN },
  ]);
});

test('[GRAPHUSE-15] the graph counts more as more is observed', async () => {
  const many = server(
    'many',
    Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`step_${i}`, `Step ${i}`])),
  );
  const { gateway } = await testGateway({ servers: [many] });
  const alphaOf = async () => {
    const [first] = await search(gateway, 'Step 3', 'many:step_0');
    const { semanticScore, graphScore, finalScore } = first!;
    return (finalScore - graphScore) / (semanticScore - graphScore);
  };
  await runs(gateway, 'await mcp.many.step_0({}); return await mcp.many.step_1({})');
  expect(await alphaOf()).toBeCloseTo(0.8, 9);
  const all = (order: readonly number[]) => order.map((i) => `await mcp.many.step_${i}({});`).join('\n');
  const upwards = [...Array(12).keys()];
  await runs(gateway, all(upwards));
  await runs(gateway, all(upwards.toReversed()));
  const { edges } = await gateway.graph.view();
  expect(edges).toHaveLength(22);
  expect(await alphaOf()).toBeCloseTo(0.8 - (0.25 * (22 - 10)) / 40, 9);
});

test('[GRAPHUSE-14] [GRAPHUSE-15] an unknown context changes nothing, whatever it is', async () => {
  const { gateway } = await testGateway({ servers: SERVERS });
  await runs(gateway, CAPTURE, 3);
  const plain = await search(gateway, 'write a file');
  expectNumbers(plain);
  for (const odd of ['none:such', '', ':', 'no id', 'code:', 'capability:x', '\u0000', 'a'.repeat(1_000)]) {
    expect(await search(gateway, 'write a file', odd), odd.slice(0, 20)).toEqual(plain);
  }
  await expect(search(gateway, 'write a file', 'a'.repeat(10_000))).rejects.toMatchObject({
    code: 'too_large',
  });
  const mixed = await search(gateway, 'write a file', 'none:such', 'playwright:screenshot');
  expect(hit(mixed, 'filesystem:write_file').graphScore).toBe(1);
});

test('[GRAPHUSE-14] no servers, one tool and disconnected parts are searched without problems', async () => {
  const empty = await testGateway();
  expect(await search(empty.gateway, 'anything', 'a:b')).toEqual([]);

  const alone = await testGateway({ servers: [server('mail', { send: 'Send a message' })] });
  await runs(alone.gateway, 'await mcp.mail.send({}); return await mcp.mail.send({})', 3);
  const [only, ...rest] = await search(alone.gateway, 'send a message', 'mail:send');
  expect(rest).toEqual([]);
  expect(only?.related).toEqual([]);
  expectNumbers([only!]);

  const parts = await testGateway({ servers: SERVERS });
  await runs(parts.gateway, 'await mcp.mail.send({}); return await mcp.filesystem.read_file({})');
  await runs(parts.gateway, 'await mcp.playwright.navigate({}); return await mcp.playwright.click({})');
  const hits = await search(parts.gateway, 'click', 'mail:send');
  expect(hit(hits, 'playwright:click').graphScore).toBe(0);
  expect(ids(hits)[0]).toBe('playwright:click');
  expectNumbers(hits);
});

test('[GRAPHUSE-15] before any run templates apply, and they give way to observations', async () => {
  const [navigate, screenshot] = [toolId('playwright', 'navigate'), toolId('playwright', 'screenshot')];
  const { gateway } = await testGateway({
    servers: SERVERS,
    templates: [{ from: navigate, to: screenshot, type: 'dependency' }],
  });
  const query = 'Take a screenshot of the page';
  const before = hit(await search(gateway, query, navigate), screenshot);
  expect(before.graphScore).toBeGreaterThan(0);
  expect(before.related).toContainEqual(
    expect.objectContaining({ toolId: navigate, relation: 'often_before' }),
  );
  await runs(gateway, 'await mcp.playwright.screenshot({}); return await mcp.playwright.navigate({})', 3);
  const after = hit(await search(gateway, query, navigate), screenshot);
  expect(after.related).toContainEqual(
    expect.objectContaining({ toolId: navigate, relation: 'often_after' }),
  );
});

test('[SEARCH-12] the first search and the first suggestion wait for the embeddings of new tools', async () => {
  const inner = createMemoryEmbedder();
  const held = Promise.withResolvers<void>();
  const embedder = {
    ...inner,
    async embed(texts: readonly string[]) {
      if (texts.length > 1) await held.promise;
      return await inner.embed(texts);
    },
  };
  const { gateway } = await testGateway({ servers: SERVERS, embedder, settle: false });
  const asked = [gateway.searchTools({ query: 'message' }), gateway.suggest('send a message')] as const;
  setImmediate(held.resolve);
  const [hits, { plan }] = await Promise.all(asked);
  expect(hits[0]).toMatchObject({ tool: { id: 'mail:send' } });
  expect(hits[0]!.parts.whole).toBeGreaterThan(hits[1]!.parts.whole);
  expect(plan.tasks).toMatchObject([{ tool: 'mail:send' }]);
});
