import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDir } from '../../../test/support/temporary-dir.ts';
import { loadTemplates } from './load-templates.ts';

async function written(text: string | Buffer): Promise<string> {
  const file = join(await temporaryDir(), 'mine.yaml');
  await writeFile(file, text);
  return file;
}

const problemOf = async (file: string) =>
  await loadTemplates(file).then(
    () => null,
    ({ code, message, hint }) => ({ code, message, hint }),
  );

test('[GRAPHUSE-9] without a template file, the shipped templates apply', async () => {
  const edges = await loadTemplates(null);
  expect(edges).toContainEqual({
    from: 'filesystem:read_file',
    to: 'filesystem:write_file',
    type: 'dependency',
  });
  expect(edges.length).toBeGreaterThan(20);
});

test('[GRAPHUSE-9] a template file replaces them, whatever an editor put before its text', async () => {
  const text =
    'templates:\n  mine:\n    type: sequence\n    edges: [[a:one, b:two], [b__two, c:three, provides]]\n';
  const expected = [
    { from: 'a:one', to: 'b:two', type: 'sequence' },
    { from: 'b:two', to: 'c:three', type: 'provides' },
  ];
  expect(await loadTemplates(await written(text))).toEqual(expected);
  expect(await loadTemplates(await written(`\ufeff${text}`))).toEqual(expected);
  const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]);
  expect(await loadTemplates(await written(utf16))).toEqual(expected);
  expect(await loadTemplates(await written('templates: {}'))).toEqual([]);
});

test('[GRAPHUSE-9] errors in the file name the file and the place', async () => {
  const broken = await written('templates:\n  mine: {edges: [[a:one, b:two]\n');
  expect(await problemOf(broken)).toEqual({
    code: 'config_invalid',
    message: expect.stringContaining(`${broken}:3:1 `),
    hint: expect.stringContaining('pml.json'),
  });
  const twice = await written('templates:\n  a: {edges: []}\n  a: {edges: []}\n');
  expect((await problemOf(twice))?.message).toContain(`${twice}:3:3 `);
  const wrong = await written('templates:\n  mine:\n    edges:\n      - [a:one, a:one]\n      - [x]\n');
  const { message, code } = (await problemOf(wrong))!;
  expect(code).toBe('config_invalid');
  expect(message).toContain(wrong);
  expect(message).toContain('templates.mine.edges[0] leads from a:one to itself');
  expect(message).toContain('templates.mine.edges[1] must be [from, to]');
});

test('[GRAPHUSE-9] a missing file, and one that expands without end, are errors', async () => {
  const dir = await temporaryDir();
  expect(await problemOf(join(dir, 'none.yaml'))).toMatchObject({
    code: 'config_not_found',
    message: expect.stringContaining(join(dir, 'none.yaml')),
  });
  expect(await problemOf(dir)).toMatchObject({
    code: 'config_invalid',
    message: expect.stringContaining(dir),
  });
  const levels = Array.from(
    { length: 9 },
    (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(', ')}]`,
  );
  const bomb = await written(`a0: &a0 [x]\n${levels.join('\n')}\ntemplates: {}\n`);
  expect(await problemOf(bomb)).toMatchObject({
    code: 'config_invalid',
    message: expect.stringContaining(bomb),
  });
});
