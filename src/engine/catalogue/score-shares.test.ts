import { expect, test } from 'vitest';
import { codeGateway, tool } from '../../../test/support/code-gateway.ts';
import { scoreShares } from './score-shares.ts';

test('[DASH-66] the shares of a score make it, with and without context', async () => {
  const tools = ['read_file', 'write_file', 'send_mail'].map((name) => tool(name, () => 'done'));
  const { gateway } = await codeGateway({ servers: [{ name: 'files', tools }] });
  for (const contextTools of [[], ['files:write_file']]) {
    const hits = await gateway.searchTools({ query: 'read_file and tell', limit: 3, contextTools });
    expect(hits).toHaveLength(3);
    for (const hit of hits) {
      const sum = Object.values(scoreShares(hit)).reduce((total, share) => total + share, 0);
      expect(sum).toBeCloseTo(hit.finalScore, 10);
    }
    expect(scoreShares(hits[0]!).name).toBeGreaterThan(0);
  }
});

test('[DASH-66] what was learned stands in the place of the text', () => {
  const parts = { whole: 0.5, clause: 0.25, lexical: 1, name: 0, alpha: 0.8, learned: 0.5 };
  const hit = { parts, semanticScore: 0.6, graphScore: 0.5, finalScore: 0.5 };
  expect(scoreShares(hit as Parameters<typeof scoreShares>[0])).toEqual({
    semantic: 0,
    clause: 0,
    lexical: 0,
    name: 0,
    graph: expect.closeTo(0.1),
    learned: expect.closeTo(0.4),
  });
});
