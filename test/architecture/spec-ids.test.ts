import { expect, test } from 'vitest';
import { complaints, runCheck } from './check-command.ts';

/** Citations in this file would count as its own, so fixtures spell their brackets apart. */
const cite = (id: string) => `[${id}]`;

test('[HOUSE-7] the tree itself cites every rule and no other', () => {
  expect(runCheck('--only', 'spec-ids')).toMatchObject({ exitCode: 0, stderr: '' });
});

test('[HOUSE-7] a rule that no test cites and a citation of an unknown rule are refused', async () => {
  const found = await complaints('spec-ids', {
    'docs/spec/abc.md': '# Spec\n\n- **ABC-1** Cited.\n- **ABC-2** Not cited.\n',
    'src/engine/a.test.ts': `test('${cite('ABC-1')} works', () => {});\ntest('${cite('ABC-9')}', () => {});\n`,
  });
  expect(found).toEqual([
    'docs/spec/abc.md:4 ABC-2 is cited by no test: put [ABC-2] in a title',
    'src/engine/a.test.ts:2 cites [ABC-9], which is not in docs/spec',
  ]);
});

test('[HOUSE-7] a rule defined twice, an id of the wrong form and a missing spec are refused', async () => {
  const tests = { 'test/a.test.ts': `it('${cite('ABC-1')}', () => {});` };
  const spec = '- **ABC-1** One.\n- **ABC-1** Again.\n- **abc-2** Small letters.\n- **ABC-01** Padded.\n';
  expect(await complaints('spec-ids', { 'docs/spec/abc.md': spec, ...tests })).toEqual([
    'docs/spec/abc.md:2 ABC-1 is defined twice, first at docs/spec/abc.md:1',
    'docs/spec/abc.md:3 abc-2 is not a rule id: write it like ABC-1',
    'docs/spec/abc.md:4 ABC-01 is not a rule id: write it like ABC-1',
  ]);
  expect((await complaints('spec-ids', tests))[0]).toMatch('docs/spec is missing');
});

test('[HOUSE-7] rules out of order and a prefix in two files are refused', async () => {
  const found = await complaints('spec-ids', {
    'docs/spec/abc.md': '- **ABC-2** Two.\n- **ABC-10** Ten.\n- **ABC-3** Three.\n',
    'docs/spec/other.md': '- **ABC-11** Eleven.\n',
    'test/a.test.ts': `it('${['ABC-2', 'ABC-10', 'ABC-3', 'ABC-11'].map(cite).join(' ')}', () => {});`,
  });
  expect(found).toEqual([
    'docs/spec/abc.md:3 ABC-3 is out of order: it comes before ABC-10',
    'docs/spec/other.md:1 ABC-11 belongs in docs/spec/abc.md, with the other ABC rules',
  ]);
});

test('[HOUSE-7] only titles of tests that run count as citations', async () => {
  const rules = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `- **ABC-${n}** Rule.\n`).join('');
  const found = await complaints('spec-ids', {
    'docs/spec/abc.md': rules,
    'test/contracts/store.ts': `describe(\`\${name} ${cite('ABC-1')}\`, () => {});`,
    'test/flows/a.test.ts': [
      `test.each([1])('${cite('ABC-2')} ${cite('ABC-3')} %i', () => {});`,
      `test.concurrent('${cite('ABC-4')}', () => {});`,
      `test.skip('${cite('ABC-5')}', () => {});`,
      `// test('${cite('ABC-6')}')`,
      `expect('${cite('ABC-7')}').toBe('');`,
    ].join('\n'),
    'src/engine/not-a-test.ts': `test('${cite('ABC-8')}', () => {});`,
  });
  expect(found.map((line) => /ABC-\d/.exec(line)?.[0])).toEqual(['ABC-5', 'ABC-6', 'ABC-7', 'ABC-8']);
});
