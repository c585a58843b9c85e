import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { isSlug } from '../vocabulary/ids.ts';
import { describeCapability, isReserved, publicIntent, publicWords, slugFor } from './slug.ts';

const READ = 'filesystem:read_text_file';
const WRITE = 'filesystem:write_file';

test.each<[string, string[], string]>([
  ['Count the words in all of my notes', [READ], 'count_words_notes'],
  ['readTextFiles', [], 'read_text_files'],
  ['', [READ, WRITE], 'read_text_file_and_write_file'],
  ['', [READ], 'read_text_file'],
  ['', ['everything:get-sum', 'everything:echo', 'everything:get-sum', 'a:b'], 'get_sum_and_b'],
  ['', [`x:${'very_long_'.repeat(10)}name`], 'very_long_very_long_very'],
  ['translate', ['deepl:translate-text'], 'translate_text'],
  ['translate', [], 'translate'],
  ['delete', [], 'run_delete'],
  ['constructor', [], 'run_constructor'],
  ['', ['x:2nd'], 'run_2nd'],
  ['', [], 'run_task'],
])('[CAP-12] %j with %j is called %s', (intent, tools, slug) => {
  expect(slugFor({ intent, tools, taken: [] })).toBe(slug);
});

test('[CAP-12] a name that is taken, also as a former name, gets a number', () => {
  const intent = 'count words';
  expect(slugFor({ intent, tools: [], taken: ['count_words'] })).toBe('count_words_2');
  expect(slugFor({ intent, tools: [], taken: ['count_words', 'count_words_2', 'count_words_4'] })).toBe(
    'count_words_3',
  );
});

test('[CAP-12] any intent and any tools give a valid name that is free', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 200 }),
    fc.lorem(),
    fc.constantFrom('then', 'toString', '__proto__'),
  );
  fc.assert(
    fc.property(text, fc.array(text), fc.nat(3), (intent, tools, rounds) => {
      const taken = new Set<string>();
      for (let round = 0; round <= rounds; round++) {
        const slug = slugFor({ intent, tools, taken });
        expect(isSlug(slug) && !isReserved(slug) && !taken.has(slug)).toBe(true);
        taken.add(slug);
      }
    }),
    { seed: proofSeed(), numRuns: proofRuns(5000) },
  );
});

test('[CAP-13] a description is one sentence of what was wanted and of the tools', () => {
  expect(describeCapability({ intent: 'count the words', tools: [READ] })).toBe(
    'Count the words, with filesystem:read_text_file.',
  );
  expect(describeCapability({ intent: 'count the words', tools: [] })).toBe('Count the words.');
  expect(describeCapability({ intent: '', tools: [READ, WRITE, READ] })).toBe(
    'Runs filesystem:read_text_file and filesystem:write_file.',
  );
  expect(describeCapability({ intent: '', tools: [] })).toBe('Runs a piece of code.');
});

const CODE = `
  const rows = await mcp.crm.find_customers({ "swordfish": 'tangerine', note: \`marzipan\` }); // pistachio
  return rows.filter((row) => row.isGold).map(({ nickname }) => nickname);
`;
const known = publicWords(CODE, ['crm:find_customers', 'Looks up customers by turnover']);

test.each([
  ['use my account ID 123456 and password abc123 to log into acme', 'use my account and to log'],
  [
    'Read /tmp/joe/a.txt and count "big" words of report.md for bob@example.org, 3 times',
    'read and count words of for times',
  ],
  [
    'Find the customers of Jane Miller with the password swordfish or tangerine, marzipan, pistachio',
    'find the customers',
  ],
  ['nicknames of all gold customers by turnover', 'nicknames of all gold customers by turnover'],
  ['数えて', ''],
  ['please do it for me', ''],
])('[CAP-23] of %j all may know: %s', (intent, told) => {
  expect(publicIntent(intent, known)).not.toMatch(
    /\d|joe|bob|jane|miller|acme|swordfish|tangerine|marzipan|pistachio/i,
  );
  expect(publicIntent(intent, known)).toBe(told);
});

test('[CAP-23] no intent tells nothing, and a hostile one is cut', () => {
  expect(publicIntent(null, known)).toBe('');
  expect(publicIntent(' '.repeat(1_000_000), known)).toBe('');
  expect(publicIntent('count '.repeat(100_000), known).length).toBeLessThan(2_001);
});
