import type { Node } from 'oxc-parser';
import type { Problem } from './problem.ts';
import { lineAt, literalText, type ParsedFile, parseFile, sourceFiles, walk } from './source-file.ts';

const TABLE = 'src/operations/table.ts';
/** Of `/api`, what is a stream or a document instead of an operation. */
const OTHERS = new Set(['/events', '/openapi.json']);
const ROUTE_METHODS = new Set(['get', 'post', 'put', 'delete', 'patch', 'all', 'on']);

interface Declared {
  readonly file: string;
  readonly line: number;
  readonly name: string;
}

/** Every operation is declared once, in a file of its name, is in the table, and has its route there alone. */
export function checkOperations(root: string): Problem[] {
  const files = sourceFiles(root, ['src/operations/*.ts']).map(parseFile);
  const declared = files.filter(({ path }) => path !== TABLE).flatMap(operationsIn);
  const listed = new Set(files.filter(({ path }) => path === TABLE).flatMap(importsOf));
  const first = new Map<string, Declared>();
  const problems: Problem[] = [];
  for (const one of declared) {
    const { name, ...place } = one;
    const earlier = first.get(name);
    first.set(name, earlier ?? one);
    const file = `${name.replaceAll('_', '-')}.ts`;
    if (earlier) problems.push({ ...place, message: `declares ${name} again, after ${earlier.file}` });
    else if (!place.file.endsWith(`/${file}`))
      problems.push({ ...place, message: `declares ${name}: its place is src/operations/${file}` });
    else if (!listed.has(`./${file}`))
      problems.push({ ...place, message: `declares ${name}, which is not in ${TABLE}` });
  }
  const elsewhere = ['src/{adapters,compose,engine,surfaces}/**/*.ts', 'src/*.ts'];
  const others = sourceFiles(root, elsewhere).filter(
    ({ path }) => !path.endsWith('.test.ts') && !path.includes('/dashboard/app/'),
  );
  return [...problems, ...others.map(parseFile).flatMap(strayRoutes)];
}

function operationsIn(file: ParsedFile): Declared[] {
  const found: Declared[] = [];
  walk(file.program, (node) => {
    const [declaration] = node.type === 'CallExpression' && isCalled(node, 'operation') ? node.arguments : [];
    if (declaration?.type !== 'ObjectExpression') return undefined;
    for (const property of declaration.properties) {
      if (property.type !== 'Property' || property.key.type !== 'Identifier') continue;
      const name = property.key.name === 'name' ? literalText(property.value) : undefined;
      if (name !== undefined) found.push({ file: file.path, line: lineAt(file.text, property.start), name });
    }
    return undefined;
  });
  return found;
}

function importsOf({ program }: ParsedFile): string[] {
  return program.body.flatMap((node) => (node.type === 'ImportDeclaration' ? [node.source.value] : []));
}

/** A route of `/api` that is written down outside of the table. */
function strayRoutes(file: ParsedFile): Problem[] {
  const found: Problem[] = [];
  const add = (node: Node, path: string) => {
    const message = `has the route ${path}: routes of /api come from the operations in src/operations`;
    found.push({ file: file.path, line: lineAt(file.text, node.start), message });
  };
  walk(file.program, (node) => {
    const text = literalText(node);
    if (text?.startsWith('/api/') && !OTHERS.has(text.slice('/api'.length))) add(node, text);
    if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return undefined;
    const { object, property } = node.callee;
    if (object.type !== 'Identifier' || object.name !== 'api' || property.type !== 'Identifier')
      return undefined;
    const route = ROUTE_METHODS.has(property.name) ? literalText(node.arguments[0]) : undefined;
    if (route !== undefined && !OTHERS.has(route)) add(node, route);
    return undefined;
  });
  return found;
}

function isCalled(node: Extract<Node, { type: 'CallExpression' }>, name: string): boolean {
  return node.callee.type === 'Identifier' && node.callee.name === name;
}
