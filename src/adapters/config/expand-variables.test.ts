import { expect, test } from 'vitest';
import { expandVariables } from './expand-variables.ts';

const source = {
  env: { A: 'one', EMPTY: '', 'ProgramFiles(x86)': 'C:\\P' },
  predefined: { userHome: '/home/joe' },
};

test.each([
  ['${A}', 'one'],
  ['${env:A}', 'one'],
  ['-${A}-${A}-', '-one-one-'],
  ['${A:-two}', 'one'],
  ['${NO:-two}', 'two'],
  ['${env:NO:-two}', 'two'],
  ['${NO:-}', ''],
  ['${NO:-http://x:1/}', 'http://x:1/'],
  ['${EMPTY}', ''],
  ['${EMPTY:-two}', 'two'],
  ['${env:ProgramFiles(x86)}', 'C:\\P'],
  ['${userHome}/x', '/home/joe/x'],
  ['$A $ {A} $$ {}', '$A $ {A} $$ {}'],
  ['$${A}', '${A}'],
  ['$${anything at all}', '${anything at all}'],
])('[CFG-4] %s becomes %j', (text, expanded) => {
  expect(expandVariables(text, source)).toMatchObject({ text: expanded, problems: [] });
});

test.each([
  '${NO}',
  '${env:NO}',
  '${}',
  '${A B}',
  '${A-x}',
  '${env.A}',
  '${input:key}',
  '${command:x}',
  '${toString}',
])('[CFG-4] %s is told and stays', (text) => {
  const { text: expanded, problems, used } = expandVariables(text, source);
  expect(expanded).toBe(text);
  expect(problems).toMatchObject([{ written: text }]);
  expect(used).toEqual([]);
});

test('[CFG-4] a value is not expanded again', () => {
  const env = { OUTER: '${INNER}', INNER: 'x' };
  expect(expandVariables('${OUTER}', { env, predefined: {} }).text).toBe('${INNER}');
});

test('[CFG-10] what came from the environment is remembered, what stands in the file is not', () => {
  const { used } = expandVariables('${A} ${NO:-two} ${userHome}', source);
  expect(used).toEqual([{ name: 'A', value: 'one' }]);
});
