import type { ArrayExpression, Node, Program, Statement } from 'oxc-parser';
import { walk } from 'oxc-walker';
import { type ParsedProgram, parseProgram } from '../structure/parse/parse-program.ts';
import type { ErrorShape, Outcome } from '../vocabulary/pml-error.ts';
import { bareNode, staticKey, valueNode } from './bare-node.ts';
import { constantOf, constantValue } from './constant-value.ts';
import { type LiteralValue, literalValue } from './literal.ts';
import { type Names, resolveNames } from './names.ts';
import { normalise } from './normalise.ts';
import { toolNames, type UsedArguments, usedArguments } from './program-uses.ts';

const DEFAULTS = {
  /** How many aliases in a row are followed; the text may set them in a circle. */
  maxHops: 32,
};

/** Of the normal form: an identity holds only among those made alike. */
const FORMAT = 'pml-template/1';

/** Characters of a program that is still a routine and not a data set. */
export const MAX_PROGRAM = 64 * 1024;

/** A literal of a program: where another run of the same program may hold another value. */
export interface LiteralSlot extends LiteralValue {
  /** Its place among the program's literals; the same in every program of this identity. */
  readonly index: number;
  /** Offsets in the user's source (UTF-16 units). */
  readonly start: number;
  readonly end: number;
  /** The call it is an argument of. */
  readonly argument?: CallArgument;
  /** What the code around it calls it. */
  readonly hint?: string;
  /** `args` means something else there, so the literal cannot become a parameter. */
  readonly isFixed?: true;
}

export interface Template {
  /** The normalised syntax tree: programs that agree in it are one capability. */
  readonly normalised: string;
  readonly slots: readonly LiteralSlot[];
  readonly used: UsedArguments;
}

/** The program without what does not make it another program, and the literals taken out of it. */
export function templateOf(source: string): Outcome<Template> {
  if (source.length > MAX_PROGRAM) return { ok: false, error: TOO_LONG };
  const parsed = parseProgram(source);
  if (!parsed.ok) return parsed;
  try {
    return { ok: true, value: readTemplate(parsed.value) };
  } catch (thrown) {
    if (thrown instanceof RangeError) return { ok: false, error: TOO_DEEP };
    throw thrown;
  }
}

/** The hash that tells a capability from all others, with the template it was made from. */
export function identityOf(
  source: string,
  sha256: (text: string) => string,
): Outcome<{ readonly codeHash: string; readonly template: Template }> {
  const template = templateOf(source);
  if (!template.ok) return template;
  const codeHash = sha256(`${FORMAT}\n${template.value.normalised}`);
  return { ok: true, value: { codeHash, template: template.value } };
}

const TOO_LONG: ErrorShape = {
  code: 'too_large',
  message: `The code is longer than the ${MAX_PROGRAM} characters a capability may have`,
  hint: 'Put data into a file or into arguments.',
};

const TOO_DEEP: ErrorShape = {
  code: 'too_large',
  message: 'The code is nested too deeply to be compared with others',
  hint: 'Split it into variables or functions.',
};

function readTemplate({ program, body, offset }: ParsedProgram): Template {
  const names = resolveNames(program);
  const argumentOf = argumentLiterals(program, names);
  const namesTool = toolNames(names);
  const { text, literals } = normalise(
    body.body,
    names,
    (literal) => namesTool(literal) || names.parentOf(literal)?.type === 'TSEnumMember',
  );
  const slots = literals
    .sort((a, b) => a.start - b.start)
    .map(({ node, kind, value, start, end }, index): LiteralSlot => {
      const argument = argumentOf.get(node);
      const hint = nameHint(node, names);
      return {
        index,
        kind,
        value,
        start: start - offset,
        end: end - offset,
        ...(argument && { argument }),
        ...(hint !== null && { hint }),
        ...(!names.seesArguments(node) && { isFixed: true }),
      };
    });
  return { normalised: text, slots, used: usedArguments(names) };
}

/** What the code around a literal calls it: its variable, its property, what it is compared with. */
function nameHint(node: Node, names: Names): string | null {
  let value = node;
  let user = names.parentOf(node);
  while (user && (bareNode(user) !== user || user.type === 'TemplateLiteral')) {
    value = user;
    user = names.parentOf(user);
  }
  switch (user?.type) {
    case 'VariableDeclarator':
      return nameOf(user.id);
    case 'AssignmentExpression':
    case 'AssignmentPattern':
      return nameOf(user.left);
    case 'Property':
    case 'PropertyDefinition':
      return staticKey(user.key, user.computed);
    case 'BinaryExpression':
      return nameOf(user.left === value ? user.right : user.left);
    case 'ForOfStatement': {
      const each = user.left.type === 'VariableDeclaration' ? user.left.declarations[0]?.id : user.left;
      const name = each && nameOf(each);
      return name ? `${name}_list` : null;
    }
    default:
      return null;
  }
}

function nameOf(wrapped: Node): string | null {
  const node = valueNode(wrapped);
  if (node.type === 'Identifier') return node.name;
  return node.type === 'MemberExpression' ? staticKey(node.property, node.computed) : null;
}

/** Where a literal goes: `path` of a call, or a place within an argument, `filter.status`, `items[0].id`. */
interface CallArgument {
  /** `filesystem:read_file`, or `capabilities.<slug>`. */
  readonly tool: string;
  readonly name: string;
}

/**
 * The literals that are arguments of tool and capability calls: directly, inside objects and lists, or by way of
 * a `const`, as far as the text tells.
 */
function argumentLiterals(program: Program, names: Names): ReadonlyMap<Node, CallArgument> {
  const found = new Map<Node, CallArgument>();
  const marked = new Set<Node>();
  walk(program, {
    enter(node) {
      if (node.type !== 'CallExpression') return;
      const tool = toolOf(pathOf(node.callee));
      const [given] = node.arguments;
      if (tool && given) mark(given, tool, '');
    },
  });
  return found;

  /** `['mcp', 'filesystem', 'read_file']`, whatever aliases lead there; null when only a run can tell. */
  function pathOf(wrapped: Node, hops = 0): readonly string[] | null {
    const node = valueNode(wrapped);
    if (hops > DEFAULTS.maxHops) return null;
    if (node.type === 'Identifier') {
      if (!names.declarationOf(node)) return [node.name];
      const constant = constantOf(node, names);
      const base = constant && pathOf(constant.init, hops + 1);
      return base && [...base, ...constant.path];
    }
    if (node.type !== 'MemberExpression') return null;
    const base = pathOf(node.object, hops + 1);
    const key = base && keyOf(node);
    return base && typeof key === 'string' ? [...base, key] : null;
  }

  function keyOf(member: Node & { type: 'MemberExpression' }): unknown {
    const key = staticKey(member.property, member.computed);
    return key ?? literalValue(constantValue(member.property, names))?.value;
  }

  /** The first call that a value goes to counts; marking each once also keeps shared objects cheap. */
  function mark(given: Node, tool: string, name: string): void {
    const node = constantValue(given, names);
    if (marked.has(node)) return;
    marked.add(node);
    if (literalValue(node)) {
      if (name !== '') found.set(node, { tool, name });
    } else if (node.type === 'ObjectExpression') {
      for (const property of node.properties) {
        if (property.type === 'SpreadElement') mark(property.argument, tool, name);
        else {
          const key = staticKey(property.key, property.computed);
          if (key !== null) mark(property.value, tool, name === '' ? key : `${name}.${key}`);
        }
      }
    } else if (node.type === 'ArrayExpression') {
      node.elements.forEach((element, index) => {
        if (element) mark(element, tool, `${name}[${index}]`);
      });
    }
  }
}

function toolOf(path: readonly string[] | null): string | null {
  if (!path) return null;
  const [root, first, second, ...more] = path;
  if (root === 'capabilities') return first && second === undefined ? `capabilities.${first}` : null;
  return root === 'mcp' && first && second && more.length === 0 ? `${first}:${second}` : null;
}

/** One of the calls that a program makes at once. */
interface ParallelCall {
  /** The code of what is called. */
  readonly callee: string;
  readonly text: string;
  /** Offsets in the user's source (UTF-16 units). */
  readonly start: number;
  readonly end: number;
}

/**
 * A program with the calls that it makes at once in the order in which another one makes them: as a job, both are the
 * same. Null where they do not make the same calls, or make them in the same order. Only results that are returned as
 * they are, or not used at all, do not mind the order.
 */
export function inOrderOf(source: string, other: string): string | null {
  const [own, theirs] = [callsAtOnce(source), callsAtOnce(other)];
  if (!own || own.length === 0 || own.length !== theirs?.length) return null;
  let arranged = source;
  // From the end, so that offsets stay right.
  for (const [i, calls] of [...own.entries()].reverse()) {
    const ordered = arrange(calls, theirs[i]!);
    if (!ordered) return null;
    for (const [place, { start, end }] of [...calls.entries()].reverse()) {
      arranged = arranged.slice(0, start) + ordered[place]!.text + arranged.slice(end);
    }
  }
  return arranged === source ? null : arranged;
}

/** Each group in the order of the program; null for what is not a program. */
function callsAtOnce(source: string): ParallelCall[][] | null {
  const parsed = parseProgram(source);
  if (!parsed.ok) return null;
  const { value } = parsed;
  return value.body.body.flatMap((statement) => {
    const list = listAtOnce(statement);
    const calls = list && callsIn(list, value);
    return calls ? [calls] : [];
  });
}

/** The list of `return await Promise.all([…])`, or of `await Promise.all([…])` by itself. */
function listAtOnce(statement: Statement | Node): ArrayExpression | null {
  const isReturn = statement.type === 'ReturnStatement';
  const given = isReturn
    ? statement.argument
    : statement.type === 'ExpressionStatement' && statement.expression;
  if (!given) return null;
  const outer = bareNode(given);
  const call = outer.type === 'AwaitExpression' ? bareNode(outer.argument) : outer;
  if (call.type !== 'CallExpression' || call.arguments.length !== 1) return null;
  const { callee } = call;
  const isAll =
    callee.type === 'MemberExpression' &&
    callee.object.type === 'Identifier' &&
    callee.object.name === 'Promise' &&
    callee.property.type === 'Identifier' &&
    callee.property.name === 'all';
  const list = bareNode(call.arguments[0]!);
  return isAll && list.type === 'ArrayExpression' ? list : null;
}

function callsIn({ elements }: ArrayExpression, { text, offset }: ParsedProgram): ParallelCall[] | null {
  const calls: ParallelCall[] = [];
  for (const element of elements) {
    if (element?.type !== 'CallExpression') return null;
    const { callee, start, end } = element;
    calls.push({
      callee: text.slice(callee.start, callee.end),
      text: text.slice(start, end),
      start: start - offset,
      end: end - offset,
    });
  }
  return calls;
}

/**
 * The calls in the order of the like ones; null where there are others. A tool that is called twice is told by its
 * arguments, as far as these are written alike.
 */
function arrange(calls: readonly ParallelCall[], like: readonly ParallelCall[]): ParallelCall[] | null {
  if (calls.length !== like.length) return null;
  const left = [...calls];
  const take = (isLike: (call: ParallelCall) => boolean) => {
    const at = left.findIndex(isLike);
    return at < 0 ? null : left.splice(at, 1)[0]!;
  };
  const form = ({ text }: ParallelCall) => {
    const template = templateOf(`return ${text}`);
    return template.ok ? template.value.normalised : text;
  };
  const forms = new Map(calls.map((call) => [call, form(call)]));
  const exact = like.map((other) => {
    const wanted = form(other);
    return take((call) => forms.get(call) === wanted);
  });
  const ordered = exact.map((call, i) => call ?? take(({ callee }) => callee === like[i]!.callee));
  return ordered.every((call) => call !== null) ? ordered : null;
}
