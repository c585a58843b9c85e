import type { Node } from 'oxc-parser';
import { bareNode, isErased, staticKey } from './bare-node.ts';
import { type LiteralValue, literalValue } from './literal.ts';
import type { Names } from './names.ts';

/** A literal and the span to replace when it becomes a parameter. */
export interface FoundLiteral extends LiteralValue {
  readonly node: Node;
  readonly start: number;
  readonly end: number;
}

/** Flags that change what a program does; others (`readonly`, `shorthand`, `definite`) do not. */
const FLAGS = new Set(['async', 'generator', 'await', 'delegate', 'static', 'prefix', 'method', 'optional']);

/** Fields that say nothing about what runs, or that are written another way. */
const SILENT = new Set(
  (
    'type start end range loc parent raw directive accessibility importKind tail name ' +
    'typeAnnotation typeParameters typeArguments returnType superTypeArguments implements'
  ).split(' '),
);

/** With these, `optional` is `?.`; elsewhere it is a type's question mark. */
const CHAINABLE = new Set(['MemberExpression', 'CallExpression']);

/** Statements whose branches mean the same with and without braces. */
const BRACED: Readonly<Record<string, readonly string[]>> = {
  IfStatement: ['consequent', 'alternate'],
  ForStatement: ['body'],
  ForInStatement: ['body'],
  ForOfStatement: ['body'],
  WhileStatement: ['body'],
  DoWhileStatement: ['body'],
};

/**
 * The tree as text in which two programs agree when they differ only in formatting, comments, types, names of
 * their own and literals: `$0` is the program's first own name, `@mcp` a name of the guest's world, `#string` a
 * literal. Everything else (operators, methods, property and tool names, order) is spelled out.
 *
 * `isFixed` tells literals that belong to the program and are not values.
 */
export function normalise(body: readonly Node[], names: Names, isFixed: (literal: Node) => boolean) {
  const literals: FoundLiteral[] = [];
  const own = new Map<unknown, number>();
  const labels: { readonly name: string; readonly index: number }[] = [];
  let labelCount = 0;
  return { text: list(body), literals };

  function list(nodes: readonly (Node | null)[]): string {
    const written = nodes.filter((node) => node === null || !isErased(node));
    return `[${written.map((node) => (node ? write(node) : '_')).join(',')}]`;
  }

  function write(wrapped: Node): string {
    const node = bareNode(wrapped);
    const literal = literalValue(node);
    if (literal) return writeLiteral(node, literal);
    switch (node.type) {
      case 'Identifier':
        return writeName(node);
      case 'Literal':
        return `Literal(${JSON.stringify('regex' in node && node.regex ? node.regex : node.raw)})`;
      case 'TemplateLiteral':
        return `TemplateLiteral([${node.quasis.map(writeText).join('')}],${list(node.expressions)})`;
      case 'TaggedTemplateExpression': {
        // The tag sees the parts as they are written, so they belong to the program.
        const parts = node.quasi.quasis.map(({ value }) => value.raw);
        return `Tagged(${write(node.tag)},${JSON.stringify(parts)},${list(node.quasi.expressions)})`;
      }
      case 'PrivateIdentifier':
        return `#${node.name}`;
      case 'MetaProperty':
        return `Meta(${node.meta.name}.${node.property.name})`;
      case 'ExpressionStatement':
        if (node.directive) return `Directive(${JSON.stringify(node.directive)})`;
        return fields(node);
      case 'LabeledStatement': {
        labels.push({ name: node.label.name, index: labelCount++ });
        const text = `Labeled(${writeLabel(node.label.name)},${write(node.body)})`;
        labels.pop();
        return text;
      }
      case 'BreakStatement':
      case 'ContinueStatement':
        return node.label ? `${node.type}(${writeLabel(node.label.name)})` : node.type;
      default:
        return fields(node);
    }
  }

  function fields(node: Node): string {
    const written = Object.entries(node).flatMap(([field, value]) => {
      const text = SILENT.has(field) ? null : writeField(node, field, value);
      return text === null ? [] : [`${field}:${text}`];
    });
    return `${node.type}(${written.join(',')})`;
  }

  function writeField(node: Node, field: string, value: unknown): string | null {
    if (isKey(node, field)) return writeKey(node as KeyedNode, value as Node);
    if (field === 'params') return list((value as Node[]).filter((param) => !isThis(param)));
    if (Array.isArray(value)) return value.length > 0 ? list(value) : null;
    if (isNode(value)) {
      if (!BRACED[node.type]?.includes(field)) return isErased(value) ? null : write(value);
      return value.type === 'BlockStatement' ? list(value.body) : list([value]);
    }
    if (typeof value === 'string') return JSON.stringify(value);
    if (value !== true || !FLAGS.has(field)) return null;
    return field !== 'optional' || CHAINABLE.has(node.type) ? 'true' : null;
  }

  function writeKey(node: KeyedNode, key: Node): string {
    if (key.type === 'PrivateIdentifier') return write(key);
    const name = staticKey(key, node.computed === true);
    if (name === null) return `[${write(key)}]`;
    // Only plain `__proto__: x` sets the prototype; in brackets or alone it is a property like any other.
    const isPlain = name !== '__proto__' || node.type !== 'Property';
    return isPlain || !(node.computed || node.shorthand) ? JSON.stringify(name) : '["__proto__"]';
  }

  function writeName(node: Node & { type: 'Identifier' }): string {
    const declaration = names.declarationOf(node);
    if (!declaration) return `@${node.name}`;
    const index = own.get(declaration) ?? own.size;
    own.set(declaration, index);
    return `$${index}`;
  }

  function writeLabel(name: string): string {
    return `L${labels.findLast((label) => label.name === name)?.index}`;
  }

  function writeLiteral(node: Node, literal: LiteralValue): string {
    if (isFixed(node)) return `Fixed(${JSON.stringify(literal)})`;
    literals.push({ ...literal, node, start: node.start, end: node.end });
    const { kind, value } = literal;
    return Array.isArray(value) ? `#list<${typeof value[0]}>` : `#${kind}`;
  }

  /** A part's span has its delimiters in it: a backtick or `}` before, a backtick or `${` after. */
  function writeText(part: Node & { type: 'TemplateElement' }): string {
    const { raw, cooked } = part.value;
    const value = cooked ?? raw;
    if (isFixed(part)) return `Fixed(${JSON.stringify(value)})`;
    const [start, end] = [part.start + 1, part.end - (part.tail ? 1 : 2)];
    literals.push({ kind: 'text', value, node: part, start, end });
    return '#text';
  }
}

type KeyedNode = Node & { computed?: boolean; shorthand?: boolean };

function isKey(node: Node, field: string): boolean {
  if (field === 'property') return node.type === 'MemberExpression';
  return field === 'key' || (field === 'id' && node.type === 'TSEnumMember');
}

function isThis(param: Node): boolean {
  return param.type === 'Identifier' && param.name === 'this';
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}
