import { readFileSync } from 'node:fs';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MiniLmEmbedder } from '../../src/adapters/embedding/minilm-embedder.ts';
import { briefSignature } from '../../src/core/capabilities/tool-signature.ts';
import { WasmVectorIndex } from '../../src/core/retrieval/wasm-vector-index.ts';
import { toolText } from '../../src/core/retrieval/words.ts';
import { toolId } from '../../src/core/vocabulary/ids.ts';
import type { ToolDefinition } from '../../src/core/vocabulary/tool-definition.ts';
import {
  createSearchIndex,
  type SearchHit,
  type SearchIndex,
  search,
} from '../../src/engine/catalogue/search.ts';
import { serverlessGateway } from '../support/hand-made-gateway.ts';
import { callTool, connectClient, fetchInto, openEndpoints } from '../support/mcp-endpoints.ts';

const FOLDER = new URL('../fixtures/findability/', import.meta.url);

function lines<T>(file: string): T[] {
  const text = readFileSync(new URL(file, FOLDER), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);
}

const tools = lines<Pick<ToolDefinition, 'server' | 'name' | 'description' | 'inputSchema'>>(
  'tools.jsonl',
).map(
  (tool): ToolDefinition => ({
    ...tool,
    inputSchema: tool.inputSchema ?? { type: 'object' },
    id: toolId(tool.server, tool.name),
    definitionHash: '',
  }),
);
const intents = lines<{ intent: string; tools: string[] }>('intents.jsonl');
const embedder = new MiniLmEmbedder();
let index: SearchIndex;

beforeAll(async () => {
  const vectors = new WasmVectorIndex(embedder.dimension);
  const embedded = await embedder.embed(tools.map(toolText));
  for (const [i, tool] of tools.entries()) vectors.set(tool.id, embedded[i]!);
  index = createSearchIndex(tools, vectors);
});
afterAll(() => embedder.close());

async function found(
  wanted: typeof intents,
): Promise<{ intent: string; tools: string[]; hits: SearchHit[] }[]> {
  return await Promise.all(
    wanted.map(async (each) => ({ ...each, hits: await search(index, embedder, { query: each.intent }) })),
  );
}

test('[SEARCH-14] for 100 wishes over 397 real tools, 80 find a right one first, 95 among the first five', async () => {
  const answers = await found(intents.filter((each) => each.tools.length > 0));
  const ranks = answers.map((each) => each.hits.findIndex(({ tool }) => each.tools.includes(tool.id)));
  expect(answers).toHaveLength(100);
  expect(ranks.filter((rank) => rank === 0).length).toBeGreaterThanOrEqual(80);
  expect(ranks.filter((rank) => rank >= 0).length).toBeGreaterThanOrEqual(95);
});

test('[SEARCH-13] for 27 of 30 wishes that no tool can serve, search says so, with at most the two nearest', async () => {
  const answers = await found(intents.filter((each) => each.tools.length === 0));
  const told = answers.filter(({ hits }) => hits.every(({ fits }) => fits === false));
  expect(answers).toHaveLength(30);
  expect(told.length).toBeGreaterThanOrEqual(27);
  for (const { hits } of told) expect(hits.length).toBeLessThanOrEqual(2);
});

test('[SEARCH-13] for at most 12 of 100 wishes that a tool can serve, search says that none fits', async () => {
  const answers = await found(intents.filter((each) => each.tools.length > 0));
  const told = answers.filter(({ hits }) => hits.every(({ fits }) => fits === false));
  expect(told.length).toBeLessThanOrEqual(12);
});

test.each([
  ['commit my changes', ['Git_Repo_Browser:git_commit']],
  ['read file', ['filesystem:read_text_file', 'Desktop_Commander:read_file']],
  ['look up react documentation', ['Context7:get-library-docs', 'Context7:resolve-library-id']],
])('[SEARCH-14] "%s" finds a right tool first', async (query, right) => {
  const [first] = await search(index, embedder, { query });
  expect(right).toContain(first?.tool.id);
});

test('[SEARCH-13] where even the nearest tools are far, none is returned', async () => {
  const query = 'how long does it take to drive from Berlin to Munich';
  expect(await search(index, embedder, { query })).toEqual([]);
});

test('[SEARCH-13] a named tool and the tools of one server are returned in any case', async () => {
  const named = await search(index, embedder, { query: 'hexists' });
  expect(named[0]).toMatchObject({ tool: { id: 'Redis:hexists' } });
  const ofServer = await search(index, embedder, { query: 'sing a song', server: 'Redis' });
  for (const hits of [named, ofServer]) {
    expect(hits).toHaveLength(5);
    for (const hit of hits) expect(hit).not.toHaveProperty('fits');
  }
});

test('[TOKEN-2] the five tools found for each of 100 wishes take at most 700 tokens, scores in two digits', async () => {
  const answers = await found(intents.filter((each) => each.tools.length > 0));
  const byIntent = new Map(answers.map(({ intent, hits }) => [intent, hits]));
  const searchTools = async ({ query }: { readonly query: string }) =>
    byIntent.get(query)!.map((hit) => ({ ...hit, brief: briefSignature(hit.tool.inputSchema) }));
  const client = await connectClient(fetchInto(openEndpoints(serverlessGateway({ searchTools }))), {
    era: 'legacy',
  });
  const sizes: number[] = [];
  for (const { intent, hits } of answers) {
    const { content } = await callTool(client, 'pml_search_tools', { query: intent });
    const text = content[0]?.text ?? '';
    for (const { tool } of hits) expect(text).toContain(`${tool.id} `);
    expect(text.match(/ \(-?\d?\.\d\d\)$/gm)).toHaveLength(hits.length);
    sizes.push(countTokens(text));
  }
  expect(Math.max(...sizes)).toBeLessThanOrEqual(700);
});
