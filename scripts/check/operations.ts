import type { Node } from 'oxc-parser';
import { type Declared, declaredOperations, isTableCurrent, TABLE } from '../operations/operation-table.ts';
import type { Problem } from './problem.ts';
import { lineAt, literalText, type ParsedFile, parseFile, sourceFiles, walk } from './source-file.ts';

/** Routes of `/api` that are a stream or a document instead of an operation. */
const OTHERS = new Set(['/events', '/openapi.json']);
const ROUTE_METHODS = new Set(['get', 'post', 'put', 'delete', 'patch', 'all', 'on']);

/** Every operation is declared once, exported from a file with its name, and listed in the table with its route. */
export function checkOperations(root: string): Problem[] {
  const declared = declaredOperations(root);
  const first = new Map<string, Declared>();
  const problems: Problem[] = [];
  for (const one of declared) {
    const { name, file, line } = one;
    const earlier = first.get(name);
    first.set(name, earlier ?? one);
    const place = `src/operations/${name.replaceAll('_', '-')}.ts`;
    const add = (message: string) => problems.push({ file, line, message: `declares ${name}${message}` });
    if (earlier) add(` again, after ${earlier.file}`);
    else if (file !== place) add(`: it belongs in ${place}`);
    else if (one.exported === null) add(', but does not export it');
  }
  if (problems.length === 0 && !isTableCurrent(root, declared))
    problems.push({ file: TABLE, message: 'is out of date: run "npm run build:operations"' });
  const elsewhere = ['src/{adapters,compose,engine,surfaces}/**/*.ts', 'src/*.ts'];
  const others = sourceFiles(root, elsewhere).filter(
    ({ path }) => !path.endsWith('.test.ts') && !path.includes('/dashboard/app/'),
  );
  return [...problems, ...others.map(parseFile).flatMap(strayRoutes)];
}

/** Routes of `/api` declared outside the table. */
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
