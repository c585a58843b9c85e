import type { Node } from 'oxc-parser';
import { lineAt, literalText, type ParsedFile, walk } from './source-file.ts';

export interface Reference {
  /** Undefined if the name is computed, so that the import cannot be checked. */
  readonly specifier: string | undefined;
  /** `import`: linked into the importing module, types included; `url`: started by address, as workers are. */
  readonly kind: 'import' | 'url';
  readonly line: number;
  /** Offset of the literal, quotes included. */
  readonly start: number;
  readonly end: number;
}

/** Every way in which a module can refer to another. */
export function referencesOf(file: ParsedFile): Reference[] {
  const found: Reference[] = [];
  const add = (kind: Reference['kind'], source: Node) => {
    const { start, end } = source;
    found.push({ specifier: literalText(source), kind, line: lineAt(file.text, start), start, end });
  };
  walk(file.program, (node) => {
    switch (node.type) {
      case 'ImportDeclaration':
      case 'ExportAllDeclaration':
      case 'ImportExpression':
      case 'TSImportType':
        add('import', node.source);
        break;
      case 'ExportNamedDeclaration':
        if (node.source) add('import', node.source);
        break;
      case 'NewExpression': {
        const address = addressIn(node);
        if (address && namesModule(address)) add('url', address);
        break;
      }
      case 'CallExpression': {
        const [address] = node.arguments;
        if (address && isImportMeta(node.callee, 'resolve') && namesModule(address)) add('url', address);
        break;
      }
    }
    return undefined;
  });
  return found;
}

/** The `x` of `new URL(x, import.meta.url)`. */
export function addressIn(node: Node): Node | undefined {
  if (node.type !== 'NewExpression') return undefined;
  const [address, base] = node.arguments;
  return isName(node.callee, 'URL') && isImportMeta(base, 'url') ? address : undefined;
}

function isName(node: Node, name: string): boolean {
  return node.type === 'Identifier' && node.name === name;
}

function isImportMeta(node: Node | undefined, property: string): boolean {
  return (
    node?.type === 'MemberExpression' &&
    node.object.type === 'MetaProperty' &&
    node.property.type === 'Identifier' &&
    node.property.name === property
  );
}

/** Addresses of data files are not arrows. */
function namesModule(node: Node): boolean {
  return /^\.{1,2}\/.*\.[jt]sx?$/.test(literalText(node) ?? '');
}
