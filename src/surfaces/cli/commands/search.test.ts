import { expect, test } from 'vitest';
import { openedGateway, runCommand } from '../../../../test/support/command-line.ts';
import { handMadeGateway } from '../../../../test/support/hand-made-gateway.ts';
import { sampleTool } from '../../../../test/support/samples.ts';
import { FEATURES } from '../../../core/learning/ranker/rank-features.ts';
import { rankingInWords } from '../../../core/vocabulary/ranking-words.ts';
import type { SearchQuery } from '../../../engine/catalogue/search.ts';

function searching(found = true) {
  const asked: SearchQuery[] = [];
  const gateway = handMadeGateway({
    async searchTools(query) {
      asked.push(query);
      const related = [{ toolId: 'files:write', relation: 'often_after', score: 0.5 }] as const;
      const parts = { whole: 0.5, clause: 0.25, lexical: 0.9, name: 0, alpha: 0.8 };
      const scores = { semanticScore: 0.75, graphScore: 0, finalScore: 0.8125, parts };
      const typed = query.signatures ? { signature: '/** Reads */\nmcp.files.read(): Promise<string>' } : {};
      return found ? [{ tool: sampleTool('files', 'read'), ...typed, ...scores, related }] : [];
    },
  });
  return { asked, system: { openGateway: async () => openedGateway(gateway) } };
}

test('[FIND-1] tools are ranked with their scores; --explain splits the scores', async () => {
  const { asked, system } = searching();
  const plain = await runCommand(['search', 'read a file'], system);
  expect(plain).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^0\.81\d {2}files:read {2}Reads a file/),
  });
  const { out } = await runCommand(
    ['search', 'read', '--limit', '3', '--server', 'files', '--context', 'a:b, c:d', '--explain'],
    system,
  );
  expect(out).toContain('semantic 0.750 (whole query 0.500, best clause 0.250, words 0.900, name 0.000)');
  expect(out).toContain('graph 0.000, semantic has weight 0.800');
  expect(out).toContain('often after files:write (0.500)');
  expect(asked).toEqual([
    { query: 'read a file', limit: 5, includeRelated: false },
    {
      query: 'read',
      limit: 3,
      server: 'files',
      contextTools: ['a:b', 'c:d'],
      includeRelated: true,
      explain: true,
    },
  ]);
});

test('[LEARN-9] --explain says in plain words what past runs taught, and which runs', async () => {
  const parts = { whole: 0.5, clause: 0.25, lexical: 0.9, name: 0, alpha: 1, learned: 0.625 };
  const reasons = {
    parts: [
      { name: 'votes', moved: 1.5 },
      { name: 'head_3', moved: -0.25 },
      { name: 'popularity', moved: 0.0001 },
    ],
    runs: [{ intent: 'read\u001b[2J the notes', similarity: 0.875 }],
  };
  const hit = { tool: sampleTool('files', 'read'), semanticScore: 0.75, graphScore: 0, finalScore: 0.625 };
  const gateway = handMadeGateway({ searchTools: async () => [{ ...hit, parts, reasons, related: [] }] });
  const system = { openGateway: async () => openedGateway(gateway) };
  const { out } = await runCommand(['search', 'x', '--explain'], system);
  expect(out).toContain(
    [
      '    learned 0.625 replaces semantic, from past runs:',
      '      +1.50 the runs with the most similar intents used it',
      '      -0.25 learned for similar intents and tools, part 3',
      '      used for "read',
    ].join('\n'),
  );
  expect(out).toContain('(similarity 0.875)');
  expect(out).not.toContain('popular');
  expect(out).not.toContain('\u001b');
  expect(out).toContain('learned has weight 1.000');
  for (const feature of FEATURES) expect(rankingInWords(feature), feature).not.toBe(feature);
  const json = JSON.parse((await runCommand(['search', 'x', '--explain', '--json'], system)).out);
  expect(json.tools[0]).toMatchObject({ parts: { learned: 0.625 }, reasons });
});

test('[LEARN-18] --explain says once that nothing learned applies, if so', async () => {
  const told = 'Nothing learned applies here: ranked by text.\n';
  const explain = async (share: object, ...options: string[]) => {
    const parts = { whole: 0.5, clause: 0.25, lexical: 0.9, name: 0, alpha: 1, ...share };
    const scores = { semanticScore: 0.75, graphScore: 0, finalScore: 0.75, parts, related: [] };
    const hits = ['read', 'write'].map((name) => ({ tool: sampleTool('files', name), ...scores }));
    const gateway = handMadeGateway({ searchTools: async () => hits });
    const system = { openGateway: async () => openedGateway(gateway) };
    return (await runCommand(['search', 'x', ...options], system)).out;
  };
  const out = await explain({ learnedShare: 0 }, '--explain');
  expect(out.startsWith(`${told}\n0.750  files:read\n`)).toBe(true);
  expect(out.split(told)).toHaveLength(2);
  expect(await explain({ learnedShare: 0.5, learned: 1 }, '--explain')).not.toContain(told);
  expect(await explain({}, '--explain')).not.toContain(told);
  expect(await explain({ learnedShare: 0 })).not.toContain(told);
  const json = JSON.parse(await explain({ learnedShare: 0 }, '--json'));
  expect(json.tools[0].parts).toMatchObject({ learned_share: 0 });
  expect(json.tools[0].parts).not.toHaveProperty('learnedShare');
});

test('[FIND-3] --json prints what the API returns, and an empty result says so', async () => {
  const json = JSON.parse((await runCommand(['search', 'x', '--json'], searching().system)).out);
  expect(json.tools[0]).toMatchObject({ tool_id: 'files:read', final_score: 0.8125 });
  expect((await runCommand(['search', 'x'], searching(false).system)).out).toMatch(/^No tool found/);
});

test('[FIND-2] --signatures prints the tools as code calls them', async () => {
  const { out } = await runCommand(['search', 'x', '--signatures'], searching().system);
  expect(out).toBe('/** Reads */\nmcp.files.read(): Promise<string>\n');
});
