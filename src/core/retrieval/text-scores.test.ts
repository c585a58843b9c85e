import { expect, test } from 'vitest';
import {
  createBm25,
  createWordIndex,
  lexicalScores,
  SHIPPED_WEIGHTS,
  scoreWords,
  textScores,
} from './text-scores.ts';
import { words } from './words.ts';

const NO_NAMES = new Map<number, number>();

test('[SEARCH-7] the whole query, its best clause and its words are fused with the shipped weights', () => {
  const { whole, clause, lexical } = SHIPPED_WEIGHTS;
  expect(whole + clause + lexical).toBeCloseTo(1, 12);
  const cosines = { whole: [0.5, 0.1], clauses: [[0.2, 0.6]] };
  const scores = textScores(Float64Array.of(0.25, 0), cosines, NO_NAMES);
  expect([...scores.clause].map((score) => score.toFixed(6))).toEqual(['-0.200000', '0.200000']);
  expect(scores.fused[0]).toBeCloseTo(whole * 0.5 + clause * -0.2 + lexical * 0.25, 12);
  expect(scores.fused[1]).toBeCloseTo(whole * 0.1 + clause * 0.2, 12);
});

test('[SEARCH-7] a clause that resembles every tool supports none of them', () => {
  const about = [0.1, 0.5, 0.1];
  const empty = [0.6, 0.6, 0.6];
  const { clause } = textScores(new Float64Array(3), { whole: about, clauses: [about, empty] }, NO_NAMES);
  expect(clause[1]).toBeGreaterThan(0.2);
  expect(clause[0]).toBeCloseTo(0, 12);
});

test('[SEARCH-7] a tool without a vector counts as average; without any vectors, words alone decide', () => {
  const cosines = { whole: [0.2, Number.NaN, 0.4], clauses: [[0.2, Number.NaN, 0.4]] };
  const scores = textScores(new Float64Array(3), cosines, NO_NAMES);
  expect(scores.whole[1]).toBeCloseTo(0.3, 12);
  expect(scores.clause[1]).toBeCloseTo(0, 12);
  const nothing = { whole: [Number.NaN, Number.NaN], clauses: [[Number.NaN, Number.NaN]] };
  const lexical = Float64Array.of(0.5, 0.25);
  expect(textScores(lexical, nothing, NO_NAMES).fused).toEqual(textScores(lexical, null, NO_NAMES).fused);
});

test('[SEARCH-7] a named tool ranks above all others; tools that share the name keep their order', () => {
  const lexical = Float64Array.of(0.3, 0.9, 0.2);
  const cosines = { whole: [0.1, 0.9, 0], clauses: [[0.1, 0.9, 0]] };
  const named = new Map([
    [0, 1],
    [2, 1],
  ]);
  const { fused } = textScores(lexical, cosines, named);
  expect(fused[0]).toBeGreaterThan(fused[2]!);
  expect(fused[2]).toBeGreaterThan(fused[1]!);
  expect(Math.max(...fused)).toBeLessThan(1);
});

test('[SEARCH-7] the share of words stays below 1 without being cut, however long the query', () => {
  const index = createBm25([['a', 'b'], ['a', 'c', 'd'], ['e']]);
  const [exact, other, none] = lexicalScores(index, ['a', 'b', 'a', 'b']);
  expect(exact).toBeGreaterThan(other!);
  expect(exact).toBeLessThan(1);
  expect(none).toBe(0);
  expect([...lexicalScores(index, ['unknown'])]).toEqual([0, 0, 0]);
  expect([...lexicalScores(index, [])]).toEqual([0, 0, 0]);
});

test('[SEARCH-18] in a query of several clauses, tools gain from other tools of their server that fit', () => {
  const entries = [...'aaabbc'].map((server, i) => ({ server, name: `tool${i}`, words: [] }));
  const index = createWordIndex(entries);
  expect(index.servers).toEqual([
    [0, 1, 2],
    [3, 4],
  ]);
  const whole = [0.5, 0.4, 0.4, 0.5, 0, 0.5];
  const fusedBy = (clauses: readonly number[][], of = index) =>
    scoreWords(of, { text: 'first do this, then that', words: [] }, { whole, clauses });
  const { fused, server } = fusedBy([whole, whole]);
  const own = fusedBy([whole]);
  const { server: share } = SHIPPED_WEIGHTS;
  expect(own.server.every(Number.isNaN)).toBe(true);
  for (const [first, ...others] of index.servers) {
    const mean = [first!, ...others].reduce((sum, i) => sum + own.fused[i]!, 0) / (others.length + 1);
    for (const i of [first!, ...others]) {
      expect(server[i]).toBeCloseTo(mean, 12);
      expect(fused[i]).toBeCloseTo((1 - share) * own.fused[i]! + share * mean, 12);
    }
  }
  expect(fused[0]).toBeGreaterThan(fused[3]!);
  expect(fused[5]).toBe(own.fused[5]);
});

test('[SEARCH-18] only the best tools of a server count for it, and two servers are too few', () => {
  const names = (count: number, server: string) =>
    Array.from({ length: count }, (_, i) => ({ server, name: `tool${i}`, words: [] }));
  const scoresOf = (entries: ReturnType<typeof names>) => {
    const whole = entries.map((_, i) => (i < 6 ? 0.5 : 0));
    const cosines = { whole, clauses: [whole, whole] };
    return scoreWords(createWordIndex(entries), { text: 'do this, then that', words: [] }, cosines);
  };
  const { server, fused } = scoresOf([...names(40, 'large'), ...names(1, 'other'), ...names(1, 'third')]);
  expect(server[0]).toBeCloseTo(fused[0]!, 12);
  expect(server[39]).toBe(server[0]);
  const two = scoresOf([...names(40, 'large'), ...names(40, 'other')]);
  expect(two.server.every(Number.isNaN)).toBe(true);
});

test('[SEARCH-15] a word of a short query that no tool uses counts through related words that tools do use', () => {
  const index = createBm25(['current weather', 'read file', 'list folders'].map(words));
  const [weather, file, folder] = lexicalScores(index, words('will it rain'));
  expect(weather).toBeGreaterThan(0);
  expect([file, folder]).toEqual([0, 0]);
  const exact = lexicalScores(index, words('how is the weather'))[0]!;
  expect(exact).toBeGreaterThanOrEqual(weather!);
  const long = words('will it rain when Ada Bob Carl Dora Emil Fritz Gustav Heinz and Ida leave');
  expect([...lexicalScores(index, long)]).toEqual([0, 0, 0]);
});

test('[SEARCH-15] the best related word of a term counts, not the sum', () => {
  const index = createBm25([['a', 'b'], ['a'], ['c']]);
  const term = [['a', 1] as const, ['b', 0.5] as const];
  const [both, one, none] = index.scores([term]);
  const [first, second] = index.scores(['a']);
  expect(none).toBe(0);
  expect(one).toBe(second);
  expect(both).toBe(Math.max(first!, 0.5 * index.scores(['b'])[0]!));
  expect(index.ideal([term])).toBe(Math.max(index.ideal(['a']), 0.5 * index.ideal(['b'])));
});

test('[SEARCH-16] the first word of a short query lifts the tool whose whole name it is', () => {
  const names = ['git_commit', 'git_commit_history', 'git_push', 'git_local_changes'];
  const index = createWordIndex(names.map((name) => ({ server: 'git', name, words: words(name) })));
  const lexicalOf = (text: string) => scoreWords(index, { text, words: words(text) }, null).lexical;
  const plain = lexicalScores(index.lexical, words('commit my work'));
  const [commit, history] = lexicalOf('commit my work');
  expect(commit).toBeGreaterThan(plain[0]!);
  expect(history).toBe(plain[1]);
  expect(lexicalOf('show my commit')[0]).toBe(lexicalScores(index.lexical, words('show my commit'))[0]);
});

test('[SEARCH-16] a verb is not the whole name of a tool that names its object after it', () => {
  const names = ['move_file', 'read_file', 'write_file', 'list_directory'];
  const index = createWordIndex(names.map((name) => ({ server: 'files', name, words: words(name) })));
  const query = { text: 'move the meeting', words: words('move the meeting') };
  expect(scoreWords(index, query, null).lexical).toEqual(lexicalScores(index.lexical, query.words));
});
