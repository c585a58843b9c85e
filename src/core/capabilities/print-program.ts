import { splitToolId, type ToolId } from '../vocabulary/ids.ts';
import { isJsonObject } from '../vocabulary/read-wire.ts';

/** A call of a program that is written. */
export interface ProgramCall {
  /** A tool, or `capabilities.slug`. */
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Arguments that come from the results of calls before it, instead of those given. */
  readonly takes: readonly {
    readonly toPath: string;
    readonly call: number;
    readonly fromPath: string;
  }[];
  /** Arguments that are code instead: names of constants, or of the program's own arguments. */
  readonly code?: Readonly<Record<string, string>>;
}

/** One call after the other; the last result is the program's. */
export function printProgram(calls: readonly ProgramCall[]): string {
  const names = namesOf(calls);
  const lines = calls.map((call, i) => {
    const text = `await ${calleeOf(call.tool)}(${printed(call.arguments, '', call, names)})`;
    return i === calls.length - 1 ? `return ${text};` : `const ${names[i]} = ${text};`;
  });
  return lines.join('\n');
}

/** How code calls capabilities. */
const CAPABILITIES = 'capabilities.';

function calleeOf(tool: string): string {
  if (tool.startsWith(CAPABILITIES)) return tool;
  const { server, tool: name } = splitToolId(tool as ToolId);
  return `mcp${member(server)}${member(name)}`;
}

/** By call: what its result is called, after its tool, with a number where another has the name already. */
function namesOf(calls: readonly ProgramCall[]): string[] {
  const taken = new Map<string, number>();
  return calls.map(({ tool }) => {
    const words = tool
      .slice(tool.startsWith(CAPABILITIES) ? CAPABILITIES.length : tool.indexOf(':') + 1)
      .split(/[^A-Za-z0-9]+/)
      .filter(Boolean);
    const plain = words.map((word, i) => (i === 0 ? word : word[0]!.toUpperCase() + word.slice(1))).join('');
    // The ending keeps it apart from the words of the language; it never begins with a digit.
    const name = `${/^[A-Za-z]/.test(plain) ? plain[0]!.toLowerCase() + plain.slice(1) : 'call'}Result`;
    const nth = (taken.get(name) ?? 0) + 1;
    taken.set(name, nth);
    return nth === 1 ? name : `${name}${nth}`;
  });
}

/** A value as code; what came from earlier calls is taken from their results. */
function printed(value: unknown, path: string, call: ProgramCall, names: readonly string[]): string {
  const from = call.takes.find(({ toPath }) => toPath === path);
  if (from) return names[from.call]! + accessOf(from.fromPath);
  const code = call.code && Object.hasOwn(call.code, path) ? call.code[path] : undefined;
  if (code !== undefined) return code;
  if (Array.isArray(value)) {
    return `[${value.map((each, i) => printed(each, `${path}[${i}]`, call, names)).join(', ')}]`;
  }
  if (!isJsonObject(value)) return JSON.stringify(value) ?? 'undefined';
  const fields = Object.entries(value).map(([key, each]) => {
    const isName = PATH_NAME.test(key);
    const at = isName ? (path === '' ? key : `${path}.${key}`) : `${path}[${quoted(key)}]`;
    return `${IDENTIFIER.test(key) ? key : JSON.stringify(key)}: ${printed(each, at, call, names)}`;
  });
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}

/** As paths are written, and as code is. */
const PATH_NAME = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u;

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

const STEP = /\[(\d+)\]|\["([^"]*)"\]|\['([^']*)'\]|\.?([\p{L}_$][\p{L}\p{N}_$-]*)/gu;

function quoted(key: string): string {
  return key.includes('"') ? `'${key}'` : `"${key}"`;
}

/** `items[0].id` behind a name. */
function accessOf(path: string): string {
  return path
    .matchAll(STEP)
    .map(([, index, double, single, name]) =>
      index !== undefined ? `[${index}]` : member(double ?? single ?? name ?? ''),
    )
    .toArray()
    .join('');
}

function member(name: string): string {
  return IDENTIFIER.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}
