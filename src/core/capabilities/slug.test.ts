import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { isSlug } from '../vocabulary/ids.ts';
import { nameRoutine } from './name-routine.ts';
import { wordsOf } from './public-words.ts';
import { describeCapability, isReserved, isWellNamed, slugFor } from './slug.ts';

test('[CAP-12] the first free name is used, otherwise the first one with a number', () => {
  const names = [
    ['get', 'growth'],
    ['get', 'growth', 'by', 'city'],
  ];
  expect(slugFor(names, [])).toBe('get_growth');
  expect(slugFor(names, ['get_growth'])).toBe('get_growth_by_city');
  expect(slugFor(names, ['get_growth', 'get_growth_by_city', 'get_growth_3'])).toBe('get_growth_2');
});

test.each<[string[], string]>([
  [['delete'], 'run_delete'],
  [['constructor'], 'run_constructor'],
  [['2nd'], 'run_2nd'],
  [[], 'task'],
  [['read', ...Array<string>(20).fill('deep'), 'long'], 'read_deep_deep'],
])('[CAP-12] %j makes the name %s', (words, slug) => {
  expect(slugFor([words], [])).toMatch(new RegExp(`^${slug}`));
  expect(isSlug(slugFor([words], []))).toBe(true);
});

test('[CAP-12] any intent and any tools give a valid free name, without word fragments or stop words at its ends', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 200 }),
    fc.lorem(),
    fc.constantFrom('then', 'toString', '__proto__', "I'm on it", "s'il m'a"),
  );
  fc.assert(
    fc.property(text, fc.array(text), fc.nat(3), (intent, tools, rounds) => {
      const taken = new Set<string>();
      for (let round = 0; round <= rounds; round++) {
        const names = nameRoutine({ intents: [intent], tools, results: tools, isPublic: () => true });
        const slug = slugFor(names, taken);
        expect(isSlug(slug) && !isReserved(slug) && !taken.has(slug)).toBe(true);
        expect(isWellNamed(slug.replace(/_\d+$/, ''))).toBe(true);
        taken.add(slug);
      }
    }),
    { seed: proofSeed(), numRuns: proofRuns(5000) },
  );
});

test('[CAP-12] older names with word fragments are recognised as bad', () => {
  expect(isWellNamed('measure_notes')).toBe(true);
  expect(isWellNamed('get_growth_by_city')).toBe(true);
  expect(isWellNamed('get_growth_2')).toBe(true);
  for (const bad of [
    'm_doing_research_project',
    'know_earnings_yield_company_m',
    'send_bill_they',
    'the_notes',
  ])
    expect(isWellNamed(bad)).toBe(false);
});

test('[CAP-13] a description is one sentence with the action and the tools', () => {
  expect(describeCapability('count_words', ['fs:read', 'fs:write', 'fs:read'])).toBe(
    'Count words, with fs:read and fs:write.',
  );
  expect(describeCapability('count_words', [])).toBe('Count words.');
  const many = Array.from({ length: 20 }, (_, i) => `server:some_rather_long_tool_${i}`);
  expect(describeCapability('count_words', many)).toBe('Count words, with 20 tools.');
});

test('[CAP-12] contractions leave no word fragments', () => {
  expect(wordsOf("I'm sure it's Bob’s; don't look, they're in my eBay cart")).toEqual(
    'i sure it bob do look they in my ebay cart'.split(' '),
  );
});
