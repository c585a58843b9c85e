import type { Random } from '../../src/core/numeric/random.ts';
import { HOSTILE_CASES } from '../hostile/cases.ts';
import { damaged, hostileKey, hostileText, hostileValue, oneOf, upTo } from './hostile-values.ts';

type Make = (random: Random) => string;

const literal: Make = (random) => JSON.stringify(hostileValue(random, 2)) ?? 'null';
const name: Make = (random) => `v${random.int(6)}`;

const EXPRESSIONS: readonly Make[] = [
  literal,
  name,
  () => 'args',
  () => 'globalThis',
  () => 'await mcp.parrot.reply({ result: "{}" })',
  (random) => `await mcp.parrot.reply({ result: ${JSON.stringify(literal(random))} })`,
  (random) => `await mcp[${literal(random)}][${literal(random)}](${literal(random)})`,
  (random) => `await capabilities[${JSON.stringify(hostileKey(random))}](${literal(random)})`,
  (random) => `(${name(random)} ?? []).map?.((x) => [x, ${literal(random)}])`,
  (random) => `JSON.parse(${JSON.stringify(literal(random))})`,
  (random) => `${name(random)}?.[${JSON.stringify(hostileKey(random))}]`,
  (random) => `Array(${oneOf(random, [0, 1, 1e3, 1e6, 2 ** 32 - 1])}).fill(${name(random)})`,
  (random) => `"x".repeat(${oneOf(random, [1, 1e4, 1e7, 2 ** 29, -1])})`,
  (random) => `new Proxy({}, { get: () => ${name(random)} })`,
  (random) => `\`${hostileText(random).slice(0, 200)}\``,
  () => 'Symbol("s")',
  () => '10n ** 5000n',
  () => 'new Error("e", { cause: globalThis })',
];

const STATEMENTS: readonly Make[] = [
  (random) => `${name(random)} = ${oneOf(random, EXPRESSIONS)(random)};`,
  (random) => `console.log(${oneOf(random, EXPRESSIONS)(random)});`,
  (random) =>
    `if (${oneOf(random, EXPRESSIONS)(random)}) { ${statement(random)} } else { ${statement(random)} }`,
  (random) =>
    `try { ${statement(random)} } catch (e) { ${name(random)} = e; } finally { ${statement(random)} }`,
  (random) => `for (const x of [1, 2, ${name(random)}]) { ${statement(random)} }`,
  (random) => `await Promise.all([${oneOf(random, EXPRESSIONS)(random)}, ${name(random)}]);`,
  (random) => `throw ${oneOf(random, EXPRESSIONS)(random)};`,
  (random) => `return ${oneOf(random, EXPRESSIONS)(random)};`,
  (random) => `Object.prototype[${JSON.stringify(hostileKey(random))}] = ${name(random)};`,
  (random) => `// ${hostileText(random).slice(0, 500)}`,
  (random) => `/* ${hostileText(random).slice(0, 500)} */`,
  () => 'while (true) {}',
  () => 'await new Promise(() => {});',
  () => 'const f = () => f(); f();',
  () => 'const l = []; for (;;) l.push(new Array(1e5).fill(l));',
  () => 'Promise.reject(new Error("nobody waits"));',
  () => 'for (let i = 0; i < 60; i++) mcp.parrot.reply({ result: "{}" });',
];

/** The later ones never end, or end all: they are rarer. */
function statement(random: Random): string {
  const rank = Math.min(random.int(STATEMENTS.length), random.int(STATEMENTS.length));
  return STATEMENTS[rank]!(random);
}

/** A program for the sandbox: sound, broken, or one of the known attacks with mistakes. */
export function hostileProgram(random: Random): string {
  switch (random.int(8)) {
    case 0:
      return hostileText(random) || ';';
    case 1:
      return damaged(random, Buffer.from(oneOf(random, HOSTILE_CASES).code)).toString();
    case 2: {
      const [open, close] = oneOf(
        random,
        ['()', '[]', '{}', '`}'].map((pair) => [...pair] as [string, string]),
      );
      const levels = upTo(random, 20_000);
      return `return ${open.repeat(levels)}1${close.repeat(levels)}`;
    }
    default: {
      const lines = Array.from({ length: 1 + random.int(8) }, () => statement(random));
      return `let v0, v1, v2, v3, v4, v5;\n${lines.join('\n')}`;
    }
  }
}
