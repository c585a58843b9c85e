import { expect, test } from 'vitest';
import { ListedTools } from './exchange.ts';

const deep = (levels: number): unknown => {
  let schema: unknown = { type: 'object' };
  for (let i = 0; i < levels; i++) schema = { properties: { a: schema } };
  return schema;
};

test('[HANG-5] only invalid tools are left out, each with a note', () => {
  const listed = new ListedTools();
  const sound = { name: 'read', inputSchema: { type: 'object' } };
  const isRoom = listed.add([
    null,
    'text',
    { description: 'nameless' },
    { name: 'nul\0', inputSchema: {} },
    { name: 'n'.repeat(600) },
    { name: 'no_schema', inputSchema: 'x' },
    { name: 'deep', inputSchema: deep(5_000) },
    { name: 'large', description: 'x'.repeat(10_000_000) },
    sound,
    { name: 'read', description: 'another' },
  ]);
  expect(isRoom).toBe(true);
  expect(listed.tools).toEqual([sound]);
  expect(listed.notes).toEqual([
    'A tool is left out: it is not an object',
    'A tool is left out: it is not an object',
    'A tool is left out: it has no name',
    'A tool is left out: its name "nul\\u0000" has control characters',
    'A tool is left out: its name has 600 characters',
    'A tool is left out: the schema of no_schema is not an object',
    expect.stringMatching(/^A tool is left out: the definition of deep is nested \d+ levels deep$/),
    expect.stringMatching(/^A tool is left out: the definition of large has \d+ characters$/),
    'A tool is left out: read is listed twice',
  ]);
});

test('[HANG-4] an endless list is cut, by count and by size', () => {
  const counted = new ListedTools();
  const page = (from: number) => Array.from({ length: 1_000 }, (_, i) => ({ name: `t${from + i}` }));
  let pages = 0;
  while (counted.add(page(1_000 * pages)) && pages < 100) pages++;
  expect(counted.tools).toHaveLength(20_000);
  expect(counted.notes[0]).toMatch(/^Only the first 20000 tools are used/);

  const weighed = new ListedTools();
  let tools = 0;
  while (weighed.add([{ name: `t${tools}`, description: 'x'.repeat(200_000) }]) && tools < 1_000) tools++;
  expect(tools).toBeLessThan(200);
  expect(weighed.notes[0]).toMatch(/^Only the first \d+ tools are used/);
});
