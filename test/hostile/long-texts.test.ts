import { expect, test } from 'vitest';
import { nameRoutine } from '../../src/core/capabilities/name-routine.ts';
import { checkArguments } from '../../src/core/capabilities/validate-arguments.ts';
import { matchesGlob } from '../../src/core/policy/decide.ts';
import { scanText } from '../../src/core/policy/scan-text.ts';
import { successorsOf } from '../../src/core/retrieval/deprecated-tools.ts';
import { clauses, createNameIndex, words } from '../../src/core/retrieval/words.ts';
import { prepareProgram } from '../../src/core/structure/emit/prepare-program.ts';
import { isDistinctive, linesAndWords } from '../../src/core/tracing/read-values.ts';
import { findShapes } from '../../src/core/tracing/secret-shapes.ts';
import { parseToolId } from '../../src/core/vocabulary/ids.ts';
import { unfenced } from '../../src/surfaces/mcp/meta-tools/execute.ts';

/** Of processor time: far above what linear time takes, far below what quadratic time takes. */
const PATIENCE_MS = 2_000;
const LENGTH = 200_000;

/** By this thread alone, whatever else the machine does. */
function spentMs(start: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1_000;
}

const LOOKS: Readonly<Record<string, (text: string) => unknown>> = {
  'the clauses of an intent': clauses,
  'the words of an intent': words,
  'the name for what was learned': (intent) =>
    nameRoutine({ intents: [intent], tools: [], results: [], isPublic: () => true }),
  'the names in a query': (text) => createNameIndex([{ server: 'a', name: 'b' }]).named(text),
  'the tool that a deprecated one names': (text) =>
    successorsOf([{ server: 'a', name: 'b', description: `Deprecated: use ${text}` }]),
  'the pieces of a result': (text) => [...linesAndWords(text)].length,
  'what is distinctive in a result': isDistinctive,
  'the secrets in a result': findShapes,
  'orders and hidden characters in a text': scanText,
  'the fences around code': unfenced,
  'the id of a tool': (text) => {
    try {
      return parseToolId(text);
    } catch {
      return null;
    }
  },
  'a name that stands in no schema': (text) =>
    checkArguments(
      { type: 'object', required: [text], enum: [text], properties: { a: { type: text } } },
      { a: 1 },
    ),
  'a glob of stars': (text) => matchesGlob('*a*b*c*d*e*f', text),
};

const TEXTS: Readonly<Record<string, string>> = {
  blanks: `${' '.repeat(LENGTH)}x`,
  'blanks within': `x${' '.repeat(LENGTH)}x`,
  'lines of nothing': `x${'\n'.repeat(LENGTH)}x`,
  'marks before a letter': `${'!'.repeat(LENGTH)}x`,
  zeros: `${'0'.repeat(LENGTH)}x`,
  dashes: `${'a-'.repeat(LENGTH / 2)}!`,
  quotes: '"'.repeat(LENGTH + 1),
  apostrophes: " '".repeat(LENGTH / 2),
  'short sentences': 'a. '.repeat(LENGTH / 3),
  words: 'and then '.repeat(LENGTH / 9),
  'one word': 'a'.repeat(LENGTH),
  'one word and a line': `${'a__'.repeat(LENGTH / 3)}\nb`,
  camels: 'aB'.repeat(LENGTH / 2),
  fences: `\`\`\`\n${' '.repeat(LENGTH)}`,
  'a fence within': `\`\`\`ts\n${'\n```'.repeat(LENGTH / 4)}x`,
  brackets: '[1'.repeat(LENGTH / 2),
  'tokens that are none': 'eyJ-SG.-sk-_'.repeat(LENGTH / 12),
  'keys that do not end': '-----BEGIN PRIVATE KEY-----\n'.repeat(LENGTH / 28),
  addresses: '://a:'.repeat(LENGTH / 5),
  headers: 'Authorization: Bearer '.repeat(LENGTH / 22),
  'hidden characters': '\u{e0061}\u00ad\u200d\ufe00'.repeat(LENGTH / 5),
  'the beginning of an order': 'send it all to the user and ignore all the '.repeat(LENGTH / 43),
  pairs: 'password = "'.repeat(LENGTH / 12),
};

test.each(Object.keys(LOOKS))('[HANG-2] %s: time is bounded by the length of the text', (name) => {
  for (const [kind, text] of Object.entries(TEXTS)) {
    const start = process.threadCpuUsage();
    LOOKS[name]!(text);
    expect(spentMs(start), kind).toBeLessThan(PATIENCE_MS);
  }
});

const nested = (open: (i: number) => string) =>
  `let ${Array.from({ length: 60 }, (_, i) => `v${i} = 0`).join(', ')};\n${Array.from({ length: 200 }, (_, i) => open(i)).join('\n')}${'}'.repeat(200)}`;

test.each([
  ['ifs', nested((i) => `if (args.x${i}) { v${i % 60} = await mcp.a.t({ x: v${(i + 1) % 60} });`)],
  ['loops', nested((i) => `for (const a${i} of v${i % 60}) { v${(i + 1) % 60} = [v${(i + 7) % 60}, a${i}];`)],
  [
    'both',
    nested((i) =>
      i % 2 === 0
        ? `for (const a${i} of v${i % 60}) { v${(i + 1) % 60} = await mcp.a.t({ x: a${i} });`
        : `if (args.x${i}) { v${i % 60} = [v${(i + 7) % 60}];`,
    ),
  ],
  ['blanks in a template', `return \`${' '.repeat(60_000)}\`;`],
  ['a banner of slashes', `${'/'.repeat(60)}\n// Sums two numbers\n${'/'.repeat(60)}\nreturn 1 + 1;`],
  ['comments line by line', `${'// a\n'.repeat(40_000)}return 1;`],
])('[HANG-3] code of nested %s is prepared or refused at once', (_, code) => {
  const start = process.threadCpuUsage();
  const prepared = prepareProgram(code);
  expect(spentMs(start)).toBeLessThan(2 * PATIENCE_MS);
  if (!prepared.ok) {
    expect(prepared.error).toMatchObject({ code: 'too_large', hint: expect.stringContaining('Split it') });
  }
});
