import { expect, test } from 'vitest';
import { gatewayPromptName, splitPromptName } from './listings.ts';

test('[MCP-13] a prompt name fits into 64 characters, and different prompts get different names', () => {
  expect(gatewayPromptName('s', 'p'.repeat(62))).toBe(`s:${'p'.repeat(62)}`);
  const [one, two] = ['a', 'b'].map((end) => gatewayPromptName('s', `${'p'.repeat(80)}${end}`)) as [
    string,
    string,
  ];
  expect(one).toHaveLength(64);
  expect(one).not.toBe(two);
  expect(splitPromptName(one, ['s'])).toBeNull();
  expect(splitPromptName('a:b:c', ['x', 'a'])).toEqual({ server: 'a', prompt: 'b:c' });
  expect(splitPromptName('c:d', ['a'])).toBeNull();
});
