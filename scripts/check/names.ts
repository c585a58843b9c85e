import type { Node } from 'oxc-parser';
import type { Problem } from './problem.ts';
import { lineAt, parseFile, type SourceFile, sourceFiles } from './source-file.ts';

/** Words that do not say what a thing does, each with advice. */
const BANNED: ReadonlyMap<string, string> = new Map([
  ...each(['util', 'utils', 'helper', 'helpers'], 'name what it does, or move it to its only user'),
  ...each(['misc', 'common', 'stuff', 'thing', 'things'], 'name the one idea, and split what has several'),
  ...each(['manager', 'mgr'], 'name what it does: a registry, a pool, a lock'),
  ...each(['book', 'shelf', 'desk', 'seat'], 'name the data it holds, not a piece of furniture'),
  ...each(['v2', 'new', 'old', 'legacy'], 'name the difference; the old way leaves when the new one lands'),
  ...each(['temp', 'tmp', 'impl'], 'name what it is, or how it differs from the others'),
]);

/** Names in which such a word has a specific meaning. */
const MEANT: readonly { readonly name: RegExp; readonly reason: string }[] = [
  { name: /^new-(?:frame|target)$/, reason: 'makes one' },
  { name: /^evaluate-new$/, reason: 'the operator `new`' },
  {
    name: /^legacy-(?:serving|session|options|session-options)$/,
    reason: 'the protocol era before 2026-07-28',
  },
  { name: /^plan-helpers?$/, reason: 'functions that are included in generated programs' },
  { name: /^is-common-word$/, reason: 'common in the language' },
];

/** Checks the names of files in `src/` and of their exports. */
export function checkNames(root: string): Problem[] {
  return sourceFiles(root, ['src/**/*.{ts,tsx}']).flatMap((file) => [
    ...problemsOf(file.path, undefined, file.path.split('/').at(-1)!.split('.')[0]!),
    ...exportsOf(file).flatMap(({ name, line }) => problemsOf(file.path, line, name)),
  ]);
}

function problemsOf(file: string, line: number | undefined, name: string): Problem[] {
  const words = wordsOf(name);
  if (MEANT.some((meant) => meant.name.test(words.join('-')))) return [];
  const word = words.find((one) => BANNED.has(one));
  if (word === undefined) return [];
  const message = `is called ${name}, and "${word}" is too vague: ${BANNED.get(word)}`;
  return [{ file, ...(line !== undefined && { line }), message }];
}

/** Splits `kebab-case`, `camelCase` and `CONSTANT_CASE` into lower-case words. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[-_]/);
}

function exportsOf(file: SourceFile): { name: string; line: number }[] {
  const { program, text } = parseFile(file);
  return program.body.flatMap((node) => {
    if (node.type !== 'ExportNamedDeclaration') return [];
    const declared = node.declaration ? namesIn(node.declaration) : [];
    return declared.map((name) => ({ name, line: lineAt(text, node.start) }));
  });
}

function namesIn(node: Node): string[] {
  if (node.type === 'VariableDeclaration') return node.declarations.flatMap(({ id }) => namesIn(id));
  if (node.type === 'Identifier') return [node.name];
  return 'id' in node && node.id?.type === 'Identifier' ? [node.id.name] : [];
}

function each(words: readonly string[], reason: string): (readonly [string, string])[] {
  return words.map((word) => [word, reason] as const);
}
