import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { successorsOf } from './deprecated-tools.ts';
import { textScores } from './text-scores.ts';

const SEED = { seed: proofSeed(), numRuns: proofRuns(200) };

const others = ['read_text_file', 'search', 'list'].map((name) => ({
  server: 'files',
  name,
  description: '',
}));

/** The successor that a description of `read_file` names. */
function successorBy(description: string): string | undefined {
  const tools = [{ server: 'files', name: 'read_file', description }, ...others];
  return tools[successorsOf(tools).get(0) ?? -1]?.name;
}

test.each([
  // The wording of the reference server for files.
  'Read the complete contents of a file as text. DEPRECATED: Use read_text_file instead.',
  'Deprecated: use read_text_file instead.',
  'DEPRECATED in favour of `read_text_file`',
  'Deprecated in favor of read_text_file.',
  '[DEPRECATED - use files:read_text_file] Reads a file',
  'Reads a file (deprecated, replaced by read_text_file)',
  'This tool is deprecated. Please use the new **read_text_file** tool.',
  'This deprecated tool reads a file; prefer read_text_file.',
  'Deprecated: do not use read_file, use Read_Text_File',
  'Has been deprecated since 2.0, switch to files__read_text_file',
])('[SEARCH-11] the successor is read from "%s"', (description) => {
  expect(successorBy(description)).toBe('read_text_file');
});

test.each([
  ['Deprecated: use search instead.', 'search'],
  ['Deprecated. Use the `list` tool', 'list'],
  ['Deprecated: see the list of what is new', undefined],
  ['Deprecated: use read_binary_file instead.', undefined],
  ['Deprecated: use mail:read_text_file instead.', undefined],
  ['Deprecated: use read_file instead.', undefined],
  ['Deprecated.', undefined],
  ['Lists deprecated packages. Use read_text_file to read one.', undefined],
  ['Deprecated packages are listed. Use read_text_file to read one.', undefined],
  ['This tool is not deprecated. Use read_text_file for text.', undefined],
  ['Deprecated: do not use read_text_file with it.', undefined],
  ['Reads a file. Use read_text_file for text.', undefined],
])('[SEARCH-11] "%s" names %s', (description, name) => {
  expect(successorBy(description)).toBe(name);
});

test('[SEARCH-11] a chain ends at its last tool, a cycle is ignored, and so are other servers', () => {
  const tools = [
    ['a', 'Deprecated: use `b`.'],
    ['b', 'Deprecated: use `c`.'],
    ['c', ''],
    ['x', 'Deprecated: use `y`.'],
    ['y', 'Deprecated: use `x`.'],
    ['z', 'Deprecated: use `x`.'],
  ].map(([name, description]) => ({ server: 's', name: name!, description: description! }));
  const elsewhere = { server: 'other', name: 'old', description: 'Deprecated: use `c`.' };
  expect([...successorsOf([...tools, elsewhere])]).toEqual([
    [1, 2],
    [0, 1],
    [5, 3],
  ]);
});

test('[SEARCH-11] any text can be read, and a successor is another tool of the same server', () => {
  const word = fc.oneof(
    fc.constantFrom(
      'deprecated',
      'Deprecated:',
      'use',
      'favour of',
      'not',
      '`a`',
      'a',
      'b_c.',
      's:b_c',
      '\n',
    ),
    fc.string({ unit: 'binary' }),
  );
  const tool = fc.record({
    server: fc.constantFrom('s', 't'),
    name: fc.constantFrom('a', 'b_c', 'd', '__proto__', 'constructor'),
    description: fc.array(word, { maxLength: 12 }).map((words) => words.join(' ')),
  });
  fc.assert(
    fc.property(fc.array(tool, { maxLength: 8 }), (tools) => {
      const settled = new Set<number>();
      const successors = successorsOf(tools);
      for (const [old, successor] of successors) {
        expect(successor).not.toBe(old);
        expect(tools[successor]!.server).toBe(tools[old]!.server);
        // A tool is listed after its successor, against which it is scored.
        expect(settled.has(successor) || !successors.has(successor)).toBe(true);
        settled.add(old);
      }
    }),
    SEED,
  );
});

test('[SEARCH-11] a deprecated tool ranks below its successor, and all others keep their scores', () => {
  const size = 8;
  const unit = fc.double({ min: 0, max: 1, noNaN: true });
  const row = (value: fc.Arbitrary<number>) => fc.array(value, { minLength: size, maxLength: size });
  const cosine = fc.double({ min: -1, max: 1, noNaN: true });
  const cases = fc.record({
    lexical: row(fc.oneof(unit, fc.constantFrom(0, 0.5))),
    cosines: fc.option(fc.record({ whole: row(cosine), clauses: fc.array(row(cosine), { maxLength: 3 }) })),
    named: fc.uniqueArray(fc.integer({ min: 0, max: size - 1 }), { maxLength: 2 }),
  });
  // 4 replaces 1, and 1 replaces 0.
  const successors = new Map([
    [1, 4],
    [0, 1],
    [6, 7],
  ]);
  const servers = [
    [0, 1, 2, 4],
    [3, 5],
  ];
  fc.assert(
    fc.property(cases, ({ lexical, cosines, named }) => {
      const names = new Map(named.map((place) => [place, 1]));
      const scores = (old: ReadonlyMap<number, number>) =>
        textScores(Float64Array.from(lexical), cosines, names, undefined, { successors: old, servers });
      const plain = scores(new Map());
      const lowered = scores(successors);
      for (const [old, successor] of successors) {
        expect(lowered.fused[old]).toBeLessThan(lowered.fused[successor]!);
        if (lowered.lexical[successor]! > 1e-6)
          expect(lowered.lexical[old]).toBeLessThan(lowered.lexical[successor]!);
      }
      for (const place of [2, 3, 5]) expect(lowered.fused[place]).toBe(plain.fused[place]);
      if (![0, 1].some((place) => names.has(place))) expect(lowered.fused[4]).toBe(plain.fused[4]);
      if (!names.has(6)) expect(lowered.fused[7]).toBe(plain.fused[7]);
    }),
    SEED,
  );
});
