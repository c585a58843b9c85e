import fc from 'fast-check';
import { expect, test } from 'vitest';
import { guestTypes } from '../../src/core/capabilities/guest-types.ts';
import { proofRuns, proofSeed } from '../proof-count.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { typeCheck } from '../support/type-check.ts';

const object = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
});

const READ = {
  server: 'filesystem',
  name: 'read_file',
  description: 'Reads a file.',
  inputSchema: object({ path: { type: 'string', description: 'Where it is' }, head: { type: 'integer' } }, [
    'path',
  ]),
  outputSchema: object({ content: { type: 'string' } }, ['content']),
};
const SUM = {
  server: 'everything',
  name: 'get-sum',
  description: '',
  inputSchema: object({ a: { type: 'number' }, b: { type: 'number' } }, ['a', 'b']),
};
const COUNT = {
  slug: 'count_words',
  description: 'Counts words.',
  parametersSchema: object({ path: { type: 'string' } }),
  outputSchema: { type: 'integer' },
};

test('[TYPE-6] editors know each tool and capability by its description and types', () => {
  const types = guestTypes({
    tools: [{ tool: READ }, { tool: SUM, observedOutput: { type: 'string' } }],
    capabilities: [COUNT],
  });
  expect(types).toContain(`export interface Mcp {
  readonly filesystem: {
    /** Reads a file. */
    read_file(args: {
      /** Where it is */
      path: string;
      head?: number;
    }): Promise<{
      content: string;
    }>;
  };
  readonly everything: {
    /** @returns What was observed: no type is declared. */
    "get-sum"(args: {
      a: number;
      b: number;
    }): Promise<string>;
  };
}
`);
  expect(types).toContain(`export interface Capabilities {
  /**
   * Counts words.
   * @returns What was observed: no type is declared.
   */
  count_words(args?: {
    path?: string;
  }): Promise<number>;
}
`);
});

test('[TYPE-6] a program is checked against the types: wrong arguments, results and names are errors', async () => {
  const tools = [{ tool: READ }, { tool: SUM, observedOutput: { type: 'string' } }];
  const program = `export async function program() {
    const { content } = await mcp.filesystem.read_file({ path: args.path });
    console.log(content.toUpperCase(), deps.before);
    const words: number = await capabilities.count_words();
    const sum: string = await mcp.everything['get-sum']({ a: words, b: 2 });
    // @ts-expect-error The path is a text.
    await mcp.filesystem.read_file({ path: 1 });
    // @ts-expect-error The path is missing.
    await mcp.filesystem.read_file({});
    // @ts-expect-error There is no such argument.
    await mcp.filesystem.read_file({ path: 'a', haed: 3 });
    // @ts-expect-error There is no such tool.
    await mcp.filesystem.reed_file({ path: 'a' });
    // @ts-expect-error There is no such server.
    await mcp.filesistem.read_file({ path: 'a' });
    // @ts-expect-error There is no such capability.
    await capabilities.count_wrods();
    // @ts-expect-error It gives a number.
    const text: string = await capabilities.count_words({ path: 'a' });
    return { sum, text };
  }`;
  const files = { 'pml.d.ts': guestTypes({ tools, capabilities: [COUNT] }), 'program.ts': program };
  expect(await typeCheck(await temporaryDir(), files)).toBe('');
  expect(await typeCheck(await temporaryDir(), files, { lib: ['esnext'] })).toBe('');
});

test('[TYPE-6] where nothing is known, every tool and capability can be called', async () => {
  const program = `export async function program() {
    const [listing] = await Promise.all([mcp.any?.tool?.({ path: 'a' }), capabilities.learned?.()]);
    // @ts-expect-error Arguments have names.
    await mcp.any?.tool?.('a');
    return listing.content;
  }`;
  const files = { 'guest.d.ts': guestTypes(), 'program.ts': program };
  expect(await typeCheck(await temporaryDir(), files)).toBe('');
});

const HOSTILE = [
  '*/ declare const broken: 1; /*',
  'a\n */\n}\nsyntax error(',
  '@ts-expect-error',
  'first\n@ts-ignore',
  '@deprecated @param {string',
  '`${x}` // " \' \\',
  '\u2028*\u200b/\u2029 \ud800',
  'new',
  'constructor',
  '__proto__',
  'then',
  '',
  'word '.repeat(10_000),
  '*/'.repeat(10_000),
];

test('[TYPE-6] no text of a server breaks the file, and its size is bounded', async () => {
  const text = fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary', maxLength: 40 }));
  const schema = fc
    .dictionary(text, fc.record({ type: fc.constantFrom('string', 'number', 'nonsense'), description: text }))
    .map((properties) => object(properties, Object.keys(properties)));
  const tool = fc.record({
    server: text,
    name: text,
    description: text,
    inputSchema: fc.oneof(schema, fc.constant(null), text),
    outputSchema: fc.oneof(schema, fc.record({ enum: fc.array(text) }), fc.constant(undefined)),
  });
  const capability = fc.record({
    slug: text,
    description: text,
    parametersSchema: schema,
    outputSchema: schema,
  });
  const names = fc.sample(
    fc.record({
      tools: fc.array(fc.record({ tool }), { minLength: 5 }),
      capabilities: fc.array(capability),
    }),
    { numRuns: proofRuns(100), seed: proofSeed() },
  );
  const hostile = HOSTILE.map((name) => ({
    tool: {
      ...READ,
      server: name,
      name,
      description: name,
      inputSchema: object({ [name]: { description: name } }),
    },
  }));
  const files = [{ tools: hostile, capabilities: [] }, ...names].map(guestTypes);
  expect(files[0]!.length).toBeLessThan(100_000);
  // All declare the same globals; what differs are the types of their modules.
  const modules = files.map((types, i) => [`types-${i}.d.ts`, types.split('declare global')[0]!] as const);
  expect(await typeCheck(await temporaryDir(), Object.fromEntries(modules))).toBe('');
});

test('[TYPE-6] values that a type cannot express are still accepted', async () => {
  const many = Array.from({ length: 100 }, (_, i) => `field_${i}`);
  const tool = {
    ...READ,
    inputSchema: object({
      ...Object.fromEntries(many.map((name) => [name, { type: 'string' }])),
      choice: { anyOf: many.map((value) => ({ const: value })) },
      value: { enum: many },
    }),
  };
  const program = `export async function program() {
    await mcp.filesystem.read_file({ field_0: 'a', field_99: 'b', choice: 'field_99', value: 'field_99' });
    // @ts-expect-error It is a text.
    await mcp.filesystem.read_file({ field_0: 1 });
  }`;
  const files = { 'pml.d.ts': guestTypes({ tools: [{ tool }], capabilities: [] }), 'program.ts': program };
  expect(await typeCheck(await temporaryDir(), files)).toBe('');
});
