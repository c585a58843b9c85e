import { expect, test } from 'vitest';
import { codeToPlan } from './code-to-plan.ts';

/** Tools whose names say that they read. */
const onlyReads = ({ tool }: { tool?: string }) => /:(list|read|get)/.test(tool ?? '');
const plan = (code: string, args?: Record<string, unknown>) => {
  const made = codeToPlan(code, { onlyReads, ...(args && { args }) });
  if (!made.ok) throw new Error(made.reasons.join('\n'));
  return made;
};
const reasons = (code: string) => {
  const made = codeToPlan(code, { onlyReads });
  return made.ok ? [] : made.reasons;
};

test('[ASPLAN-3] calls become tasks; literals stay, and values from earlier results become references', () => {
  const { plan: made, result } = plan(`
    const disk = mcp.disk;
    const { files } = await disk.list({ path: args.folder, depth: 2, tags: ['a', { b: null }] });
    const [first] = files;
    const text = await mcp['disk'].read({ path: first.name, size: files[0].size });
    const done = await capabilities.tidy({ text: text.body });
    return { done, first };`);
  expect(made.tasks).toEqual([
    {
      id: 'list',
      tool: 'disk:list',
      arguments: { path: '${folder}', depth: 2, tags: ['a', { b: null }] },
      dependsOn: [],
    },
    {
      id: 'text',
      tool: 'disk:read',
      arguments: { path: '${list.files[0].name}', size: '${list.files[0].size}' },
      dependsOn: ['list'],
    },
    { id: 'done', capability: 'tidy', arguments: { text: '${text.body}' }, dependsOn: ['text'] },
  ]);
  expect(made.inputs).toEqual([{ name: 'folder', schema: {} }]);
  expect(result).toEqual({ done: '${done}', first: '${list.files[0]}' });
});

test('[ASPLAN-3] code between calls becomes code tasks that read deps, including loops and local changes', () => {
  const { plan: made, result } = plan(
    `
    const list = await mcp.disk.list({});
    let total = 0;
    for (const file of list.files) total += file.size;
    const label = (n) => n + ' ' + args.unit;
    await mcp.disk.write({ content: label(total) });
    return total;`,
    { unit: 'bytes' },
  );
  expect(made.tasks.map(({ id, dependsOn }) => [id, dependsOn])).toEqual([
    ['list', []],
    ['content', ['list']],
    ['write', ['content']],
    ['result', ['list']],
  ]);
  expect(made.tasks[1]).toMatchObject({
    arguments: { unit: '${unit}' },
    code: [
      'const list = deps.list;',
      'let total = 0;',
      'for (const file of list.files) total += file.size;',
      "const label = (n) => n + ' ' + args.unit;",
      'return label(total);',
    ].join('\n'),
  });
  expect(made.arguments).toEqual({ unit: 'bytes' });
  expect(result).toBe('${result}');
});

test('[ASPLAN-3] functions that make no calls move with the code that uses them, wherever they are defined', () => {
  const { plan: made } = plan('await mcp.disk.write({ n: twice(2) });\nfunction twice(n) { return 2 * n; }');
  expect(made.tasks[0]?.code).toBe('function twice(n) { return 2 * n; }\nreturn twice(2);');
});

test('[ASPLAN-3] a text that looks like a reference stays text', () => {
  const { plan: made } = plan("await mcp.disk.write({ content: 'costs ${price}' });");
  expect(made.tasks).toMatchObject([
    { id: 'content', code: "return 'costs ${price}';" },
    { tool: 'disk:write', arguments: { content: '${content}' } },
  ]);
});

test('[ASPLAN-3] branches become conditions where plans can express them, otherwise code that evaluates them', () => {
  const { plan: made } = plan(`
    const state = await mcp.disk.get({});
    if (state.kind === 'file' && !(state.locked === true)) await mcp.disk.write({ a: 1 });
    else await mcp.disk.drop({});
    if (state.size > 3) await mcp.disk.shrink({});`);
  const file = { value: '${state.kind}', equals: 'file' };
  const free = { not: { value: '${state.locked}', equals: true } };
  expect(made.tasks).toMatchObject([
    { id: 'state' },
    { id: 'write', when: { all: [file, free] } },
    { id: 'drop', when: { not: { all: [file, free] } } },
    { id: 'condition', code: 'const state = deps.state;\nreturn Boolean(state.size > 3);' },
    { id: 'shrink', when: '${condition}' },
  ]);
});

test('[ASPLAN-3] loops that make one call per item become for_each', () => {
  const { plan: made } = plan(`
    const { files } = await mcp.disk.list({});
    const texts = [];
    for (const file of files) texts.push(await mcp.disk.read({ path: file.name }));
    await Promise.all(texts.map((text, i) => mcp.disk.write({ text, i })));
    const sizes = await Promise.all(files.map(async ({ name }) => (await mcp.disk.read({ path: name })).length));`);
  expect(made.tasks).toMatchObject([
    { id: 'list' },
    { id: 'texts', forEach: '${list.files}', arguments: { path: '${item.name}' } },
    { id: 'write', forEach: '${texts}', arguments: { text: '${item}', i: '${index}' } },
    { id: 'sizes', forEach: '${list.files}', arguments: { item: '${item}' } },
  ]);
  expect(made.tasks[3]?.code).toBe(
    'const { name } = args.item;\nreturn (await mcp.disk.read({ path: name })).length;',
  );
});

test('[ASPLAN-4] a call that only reads waits only for what it uses; a call that may have effects keeps its place', () => {
  const { plan: made } = plan(`
    const a = await mcp.disk.get({ n: 1 });
    const b = await mcp.disk.get({ n: 2 });
    const [c, d] = await Promise.all([mcp.disk.write({ n: 3 }), mcp.disk.write({ n: 4 })]);
    const e = await mcp.disk.get({ n: 5 });
    return [a, b, c, d, e];`);
  expect(made.tasks.map(({ id, dependsOn }) => [id, [...dependsOn].sort()])).toEqual([
    ['a', []],
    ['b', []],
    ['c', ['a', 'b']],
    ['d', ['a', 'b']],
    ['e', ['c', 'd']],
  ]);
});

test('[ASPLAN-5] code that cannot become a plan is refused with every reason and its line', () => {
  expect(
    reasons(`
while (await mcp.disk.get({})) {}
const f = async (n) => mcp.disk.get({ n });
const x = await f(1);
try { await mcp.disk.get({}); } catch {}
for (const n of [1, 2]) await mcp.disk.write({ n });
let y = 1;
y = await mcp.disk.get({});
if (args.z) return 1;
await mcp[args.server].tool({});
await mcp.disk.get(args.all);`),
  ).toEqual([
    'line 2: calls tools within "while", which a plan cannot express',
    'line 3: calls tools inside a function, which may run any number of times',
    'line 4: calls tools inside a function; write the calls where they are made',
    'line 5: calls tools within "try", which a plan cannot express',
    'line 6: repeats a call that may have effects; their order would be lost',
    'line 8: assigns the result of a call to a variable; use a new "const" for it',
    'line 9: may end the program early',
    'line 10: which tool is called is known only at run time',
    'line 11: the arguments of this call are known only at run time',
  ]);
  expect(reasons('const a = 1; return a;')).toEqual(['it calls nothing']);
  expect(reasons('return (;')).toEqual([expect.stringMatching(/^line 1: /)]);
  const skipped = 'const a = args.x === 1 ? await mcp.disk.get({}) : undefined;\nawait mcp.disk.get({ a });';
  expect(reasons(skipped)).toEqual(['line 2: uses the result of "a", which may not have run']);
  expect(
    reasons('let n = 1;\nif (args.x) { n = 2; await mcp.disk.get({}); }\nawait mcp.disk.get({ n });'),
  ).toEqual(['line 2: changes a variable in a branch that calls tools; use a "const" of its own']);
  expect(reasons('await mcp.disk.get({ n: later + 1 });\nconst later = 1;')).toEqual([
    'line 1: cannot be computed on its own: "later" is not defined yet',
  ]);
  expect(reasons('const all = [mcp];\nawait all[0].disk.get({});')).toEqual([
    'line 1: passes tools on; write the calls where they are made',
  ]);
  expect(reasons('const l = await mcp.disk.list({});\nl.files.sort();')).toEqual([
    'line 1: the result of a call is changed later; copy it first, or use a new "const"',
  ]);
});
