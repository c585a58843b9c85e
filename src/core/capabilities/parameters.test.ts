import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import {
  type LearnedSlot,
  learnSlots,
  mergeObservation,
  parameterise,
  parametersSchema,
} from './parameters.ts';
import { type Template, templateOf } from './template.ts';

function read(source: string): Template {
  const outcome = templateOf(source);
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.value;
}

/** The first source as a capability, after the others have run too. */
function learn(source: string, ...others: string[]) {
  const template = read(source);
  const slots = others.reduce<LearnedSlot[]>(
    (learned, other) => mergeObservation(learned, read(other)),
    learnSlots(template),
  );
  return {
    code: parameterise(source, slots),
    schema: parametersSchema({ slots, used: template.used }),
    slots,
  };
}

const AsyncFunction = (async () => {}).constructor as new (
  ...code: string[]
) => (mcp: unknown, args: unknown) => Promise<unknown>;

/** Tools that answer with what they were asked, so that a difference in any argument shows. */
const mcp = new Proxy(
  {},
  {
    get: (_, server) =>
      new Proxy({}, { get: (_, tool) => (given: unknown) => ({ server, tool, given, items: [1, 2, 3] }) }),
  },
);

function run(code: string, args: unknown): Promise<unknown> {
  return new AsyncFunction('mcp', 'args', code)(mcp, args);
}

function defaultsOf(schema: { properties: Readonly<Record<string, Readonly<Record<string, unknown>>>> }) {
  return Object.fromEntries(Object.entries(schema.properties).map(([name, one]) => [name, one.default]));
}

test('[CAP-5] literals in the arguments of calls become parameters, with the first value as their default', () => {
  const { code, schema } = learn(`
    const path = '/tmp/a.txt'; // what to read
    const { content } = await mcp.filesystem.read_text_file({ path, head: 10 });
    return content.split('\\n').filter((line) => line.length > 3);
  `);
  expect(code).toBe(`
    const path = args.path; // what to read
    const { content } = await mcp.filesystem.read_text_file({ path, head: args.head });
    return content.split('\\n').filter((line) => line.length > 3);
  `);
  expect(schema).toEqual({
    type: 'object',
    properties: {
      path: { type: 'string', description: 'path of filesystem:read_text_file', default: '/tmp/a.txt' },
      head: { type: 'number', description: 'head of filesystem:read_text_file', default: 10 },
    },
    required: [],
    additionalProperties: false,
  });
});

test('[CAP-5] parameter names are readable, unique and differ from what every object inherits', () => {
  const { code } = learn(`
    await mcp.fs.read({ path: 'a', 'max-size': 1, '2': 2, toString: 'x', opts: { items: [{ id: 1 }, { id: 2 }] } });
    await mcp.fs.write_file({ path: 'b' });
    await mcp.fs.write_file({ path: args.write_file_path, data: null });
    await capabilities.tidy({ path: 'c' });
  `);
  expect(code).toBe(`
    await mcp.fs.read({ path: args.path, 'max-size': args.max_size, '2': args.value_1, toString: args.value_2, opts: { items: [{ id: args.id }, { id: args.read_id }] } });
    await mcp.fs.write_file({ path: args.write_file_path_2 });
    await mcp.fs.write_file({ path: args.write_file_path, data: args.data });
    await capabilities.tidy({ path: args.tidy_path });
  `);
});

test('[CAP-6] a value that differs between runs becomes a required parameter, named after the code around it', () => {
  const program = (age: number, sign: string, text: string, cities: string) => `
    const rows = await mcp.db.query({ sql: 'select 1' });
    const limit = ${age};
    for (const city of [${cities}]) rows.push(city);
    return rows.filter((row) => row.age > ${age} && row.ok).map((row) => \`\${row.id}${text}\`).join(${sign});`;
  const { code, schema } = learn(
    program(30, '","', ': yes', '"Rome"'),
    program(40, '","', ': no', '"Rome", "Oslo"'),
    program(50, '";"', ': no', '"Rome"'),
  );
  expect(code).toBe(`
    const rows = await mcp.db.query({ sql: args.sql });
    const limit = args.limit;
    for (const city of args.city_list) rows.push(city);
    return rows.filter((row) => row.age > args.age && row.ok).map((row) => \`\${row.id}\${args.value_1}\`).join(args.value_2);`);
  expect(schema.required).toEqual(['limit', 'city_list', 'age', 'value_1', 'value_2']);
  expect(schema.properties).toMatchObject({
    age: { type: 'number', description: 'age in the code', default: 30, examples: [40, 50] },
    city_list: { type: 'array', items: { type: 'string' }, default: ['Rome'], examples: [['Rome', 'Oslo']] },
    sql: { default: 'select 1' },
  });
  expect(schema.properties.sql).not.toHaveProperty('examples');
});

test('[CAP-25] a parameter keeps its name when others are added, and only a few examples are kept', () => {
  const program = (name: string, path: string) =>
    `const path = '${name}'; return mcp.a.b({ path: '${path}', q: path.x })`;
  const paths = ['b', 'c', 'd', 'e', 'f', 'g', 'h', 'c'].map((path, index) =>
    program(index > 3 ? 'y' : 'x', path),
  );
  const { code, slots } = learn(program('x', 'a'), ...paths);
  expect(code).toBe(`const path = args.path_2; return mcp.a.b({ path: args.path, q: path.x })`);
  expect(slots.map(({ seen }) => seen)).toEqual([['y'], ['b', 'c', 'd', 'e', 'f']]);
});

test('[CAP-6] a run of another program is not mistaken for a run of this one', () => {
  const slots = learnSlots(read('return f("a")'));
  expect(() => mergeObservation(slots, read('return f(1)'))).toThrow('differ');
  expect(() => mergeObservation(slots, read('return f("a", 1)'))).toThrow('differ');
});

test('[CAP-7] a literal stays in the code where args means something else', () => {
  const { code } = learn('return x.map((args) => mcp.a.b({ path: "a", q: args.q }))');
  expect(code).toBe('return x.map((args) => mcp.a.b({ path: "a", q: args.q }))');
});

test('[CAP-7] parameters replace literals however tightly the code around them is written', async () => {
  const program = (on: string, text: string, n: string) =>
    `const o={k:1};const r=[];if("${text}"in o)r.push(typeof"${text}");switch("k"){case"${text}":r.push(-${n}n,2-${n},2**-${n})}
     const f=()=>"${text}";for(const x of["${text}"])r.push(x+f());return[\`\${r}${text}\${o.k}${on}\`,void ${n}]`;
  const { code, schema } = learn(program('a', 'k', '3'), program('b', 'z', '4'));
  expect(code).toContain('if(args.o in o)r.push(typeof args.value_1);switch("k"){case args.value_2:');
  expect(await run(code, defaultsOf(schema))).toEqual(await run(program('a', 'k', '3'), {}));
  const others = Object.entries(schema.properties).map(([name, one]) => [
    name,
    (one.examples as unknown[])[0],
  ]);
  expect(await run(code, Object.fromEntries(others))).toEqual(await run(program('b', 'z', '4'), {}));
});

test('[CAP-7] with its defaults any program does what it did with its literals, and with other values what those literals did', async () => {
  const value = fc.oneof(
    fc.string().map((text) => JSON.stringify(text)),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.boolean().map(String),
    fc.bigInt({ min: -99n, max: 99n }).map((n) => `${n}n`),
    fc.array(fc.integer(), { minLength: 1, maxLength: 3 }).map((items) => JSON.stringify(items)),
  );
  const shape = fc.constantFrom<(v: string) => string>(
    (v) => `out.push(await mcp.a.b({ path: ${v}, deep: { list: [${v}, x], q: ${v} } }))`,
    (v) => `const k${'$'} = ${v}; out.push(mcp.fs.read({ path: k$ }))`,
    (v) => `out.push(\`a\${${v}}b\${x}\`)`,
    (v) => `switch (${v}) { case ${v}: out.push(x); }`,
    (v) => `out.push((() => ${v})(), typeof ${v}, [${v}, ${v}].length)`,
  );
  const part = fc.tuple(shape, value);
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { minLength: 1, maxLength: 5 }),
      fc.array(value),
      async (parts, others) => {
        const program = (values: readonly string[]) =>
          `const out = []; const x = 7;\n${parts.map(([make], index) => `{ ${make(values[index] ?? '')} }`).join('\n')}\nreturn out;`;
        const source = program(parts.map(([, one]) => one));
        // Another value of the same kind, so that it is the same program.
        const kind = (text: string) => read(`f(${text})`).slots[0]?.kind;
        const other = program(parts.map(([, one]) => others.find((two) => kind(two) === kind(one)) ?? one));
        const show = (result: unknown) =>
          JSON.stringify(result, (_, item) => (typeof item === 'bigint' ? `${item}n` : item));

        const first = learn(source);
        expect(show(await run(first.code, defaultsOf(first.schema)))).toBe(show(await run(source, {})));

        const both = learn(source, other);
        const given = both.slots.flatMap(({ parameter }, index) =>
          parameter === null ? [] : [[parameter, read(other).slots[index]?.value]],
        );
        expect(show(await run(both.code, Object.fromEntries(given)))).toBe(show(await run(other, {})));
      },
    ),
    { seed: proofSeed(), numRuns: proofRuns(2000) },
  );
});

test('[CAP-8] a property that the code reads from args is a parameter, required unless the code can do without it', () => {
  const { schema, code } = learn(`
    const { limit = 10, order, tags: [first] } = args;
    const size = args.size ?? 5;
    args["mode"] ||= 'fast';
    const deep = args.deep?.x, again = args.size, maybe = args?.maybe ?? f();
    return mcp.a.b({ q: args.q, limit });
  `);
  expect(code).toContain('q: args.q, limit');
  expect(schema).toEqual({
    type: 'object',
    properties: {
      limit: { type: 'number', default: 10 },
      order: {},
      tags: {},
      size: {},
      mode: { type: 'string', default: 'fast' },
      deep: {},
      maybe: {},
      q: {},
    },
    required: ['order', 'tags', 'size', 'deep', 'q'],
    additionalProperties: false,
  });
});

test('[CAP-8] the types of args are those seen in runs; using args as a whole leaves the list open', () => {
  const { used } = read('return { ...args, a: args.a }');
  const observed = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } } };
  expect(parametersSchema({ slots: [], used, observed })).toEqual({
    type: 'object',
    properties: { a: { type: 'string' } },
    required: ['a'],
  });
  for (const open of [
    'f(args)',
    'args[k]',
    'const { ...rest } = args',
    'const { [k]: v } = args',
    'const a = args',
  ])
    expect(read(open).used.isOpen).toBe(true);
  expect(read('const f = (args) => args').used).toEqual({ named: [], isOpen: false });
});
