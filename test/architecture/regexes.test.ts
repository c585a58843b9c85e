import { expect, test } from 'vitest';
import { complaints, runCheck } from './check-command.ts';

test('[HANG-1] a regular expression that can take more than linear time is refused', async () => {
  const found = await complaints('regexes', {
    'src/engine/a.ts': [
      'export const comments = /(?:a|\\s|\\s)*$/;',
      'export const blanks = /x?\\s+$/;',
      'export const words = /^\\w+$/;',
      "export const spelt = new RegExp('(a+)+$', 'm');",
      'export const plain = RegExp("^[a-z]+$");',
    ].join('\n'),
    'src/surfaces/dashboard/app/b.tsx': 'export const B = () => <i title="x">{"a".replace(/-+$/, "")}</i>;',
    'src/engine/a.test.ts': 'export const slow = /\\s+$/;',
  });
  expect(found.map((line) => line.split(';')[0])).toEqual([
    'src/engine/a.ts:1 /(?:a|\\s|\\s)*$/ takes exponential time',
    'src/engine/a.ts:2 /x?\\s+$/ takes 2nd degree polynomial time',
    'src/engine/a.ts:4 /(a+)+$/m takes exponential time',
    'src/surfaces/dashboard/app/b.tsx:1 /-+$/ takes 2nd degree polynomial time',
  ]);
});

test('[HANG-1] so is one that is built at run time', async () => {
  const found = await complaints('regexes', {
    'src/engine/a.ts': 'export const find = (word: string) => new RegExp(`^${word}`);',
  });
  expect(found.map((line) => line.split(';')[0])).toEqual([
    'src/engine/a.ts:1 builds a regular expression that cannot be checked',
  ]);
});

test('[HANG-1] the tree itself has none', () => {
  expect(runCheck('--only', 'regexes')).toMatchObject({ exitCode: 0, stderr: '' });
});
