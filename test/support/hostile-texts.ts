import { fileURLToPath } from 'node:url';

/** A server whose answers are excessive in every way. */
export const FLOOD = fileURLToPath(new URL('../fixtures/servers/flood-server.ts', import.meta.url));

const SLASHES = '/'.repeat(60);
/** For intents, queries and names. */
export const HOSTILE_TEXTS = [
  `${' '.repeat(15_000)}x`,
  `x${' '.repeat(15_000)}x`,
  `${'!'.repeat(15_000)}x`,
  '+'.repeat(14_000),
  'a. '.repeat(5_000),
  'and then '.repeat(1_800),
  '"'.repeat(15_001),
  'aB_'.repeat(5_000),
  'x'.repeat(200_000),
];
const variables = Array.from({ length: 60 }, (_, i) => `v${i} = 0`).join(', ');
const opened = Array.from({ length: 200 }, (_, i) =>
  i % 2 === 0
    ? `for (const a${i} of v${i % 60}) { v${(i + 1) % 60} = [v${(i + 7) % 60}, a${i}];`
    : `if (args.x${i}) { v${i % 60} = await mcp.flood.ok({ x: v${(i + 1) % 60} });`,
);
export const HOSTILE_CODES = [
  `${SLASHES}\n// Sums two numbers\n${SLASHES}\nreturn 1 + 1;`,
  `return \`${' '.repeat(60_000)}\`.length;`,
  `\`\`\`\n${' '.repeat(60_000)}`,
  `let ${variables};\n${opened.join('\n')}${'}'.repeat(200)}`,
  `${'('.repeat(100_000)}1`,
  `return "${'\\u{0}'.repeat(20_000)}".length;`,
  'x'.repeat(2_000_000),
];
/** Tools of the flood server with valid results, and with invalid ones. */
export const FLOOD_TOOLS = {
  sound: 'marks blanks quotes secrets keys numbers deep_text ok'.split(' '),
  unsound: 'content_text content_null content_list deep'.split(' '),
};
