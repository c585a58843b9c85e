import { posix } from 'node:path';
import type { Node } from 'oxc-parser';
import { addressIn } from '../check/references.ts';
import { lineAt, literalText, type ParsedFile, walk } from '../check/source-file.ts';

interface Address {
  /** The addressed path, from the root; with a `/` at the end for a folder. */
  readonly target: string;
  readonly line: number;
  /** Offset of the literal, quotes included. */
  readonly start: number;
  readonly end: number;
}

export interface Addresses {
  readonly file: ParsedFile;
  readonly addresses: readonly Address[];
  readonly problems: readonly string[];
}

/**
 * The paths that a file addresses relative to itself. A bundle moves code to other folders, so only two uses of a
 * file's own path are allowed: `new URL('./x', import.meta.url)`, which is rewritten, and
 * `createRequire(import.meta.url)`, which finds the same packages from anywhere in `dist`.
 */
export function addressesIn(file: ParsedFile): Addresses {
  const addresses: Address[] = [];
  const problems: string[] = [];
  walk(file.program, (node) => {
    const line = lineAt(file.text, node.start);
    const address = addressIn(node);
    const specifier = literalText(address);
    if (address && specifier?.startsWith('.')) {
      const { start, end } = address;
      addresses.push({ target: posix.join(posix.dirname(file.path), specifier), line, start, end });
      return false;
    }
    if (isCreateRequire(node)) return false;
    if (node.type === 'MetaProperty') {
      problems.push(`${file.path}:${line} uses import.meta other than in new URL('./x', import.meta.url)`);
    }
    return undefined;
  });
  return { file, addresses, problems };
}

function isCreateRequire(node: Node): boolean {
  return (
    node.type === 'CallExpression' &&
    node.callee.type === 'Identifier' &&
    node.callee.name === 'createRequire'
  );
}
