import { inspect, isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../../test/proof-count.ts';
import { runInVm } from '../../../../test/support/guest-in-vm.ts';
import { prepareProgram } from './prepare-program.ts';
import type { StaticStructure, StructureNode } from './static-structure.ts';

/**
 * Programs over four variables that are assigned, mutated, captured and passed around in branches, loops
 * and functions. Every call has its own tool, so that a call in the run is identified by its name.
 */
const NAMES = ['a', 'b', 'c', 'd'] as const;
const name = fc.constantFrom(...NAMES);
const constant = fc.constantFrom('1', '"t"', 'true', 'null', '{ k: 1 }', '[1, 2]', 'args.p', 'args.list');

const value: fc.Arbitrary<string> = fc.oneof(
  constant,
  name,
  fc.constant('late'),
  fc.tuple(name, name).map(([x, y]) => `\`\${${x}}-\${${y}}\``),
  fc.tuple(name, constant).map(([x, y]) => `(${x} ?? ${y})`),
  fc.tuple(name, constant).map(([x, y]) => `(${x} ? ${x} : ${y})`),
  fc.tuple(name, name).map(([x, y]) => `{ k: ${x}, m: ${y} }`),
  fc.tuple(name, name).map(([x, y]) => `{ ...{ k: 2 }, ...${x}, m: ${y} }`),
  name.map((x) => `${x}?.k`),
  name.map((x) => `[${x}, 5][0]`),
  name.map((x) => `pass(${x})`),
  name.map((x) => `JSON.parse(JSON.stringify(${x} ?? 1))`),
);
/** `@` becomes the unique number of the call. */
const call = fc.tuple(value, value).map(([x, y]) => `mcp.t.t@({ x: ${x}, y: ${y} })`);
const whole = name.map((x) => `mcp.t.t@({ ...${x}, z: 1 })`);

const { statement } = fc.letrec<{ statement: string; block: string }>((tie) => ({
  block: fc.array(tie('statement'), { maxLength: 3 }).map((lines) => `{ ${lines.join('\n')} }`),
  statement: fc.oneof(
    { maxDepth: 3 },
    fc.tuple(name, value).map(([x, v]) => `${x} = ${v};`),
    fc.tuple(name, call).map(([x, c]) => `${x} = await ${c};`),
    fc.oneof(call, whole).map((c) => `await ${c};`),
    fc.tuple(name, value).map(([x, v]) => `if (Object(${x}) === ${x}) ${x}.k = ${v};`),
    fc.tuple(name, value).map(([x, v]) => `if (Array.isArray(${x}) && ${x}.length < 5) ${x}.push(${v});`),
    name.map((x) => `if (Array.isArray(${x})) ${x}.reverse();`),
    fc.tuple(name, name).map(([x, y]) => `[${x}, ${y}] = [${y}, ${x}];`),
    fc.tuple(name, name).map(([x, y]) => `({ k: ${x} = 3 } = ${y} ?? {});`),
    fc.tuple(name, value).map(([x, v]) => `${x} ??= ${v};`),
    fc.tuple(name, tie('block'), tie('block')).map(([x, t, f]) => `if (args.${x}) ${t} else ${f}`),
    fc.tuple(name, tie('block')).map(([x, b]) => `for (const e of args.list) { ${x} = e; ${b} }`),
    fc
      .tuple(name, tie('block'))
      .map(([x, b]) => `for (let i = 0; i < 2; i++) { if (args.${x}) break; ${b} }`),
    fc.tuple(tie('block'), tie('block')).map(([t, c]) => `try { ${t} if (args.a) throw 1; } catch ${c}`),
    fc.tuple(name, tie('block')).map(([x, b]) => `await (async (${x}) => ${b})(${x});`),
    fc.tuple(name, name, tie('block')).map(([x, y, b]) => `await twice(async (${x}) => ${b}, ${y});`),
    fc.tuple(name, value).map(([x, v]) => `args.list.forEach((e) => { ${x} = ${v}; });`),
    fc
      .tuple(name, tie('block'))
      .map(([x, b]) => `switch (args.${x}) { case 1: ${b} case 2: ${b} break; default: ${b} }`),
    fc
      .tuple(name, value, name, value)
      .map(([x, v, y, w]) => `(args.a ? () => { ${x} = ${v}; } : () => { ${y} = ${w}; })();`),
    fc.tuple(name, value).map(([x, v]) => `({ f: () => { ${x} = ${v}; }, g() {} })[args.b ? 'f' : 'g']();`),
    // Nothing else writes to `late`: the structure promises nothing exact about races.
    constant.map((v) => `(async () => { await 1; late = ${v}; })();`),
    constant.map((v) => `Promise.resolve(1).then(() => { late = ${v}; });`),
    fc.tuple(tie('block'), tie('block')).map(([t, f]) => `try { ${t} } finally ${f}`),
    fc
      .tuple(fc.nat(), name, name, tie('block'))
      .map(
        ([o, x, y, b]) =>
          `o${o}: for (const u of [1, 2]) { for (const w of [1, 2]) { ${b} if (args.${x}) continue o${o}; ${y} = u; if (args.d) break o${o}; } }`,
      ),
    fc
      .tuple(name, value, tie('block'))
      .map(
        ([x, v, b]) =>
          `await (async function rec(n, ${x}) { ${b} if (n > 0) await rec(n - 1, ${v}); })(2, ${x});`,
      ),
    fc.constant('if (args.b) return;'),
  ),
}));

const HELPERS = [
  'let a = 1, b = "s", c = null, d = { k: 0 }, late = 1;',
  'const pass = (v) => v;',
  'async function twice(f, v) { await f(v); if (args.c) return; await f({ k: v }); }',
];

const program = fc.array(statement, { minLength: 2, maxLength: 6 }).map((lines) => {
  let number = 0;
  return [...HELPERS, ...lines].join('\n').replace(/t@/g, () => `t${number++}`);
});
const parameters = fc.record({
  a: fc.constantFrom(0, 1, 2),
  b: fc.boolean(),
  c: fc.boolean(),
  d: fc.constantFrom(1, 2, 3),
  p: fc.constantFrom('p', { k: 7 }),
  list: fc.constantFrom([], [1], [{ k: 1 }, 'x']),
});

interface Seen {
  readonly tool: string;
  readonly given: Readonly<Record<string, unknown>>;
}

/** Every result names its call, so that a reference can be followed back. */
async function run(source: string, args: unknown): Promise<{ structure: StaticStructure; seen: Seen[] }> {
  const prepared = prepareProgram(source);
  if (!prepared.ok) throw new Error(`${prepared.error.message}\n${source}`);
  const seen: Seen[] = [];
  const tool = (name: string) => async (given: Record<string, unknown>) => {
    seen.push({ tool: `t:${name}`, given: structuredClone(given) });
    return deepFreeze({ from: `t:${name}`, k: { from: `t:${name}.k` } });
  };
  const mcp = { t: new Proxy({}, { get: (_, name) => tool(String(name)) }) };
  await runInVm(prepared.value, { mcp, args });
  return { structure: prepared.value.structure, seen };
}

/** Frozen: a program could change its input, and a reference to the input does not record that. */
function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

/** Whether a call in the run is what its node says. */
function fits(node: StructureNode, { given }: Seen, structure: StaticStructure, args: object): boolean {
  if (node.type !== 'task') return false;
  const { bindings, isComplete } = node.arguments;
  const names = Object.keys(given).filter((key) => given[key] !== undefined);
  if (isComplete && !names.every((key) => Object.hasOwn(bindings, key))) return false;
  return Object.entries(bindings).every(([key, binding]) => {
    const actual = given[key];
    if (binding.kind === 'literal') return isDeepStrictEqual(actual, binding.value);
    if (binding.kind === 'parameter') return isDeepStrictEqual(actual, dig(args, binding.path));
    if (binding.kind === 'expression') return true;
    const from = structure.nodes.find(({ id }) => id === binding.node);
    if (from?.type !== 'task') return true;
    const result = { from: from.tool, k: { from: `${from.tool}.k` } };
    return isDeepStrictEqual(actual, dig(result, binding.path));
  });
}

function dig(object: unknown, path: string): unknown {
  return path
    .split(/[.[\]]+/)
    .filter(Boolean)
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], object);
}

test('[STRUCT-8] the structure contains every call of a run, with the same exact arguments', async () => {
  await fc.assert(
    fc.asyncProperty(program, parameters, async (source, args) => {
      const { structure, seen } = await run(source, deepFreeze(args));
      for (const each of seen) {
        const nodes = structure.nodes.filter((node) => node.type === 'task' && node.tool === each.tool);
        const isForeseen = nodes.some((node) => fits(node, each, structure, args));
        expect(isForeseen, `${inspect(each)} in ${JSON.stringify(nodes)}\n${source}`).toBe(true);
      }
    }),
    { numRuns: proofRuns(5_000), seed: proofSeed() },
  );
});
