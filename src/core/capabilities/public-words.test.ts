import { expect, test } from 'vitest';
import { publicIntent, publicWords } from './public-words.ts';

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
