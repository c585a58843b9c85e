import { globSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { type Node, type Program, parseSync, visitorKeys } from 'oxc-parser';

export interface SourceFile {
  /** From the root, with `/`. */
  readonly path: string;
  readonly text: string;
}

export interface ParsedFile extends SourceFile {
  readonly program: Program;
  /** The first syntax error. */
  readonly syntaxError: string | undefined;
}

/** Every file under `root` that matches one of the globs, in path order. */
export function sourceFiles(root: string, globs: readonly string[]): SourceFile[] {
  return globSync(globs, { cwd: root })
    .map((path) => path.split(sep).join('/'))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

export function parseFile(file: SourceFile): ParsedFile {
  const { program, errors } = parseSync(file.path, file.text);
  return { ...file, program, syntaxError: errors[0]?.message };
}

/** Visits a node and its descendants, parents first; if the visitor returns `false`, the descendants are skipped. */
export function walk(node: Node, visit: (node: Node) => boolean | undefined): void {
  if (visit(node) === false) return;
  for (const child of childrenOf(node)) walk(child, visit);
}

export function childrenOf(node: Node): Node[] {
  const fields = node as unknown as Record<string, Node | (Node | null)[] | null>;
  return (visitorKeys[node.type] ?? [])
    .flatMap((key) => fields[key] ?? [])
    .filter((child): child is Node => child !== null);
}

/** The text of a string literal or of a template without substitutions. */
export function literalText(node: Node | null | undefined): string | undefined {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node?.type === 'TemplateLiteral' && node.expressions.length === 0) {
    return node.quasis[0]?.value.cooked ?? undefined;
  }
  return undefined;
}

/** 1-based line of a character offset. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}
