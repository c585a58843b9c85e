import { isJsonObject } from '../vocabulary/read-wire.ts';
import type { ToolDefinition } from '../vocabulary/tool-definition.ts';

const DEFAULTS = {
  /** Levels of a schema that are compared. */
  maxDepth: 4,
  /** Properties of one object that are compared. */
  maxProperties: 500,
};

export interface DefinitionDrift {
  readonly kind: 'required' | 'removed' | 'renamed' | 'type' | 'choices';
  readonly field: string;
  /** A sentence for people. */
  readonly words: string;
}

type Schema = Readonly<Record<string, unknown>>;

/**
 * What of a changed definition breaks calls that fitted the one before, or programs that read what it gave: a new required
 * argument, one that is gone or has another name, another type, fewer choices. Other words, a new optional argument and a
 * wider type break nothing.
 */
export function definitionDrift(before: ToolDefinition, after: ToolDefinition): DefinitionDrift[] {
  const given = compare(asSchema(before.outputSchema), asSchema(after.outputSchema), 'answer', '', 0);
  return [...compare(asSchema(before.inputSchema), asSchema(after.inputSchema), 'argument', '', 0), ...given];
}

function compare(
  before: Schema | null,
  after: Schema | null,
  side: 'argument' | 'answer',
  path: string,
  depth: number,
): DefinitionDrift[] {
  // What is not declared can be told from answers alone.
  if (!before || !after || depth > DEFAULTS.maxDepth) return [];
  const typeDrift = path === '' ? [] : typeChange(before, after, side, path);
  if (typeDrift.length > 0) return typeDrift;
  const [old, now] = [propertiesOf(before), propertiesOf(after)];
  const [mustBefore, mustNow] = [requiredOf(before), requiredOf(after)];
  const at = (name: string) => (path === '' ? name : `${path}.${name}`);
  const came = [...now.keys()].filter((name) => !old.has(name));
  const found: DefinitionDrift[] = [];
  const named = new Set<string>();
  for (const [name, schema] of old) {
    const same = now.get(name);
    if (same) {
      found.push(...compare(schema, same, side, at(name), depth + 1));
      continue;
    }
    // One that other objects may still have breaks nothing by not being listed.
    if (side === 'argument' && after.additionalProperties !== false && now.size === 0) continue;
    const other = came.find((candidate) => !named.has(candidate) && isAlike(schema, now.get(candidate)!));
    if (other !== undefined) named.add(other);
    found.push(
      other === undefined
        ? { kind: 'removed', field: at(name), words: `${side} "${at(name)}" is gone` }
        : { kind: 'renamed', field: at(name), words: `${side} "${at(name)}" is gone; "${at(other)}" is new` },
    );
  }
  for (const name of mustNow) {
    if (side === 'answer' || mustBefore.has(name) || named.has(name)) continue;
    const words = old.has(name)
      ? `"${at(name)}" is required now`
      : `there is a new required argument "${at(name)}"`;
    found.push({ kind: 'required', field: at(name), words });
  }
  const items = compare(asSchema(before.items), asSchema(after.items), side, `${path}[]`, depth + 1);
  return [...found, ...items];
}

/** An argument must take what it took, an answer may give only what it gave. */
function typeChange(
  before: Schema,
  after: Schema,
  side: 'argument' | 'answer',
  path: string,
): DefinitionDrift[] {
  const [old, now] = [typesOf(before), typesOf(after)];
  const [wide, narrow] = side === 'argument' ? [now, old] : [old, now];
  if (wide.size > 0 && [...narrow].some((type) => !takes(wide, type))) {
    const words = `${side} "${path}" was ${[...old].join(' or ')} and is ${[...now].join(' or ') || 'anything'} now`;
    return [{ kind: 'type', field: path, words }];
  }
  const [had, has] = [before.enum, after.enum];
  if (side === 'argument' && Array.isArray(has) && Array.isArray(had)) {
    const gone = had.filter((choice) => !has.includes(choice));
    if (gone.length === 0) return [];
    const words = `argument "${path}" no longer takes ${gone
      .slice(0, 5)
      .map((choice) => JSON.stringify(choice))
      .join(', ')}`;
    return [{ kind: 'choices', field: path, words }];
  }
  return [];
}

function takes(types: ReadonlySet<string>, type: string): boolean {
  return types.has(type) || (type === 'integer' && types.has('number'));
}

function typesOf({ type, anyOf, oneOf }: Schema): Set<string> {
  if (typeof type === 'string') return new Set([type]);
  if (Array.isArray(type)) return new Set(type.filter((one) => typeof one === 'string'));
  const options = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : [];
  const each = options.map((option) => typesOf(asSchema(option) ?? {}));
  return each.some(({ size }) => size === 0) ? new Set() : new Set(each.flatMap((types) => [...types]));
}

function isAlike(a: Schema, b: Schema): boolean {
  const [left, right] = [typesOf(a), typesOf(b)];
  return left.size === right.size && left.isSubsetOf(right);
}

function propertiesOf({ properties }: Schema): Map<string, Schema> {
  const entries = isJsonObject(properties) ? Object.entries(properties) : [];
  return new Map(
    entries.slice(0, DEFAULTS.maxProperties).map(([name, schema]) => [name, asSchema(schema) ?? {}]),
  );
}

function requiredOf({ required }: Schema): Set<string> {
  return new Set(Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []);
}

function asSchema(value: unknown): Schema | null {
  return isJsonObject(value) ? value : null;
}
