import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Node } from 'oxc-parser';
import { lineAt, literalText, type ParsedFile, parseFile, sourceFiles, walk } from '../check/source-file.ts';

export const TABLE = 'src/operations/table.ts';

const HEAD =
  '// Generated from the files of this folder by "npm run build:operations"; check, tests and build run it too.';

/** One call of `operation()`. */
export interface Declared {
  readonly file: string;
  readonly line: number;
  /** In snake_case, as declared. */
  readonly name: string;
  /** The name of its export; null if it is not exported. */
  readonly exported: string | null;
}

export function declaredOperations(root: string): Declared[] {
  return sourceFiles(root, ['src/operations/*.ts'])
    .filter(({ path }) => path !== TABLE && !path.endsWith('.test.ts'))
    .map(parseFile)
    .flatMap(operationsIn);
}

/** The table of the declared operations, in the order of their files. */
function tableText(declared: readonly Declared[]): string {
  const listed = declared
    .flatMap(({ file, exported }) => (exported === null ? [] : [{ exported, file: moduleOf(file) }]))
    // A file comes before those whose names begin with its own.
    .toSorted((one, other) => (one.file < other.file ? -1 : 1));
  return [
    HEAD,
    ...listed.map(({ exported, file }) => `import { ${exported} } from './${file}.ts';`),
    '',
    '/** All operations of PML. */',
    'export const OPERATIONS = [',
    ...listed.map(({ exported }) => `  ${exported},`),
    '] as const;',
    '',
    'export type OperationTable = typeof OPERATIONS;',
    '',
  ].join('\n');
}

/** Whether the table has exactly the declared operations. */
export function isTableCurrent(root: string, declared = declaredOperations(root)): boolean {
  const file = join(root, TABLE);
  if (!existsSync(file)) return declared.length === 0;
  return readFileSync(file, 'utf8') === tableText(declared);
}

/** Writes the table if it is not current; returns whether it did. */
export function writeTable(root: string): boolean {
  const declared = declaredOperations(root);
  if (isTableCurrent(root, declared)) return false;
  writeFileSync(join(root, TABLE), tableText(declared));
  return true;
}

function moduleOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1, -'.ts'.length);
}

function operationsIn(file: ParsedFile): Declared[] {
  const found: Declared[] = [];
  const exported = exportsOf(file);
  walk(file.program, (node) => {
    const [declaration] = node.type === 'CallExpression' && isCalled(node, 'operation') ? node.arguments : [];
    if (declaration?.type !== 'ObjectExpression') return undefined;
    for (const property of declaration.properties) {
      if (property.type !== 'Property' || property.key.type !== 'Identifier') continue;
      const name = property.key.name === 'name' ? literalText(property.value) : undefined;
      if (name === undefined) continue;
      const line = lineAt(file.text, property.start);
      found.push({ file: file.path, line, name, exported: exported.get(node.start) ?? null });
    }
    return undefined;
  });
  return found;
}

/** Names of exported constants, by the offset of their value. */
function exportsOf({ program }: ParsedFile): Map<number, string> {
  const names = new Map<number, string>();
  for (const node of program.body) {
    if (node.type !== 'ExportNamedDeclaration' || node.declaration?.type !== 'VariableDeclaration') continue;
    for (const { id, init } of node.declaration.declarations)
      if (id.type === 'Identifier' && init) names.set(init.start, id.name);
  }
  return names;
}

function isCalled(node: Extract<Node, { type: 'CallExpression' }>, name: string): boolean {
  return node.callee.type === 'Identifier' && node.callee.name === name;
}
