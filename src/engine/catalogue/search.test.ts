import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createMemoryEmbedder } from '../../../test/memory/embedder.ts';
import { createMemoryStore } from '../../../test/memory/store.ts';
import { createMemoryVectorIndex } from '../../../test/memory/vector-index.ts';
import { proofSeed } from '../../../test/proof-count.ts';
import { sampleTool } from '../../../test/support/samples.ts';
import { settingsFor } from '../../../test/support/settings-for.ts';
import { tool as guestTool, testGateway } from '../../../test/support/test-gateway.ts';
import { toolText } from '../../core/retrieval/words.ts';
import { toolId } from '../../core/vocabulary/ids.ts';
import { readCatalogue } from './catalogue.ts';
import { embedCatalogue } from './embed-catalogue.ts';
import {
  createSearchIndex,
  hiddenTools,
  type LearnedSearch,
  type SearchGraph,
  type SearchQuery,
  scoreShares,
  search,
} from './search.ts';

const TOOLS: [server: string, name: string, description: string][] = [
  ['files', 'read_file', 'Reads the text of a file'],
  ['files', 'write_file', 'Writes text into a file'],
  ['mirror', 'read_file', 'Reads a file of the mirrored disk'],
  ['mail', 'send', 'Sends an electronic letter to a person'],
  ['weather', 'get_forecast', 'Tells the weather of the next days in a city'],
  ['travel', 'bookFlight', 'Books a flight'],
  ['bing-cn', 'bing_search', '使用必应搜索指定的关键词，并返回搜索结果列表'],
];

async function catalogueOf(tools = TOOLS, embedded = true) {
  const store = createMemoryStore();
  await store.tools.put(
    tools.map(([server, name, description]) => ({ ...sampleTool(server, name), description })),
  );
  const embedder = createMemoryEmbedder();
  if (embedded) await embedCatalogue({ store, embedder });
  const settings = settingsFor([...new Set(tools.map(([server]) => server))]);
  const emptyIndex = () => createMemoryVectorIndex(embedder.dimension);
  const catalogue = await readCatalogue(store, settings, embedder.model, emptyIndex);
  return {
    find: (query: string | SearchQuery, graph?: SearchGraph, ranker?: LearnedSearch) =>
      search(catalogue, embedder, typeof query === 'string' ? { query } : query, graph, ranker),
  };
}

/** As the reference server for files describes them. */
const RENAMED: typeof TOOLS = [
  [
    'filesystem',
    'read_file',
    'Read the complete contents of a file as text. DEPRECATED: Use read_text_file instead.',
  ],
  [
    'filesystem',
    'read_text_file',
    'Read the complete contents of a file from the file system as text. Handles various text encodings and provides detailed error messages if the file cannot be read.',
  ],
  [
    'filesystem',
    'write_file',
    'Create a new file or completely overwrite an existing file with new content.',
  ],
  ['mail', 'send', 'Sends an electronic letter to a person'],
];

const best = async (found: Promise<readonly { tool: { id: string } }[]>) => (await found)[0]?.tool.id;

describe('search', () => {
  test.each([
    ['what will the weather be in Rome', 'weather:get_forecast'],
    ['book a flight', 'travel:bookFlight'],
    ['files:write_file', 'files:write_file'],
    ['wriet_file', 'files:write_file'],
    ['Please use mail:send for the text of my file', 'mail:send'],
    ['搜索关键词', 'bing-cn:bing_search'],
  ])('[SEARCH-4] "%s" finds %s', async (query, id) => {
    const { find } = await catalogueOf();
    expect(await best(find(query))).toBe(id);
  });

  test('[SEARCH-8] a score comes with its parts, and without context it is the score of the text', async () => {
    const { find } = await catalogueOf();
    const hits = await find({ query: 'read_file', limit: 50 });
    expect(hits.map(({ tool }) => tool.id).slice(0, 2)).toEqual(['files:read_file', 'mirror:read_file']);
    expect(hits).toHaveLength(TOOLS.length);
    for (const { semanticScore, finalScore, graphScore, parts } of hits) {
      expect({ finalScore, graphScore, alpha: parts.alpha }).toEqual({
        finalScore: semanticScore,
        graphScore: 0,
        alpha: 1,
      });
    }
    expect(hits.map(({ parts }) => parts.name)).toEqual([1, 1, 0, 0, 0, 0, 0]);
    expect(new Set(hits.slice(0, 3).map(({ finalScore }) => finalScore)).size).toBe(3);
  });

  test('[SEARCH-8] with context, the graph has the share that alpha leaves it, and related tools are named', async () => {
    const { find } = await catalogueOf();
    const asked: (readonly string[])[] = [];
    const related = [{ toolId: 'mail:send', relation: 'often_after', score: 0.5 }] as const;
    const graph: SearchGraph = {
      context(tools) {
        asked.push(tools);
        return { alpha: 0.55, scores: new Map([[toolId('files', 'write_file'), 1]]) };
      },
      related: () => related,
    };
    const contextTools = ['files:read_file'];
    const [first, second] = await find(
      { query: 'text of a file', contextTools, includeRelated: true },
      graph,
    );
    expect(first).toMatchObject({ tool: { id: 'files:write_file' }, graphScore: 1, related });
    expect(first!.parts.alpha).toBe(0.55);
    expect(first!.finalScore).toBeCloseTo(0.55 * first!.semanticScore + 0.45, 12);
    expect(second!.finalScore).toBeCloseTo(0.55 * second!.semanticScore, 12);
    expect((await find({ query: 'text', contextTools }, graph))[0]!.related).toEqual([]);
    expect(asked).toEqual([contextTools, contextTools]);
  });

  test('[SEARCH-8] where the text gives no information, the graph does not drown out what was learned', async () => {
    const { find } = await catalogueOf();
    const graph: SearchGraph = {
      context: () => ({ alpha: 0.8, scores: new Map([[toolId('files', 'write_file'), 1]]) }),
      related: () => [],
    };
    const ranker: LearnedSearch = {
      rank: async () => ({
        familiarity: 1,
        scoreOf: (id) => Number(id === 'mail:send'),
        textOf: () => null,
        reasonsFor: () => null,
      }),
    };
    const [first, second] = await find({ query: 'qwertz', contextTools: ['files:read_file'] }, graph, ranker);
    expect(first!.tool.id).toBe('mail:send');
    expect(second!.tool.id).toBe('files:write_file');
  });

  test('[LEARN-18] the text ranks where nothing learned applies, and every hit says how much does', async () => {
    const { find } = await catalogueOf();
    const knowing = (familiarity: number): LearnedSearch => ({
      rank: async () => ({
        familiarity,
        scoreOf: (id) => Number(id === 'mail:send'),
        textOf: () => null,
        reasonsFor: () => ({ parts: [], runs: [] }),
      }),
    });
    const query = { query: 'the weather in a city', explain: true };
    const plain = await find(query);
    const foreign = await find(query, undefined, knowing(0));
    expect(foreign).toEqual(plain.map((hit) => ({ ...hit, parts: { ...hit.parts, learnedShare: 0 } })));
    const [first] = await find(query, undefined, knowing(0.25));
    expect(first).toMatchObject({
      tool: { id: 'mail:send' },
      parts: { learned: expect.any(Number), learnedShare: 0.25 },
      reasons: {},
    });
    expect(plain[0]!.parts).not.toHaveProperty('learnedShare');
  });

  test('[SEARCH-4] only tools of the requested server are found, and no more than requested', async () => {
    const { find } = await catalogueOf();
    const hits = await find({ query: 'a file', server: 'files', limit: 1 });
    expect(hits.map(({ tool }) => tool.server)).toEqual(['files']);
    expect(await find({ query: 'a file', server: 'nobody' })).toEqual([]);
  });
});

describe('odd queries and catalogues', () => {
  test('[SEARCH-9] no tools, no query and no embeddings yet give sensible answers', async () => {
    expect(await (await catalogueOf([])).find('anything')).toEqual([]);
    expect(await (await catalogueOf()).find(' \n ')).toEqual([]);
    const { find } = await catalogueOf(TOOLS, false);
    expect(await best(find('the weather in a city'))).toBe('weather:get_forecast');
  });

  test('[SEARCH-9] the only tool is found whatever the query', async () => {
    const { find } = await catalogueOf([['only', 'one', 'Does something']]);
    const [hit] = await find('something entirely different, and then more of it');
    expect(hit!.tool.id).toBe('only:one');
    expect(hit!.finalScore).not.toBeNaN();
  });

  test('[SEARCH-9] a query of 10,000 characters is answered by its content', async () => {
    const { find } = await catalogueOf();
    const long = `${'The weather in this city matters to us. '.repeat(250)}`;
    expect(long).toHaveLength(10_000);
    expect(await best(find(long))).toBe('weather:get_forecast');
  });

  test('[SEARCH-9] whatever the query, every score is a number below 1 and the order is by score', async () => {
    const { find } = await catalogueOf();
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 300 }), async (query) => {
        const hits = await find({ query, limit: 50 });
        const scores = hits.map(({ finalScore }) => finalScore);
        for (const { finalScore, parts } of hits) {
          for (const value of [finalScore, ...Object.values(parts)]) expect(value).not.toBeNaN();
          expect(finalScore).toBeLessThan(1);
        }
        expect(scores).toEqual(scores.toSorted((a, b) => b - a));
      }),
      { seed: proofSeed() },
    );
  });
});

test('[DASH-66] the shares of a score add up to it, with and without context', async () => {
  const tools = ['read_file', 'write_file', 'send_mail'].map((name) => guestTool(name, () => 'done'));
  const { gateway } = await testGateway({ servers: [{ name: 'files', tools }] });
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

test('[DASH-66] what the other tools of a server add to a score is one of its shares', async () => {
  const { find } = await catalogueOf();
  const hits = await find({ query: 'read the text of my file, then tell the weather in Rome', limit: 7 });
  for (const hit of hits) {
    const shares = scoreShares(hit);
    expect(hit.parts.server !== undefined).toBe(hit.tool.server === 'files');
    expect(shares.server !== 0).toBe(hit.tool.server === 'files');
    expect(shares.name).toBeCloseTo(0, 10);
    expect(Object.values(shares).reduce((total, share) => total + share, 0)).toBeCloseTo(hit.finalScore, 10);
  }
  expect(hits).toHaveLength(7);
});

test('[DASH-66] the learned score replaces the text score', () => {
  const parts = { whole: 0.5, clause: 0.25, lexical: 1, name: 0, alpha: 0.8, learned: 0.5 };
  const hit = { parts, semanticScore: 0.6, graphScore: 0.5, finalScore: 0.5 };
  expect(scoreShares(hit as Parameters<typeof scoreShares>[0])).toEqual({
    semantic: 0,
    clause: 0,
    lexical: 0,
    server: 0,
    name: 0,
    graph: expect.closeTo(0.1),
    learned: expect.closeTo(0.4),
  });
});

test.each([true, false])(
  '[SEARCH-11] the deprecated read_file comes after read_text_file in search and in plans (embedded: %s)',
  async (embedded) => {
    const { find } = await catalogueOf(RENAMED, embedded);
    for (const query of ['read the complete contents of a file as text', 'read_file', 'read file']) {
      const hits = await find({ query, limit: 4 });
      expect(hits.map(({ tool }) => tool.name).slice(0, 2)).toEqual(['read_text_file', 'read_file']);
    }
    const tools = RENAMED.map(([server, name, description]) => ({
      server,
      ...guestTool(name, () => name, { description }),
    }));
    const servers = ['filesystem', 'mail'].map((name) => ({
      name,
      tools: tools.filter(({ server }) => server === name),
    }));
    const { gateway } = await testGateway({ servers });
    const { plan } = await gateway.suggest('read the complete contents of a file as text');
    expect(plan?.tasks.map((task) => ('tool' in task ? task.tool : null))).toEqual([
      'filesystem:read_text_file',
    ]);
  },
);

test('[CLI-11] a tool whose description finds another one is listed with the winner', async () => {
  const described = [
    ['files', 'read_file', 'Reads the text of a file. Examples: send a letter, book a flight.'],
    ['mail', 'send', 'Sends a letter to a person.'],
    ['mail', 'again', 'Sends a letter to a person.'],
    ['mail', 'mute', ''],
  ] as const;
  const tools = described.map(([server, name, description]) => ({
    ...sampleTool(server, name),
    description,
  }));
  const embedder = createMemoryEmbedder();
  const vectors = createMemoryVectorIndex(embedder.dimension);
  for (const tool of tools) vectors.set(tool.id, (await embedder.embed([toolText(tool)]))[0]!);
  expect(await hiddenTools(createSearchIndex(tools, vectors), embedder)).toEqual({
    tools: 4,
    hidden: [
      { tool: 'mail:again', winner: 'mail:send' },
      { tool: 'mail:mute', winner: null },
    ],
  });
});
