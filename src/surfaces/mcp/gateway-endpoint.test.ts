import { expect, test } from 'vitest';
import { serverlessGateway } from '../../../test/support/hand-made-gateway.ts';
import { callTool, connectClient, fetchInto, openEndpoints } from '../../../test/support/mcp-endpoints.ts';
import { sampleTool } from '../../../test/support/samples.ts';
import type { ToolId } from '../../core/vocabulary/ids.ts';
import type { SearchHit } from '../../engine/catalogue/search.ts';

const hit = (id: string, description: string, inputSchema: object): SearchHit => ({
  tool: { ...sampleTool(), id: id as ToolId, description, inputSchema },
  semanticScore: 1,
  graphScore: 0,
  finalScore: 1,
  parts: { whole: 1, clause: 1, lexical: 1, name: 1, alpha: 1 },
  related: [],
});

async function found(hits: readonly SearchHit[]) {
  const gateway = serverlessGateway({ searchTools: async () => [...hits] });
  const client = await connectClient(fetchInto(openEndpoints(gateway)), { era: 'legacy' });
  const answer = await callTool(client, 'pml_search_tools', { query: 'x', limit: 50 });
  return { answer, tools: answer.structuredContent.tools as { description: string; input_schema: object }[] };
}

test('[HANG-10] a definition of megabytes is shown in part, with where to read the rest', async () => {
  const huge = { type: 'object', description: 'y'.repeat(10_000_000) };
  const { answer, tools } = await found([hit('a:large', 'x'.repeat(10_000_000), huge)]);
  expect(JSON.stringify(answer).length).toBeLessThan(200_000);
  expect(tools[0]?.description).toContain('omitted');
  expect(tools[0]?.input_schema).toMatchObject({ truncated: true });
});

test('[HANG-10] many large definitions share one answer, and small ones stay whole', async () => {
  const schema = { type: 'object', description: 'y'.repeat(30_000) };
  const hits = Array.from({ length: 49 }, (_, i) => hit(`a:t${i}`, 'x'.repeat(30_000), schema));
  const { answer, tools } = await found([...hits, hit('a:small', 'Reads a file', { type: 'object' })]);
  expect(JSON.stringify(answer).length).toBeLessThan(2_000_000);
  expect(tools).toHaveLength(50);
  expect(tools[0]).toMatchObject({ description: 'x'.repeat(30_000), input_schema: schema });
  expect(tools[49]).toMatchObject({ description: 'Reads a file', input_schema: { type: 'object' } });
});

test('[LEARN-18] the answer says once that nothing learned applies, and otherwise does not mention it', async () => {
  const read = hit('a:read', 'Reads a file', { type: 'object' });
  const shared = (learnedShare: number) => ({ ...read, parts: { ...read.parts, learnedShare } });
  const { answer } = await found([shared(0), shared(0)]);
  const note = 'Nothing learned applies here: ranked by text.';
  expect(answer.structuredContent).toMatchObject({ note });
  expect(JSON.stringify(answer.content).split(note)).toHaveLength(2);
  for (const hits of [[shared(0.5)], [read], []])
    expect((await found(hits)).answer.structuredContent).not.toHaveProperty('note');
});
