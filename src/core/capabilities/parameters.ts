import { PmlError } from '../vocabulary/pml-error.ts';
import { isJsonObject } from '../vocabulary/read-wire.ts';
import { withoutEnding } from '../vocabulary/text.ts';
import type { UsedArgument, UsedArguments } from './program-uses.ts';
import type { LiteralSlot, Template } from './template.ts';

const DEFAULTS = {
  /** Other values kept for a slot, as examples. */
  maxSeen: 5,
  /** Values of one literal that a document may list. */
  maxListed: 20,
};

/** A literal of a capability's program and what its runs have taught about it. Plain data: it is stored. */
export interface LearnedSlot extends LiteralSlot {
  /** `args.<parameter>` stands in its place; null while it is part of the code. Never renamed. */
  readonly parameter: string | null;
  /** Runs held other values here than the first one. */
  readonly differs: boolean;
  /** Those values, first seen first, a few of them. */
  readonly seen: readonly LiteralSlot['value'][];
}

/** After the first run: literals in arguments of calls are parameters. */
export function learnSlots({ slots, used }: Template): LearnedSlot[] {
  return nameParameters(
    slots.map((slot) => ({ ...slot, parameter: null, differs: false, seen: [] })),
    used.named.map(({ name }) => name),
    (slot) => slot.argument !== undefined,
  );
}

/** After another run of the same program: literals that differ become parameters too. */
export function mergeObservation(learned: readonly LearnedSlot[], run: Template): LearnedSlot[] {
  const merged = learned.map((slot, index): LearnedSlot => {
    const other = run.slots[index];
    if (other?.kind !== slot.kind || run.slots.length !== learned.length) {
      throw new PmlError('internal', `The programs differ: literal ${index} is missing from the other one`);
    }
    const isNew = ![slot.value, ...slot.seen].some((value) => isSame(value, other.value));
    const seen = isNew && slot.seen.length < DEFAULTS.maxSeen ? [...slot.seen, other.value] : slot.seen;
    return { ...slot, seen, differs: slot.differs || isNew };
  });
  const named = run.used.named.map(({ name }) => name);
  return nameParameters(merged, named, (slot) => slot.differs);
}

/** Names that are given stay; new ones keep out of their way. */
function nameParameters(
  slots: readonly LearnedSlot[],
  usedNames: readonly string[],
  isParameter: (slot: LearnedSlot) => boolean,
): LearnedSlot[] {
  const taken = new Set(usedNames);
  for (const { parameter } of slots) if (parameter !== null) taken.add(parameter);
  return slots.map((slot) => {
    if (slot.parameter !== null || slot.isFixed || !isParameter(slot)) return slot;
    const parameter = parameterName(slot, taken);
    taken.add(parameter);
    return { ...slot, parameter };
  });
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** Names every object answers to: as parameters they would seem given when they are not. */
const INHERITED = new Set(Object.getOwnPropertyNames(Object.prototype));

/**
 * A readable name that is not taken: the argument's (`path`), with its tool's in front where that is taken
 * (`write_file_path`), else what the code calls the value, else `value_1`.
 */
function parameterName(slot: LiteralSlot, taken: ReadonlySet<string>): string {
  const { argument, hint, kind } = slot;
  const own = identifier(argument ? lastName(argument.name) : (hint ?? ''));
  if (own === '') return numbered('value', taken, 1);
  const name = kind === 'text' ? `${own}_part` : own;
  if (!taken.has(name)) return name;
  const tool = identifier(argument?.tool.split(/[:.]/).slice(1).join('_') ?? '');
  return numbered(tool === '' ? name : `${tool}_${name}`, taken);
}

/** Whether `args.<name>` can be written so and means what the caller gave. */
function isParameterName(name: string): boolean {
  return IDENTIFIER.test(name) && !INHERITED.has(name);
}

/** `filter.items[0]` -> `items`. */
function lastName(path: string): string {
  return (
    path
      .split('.')
      .at(-1)
      ?.replace(/\[\d+\]/g, '') ?? ''
  );
}

/** `file-path` -> `file_path`; empty when nothing of it can name a parameter. */
function identifier(name: string): string {
  const text = IDENTIFIER.test(name)
    ? name
    : withoutEnding(name.replace(/[^A-Za-z0-9_$]+/g, '_').replace(/^[\d_]+/, ''), '_');
  return isParameterName(text) ? text : '';
}

function numbered(name: string, taken: ReadonlySet<string>, first = 2): string {
  if (first > 1 && !taken.has(name)) return name;
  let count = first;
  while (taken.has(`${name}_${count}`)) count++;
  return `${name}_${count}`;
}

const NAME_CHARACTER = /[\p{ID_Continue}$]/u;

/** The source with `args.<parameter>` where its parameters' literals stood; all else stays as it was written. */
export function parameterise(source: string, slots: readonly LearnedSlot[]): string {
  let code = '';
  let at = 0;
  for (const { parameter, kind, start, end } of slots.toSorted((a, b) => a.start - b.start)) {
    if (parameter === null) continue;
    code += source.slice(at, start);
    if (kind === 'text') code += `\${args.${parameter}}`;
    else {
      const use = kind === 'bigint' ? `BigInt(args.${parameter})` : `args.${parameter}`;
      // Quotes need no space around them, names do: `case"a":`, `"a"in b`.
      code += `${isName(source[start - 1]) ? ' ' : ''}${use}${isName(source[end]) ? ' ' : ''}`;
    }
    at = end;
  }
  return code + source.slice(at);
}

function isName(character: string | undefined): boolean {
  return character !== undefined && NAME_CHARACTER.test(character);
}

type Schema = Readonly<Record<string, unknown>>;

interface Parameters {
  readonly slots: readonly LearnedSlot[];
  readonly used: UsedArguments;
  /** JSON schema of the arguments its runs were given: the types of what the code takes from `args` itself. */
  readonly observed?: unknown;
}

export interface ParametersSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
  /** Left out when the code uses `args` as a whole. */
  readonly additionalProperties?: false;
}

const DIGITS = '^-?[0-9]+$';

/**
 * What a capability may be called with. A literal that was the same in every run has it as its default; one
 * that differed must be given, since the first run's value is as good as any other.
 */
export function parametersSchema({ slots, used, observed }: Parameters): ParametersSchema {
  const seen = (observed as { properties?: Record<string, Schema> } | null | undefined)?.properties ?? {};
  const literals = slots.filter(
    (slot): slot is LearnedSlot & { parameter: string } => slot.parameter !== null,
  );
  const properties = [
    ...used.named.map((argument) => [argument.name, ofArgument(argument, seen)] as const),
    ...literals.map((slot) => [slot.parameter, ofLiteral(slot)] as const),
  ];
  const required = [
    ...used.named.filter(({ isOptional }) => !isOptional).map(({ name }) => name),
    ...literals.filter(({ differs }) => differs).map(({ parameter }) => parameter),
  ];
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required,
    ...(!used.isOpen && { additionalProperties: false }),
  };
}

function ofArgument({ name, fallback }: UsedArgument, seen: Readonly<Record<string, Schema>>): Schema {
  const known = Object.hasOwn(seen, name) ? seen[name] : typeOf(fallback);
  return { ...known, ...(fallback !== undefined && { default: fallback }) };
}

function ofLiteral({ kind, value, argument, hint, seen }: LearnedSlot): Schema {
  const description = argument ? `${argument.name} of ${argument.tool}` : hint && `${hint} in the code`;
  return {
    ...(kind === 'bigint' ? { type: 'string', pattern: DIGITS } : typeOf(value)),
    ...(description && { description }),
    default: value,
    ...(seen.length > 0 && { examples: seen }),
  };
}

/** Any value may take the place of null; whole numbers may be followed by fractions. */
function typeOf(value: unknown): Schema {
  if (Array.isArray(value)) return { type: 'array', items: typeOf(value[0]) };
  return value === undefined || value === null ? {} : { type: typeof value };
}

type ReadSlots =
  | { readonly ok: true; readonly slots: LearnedSlot[] }
  | { readonly ok: false; readonly problems: string[] };

/**
 * What was learned about a program's literals, read from outside. Where a literal stands and what it is comes
 * from the program; only names and values seen are taken over.
 */
export function readSlots({ slots, used }: Template, given: readonly unknown[]): ReadSlots {
  const problems: string[] = [];
  if (given.length !== slots.length)
    problems.push(`"slots" lists ${given.length} literals, and the program has ${slots.length}`);
  const taken = new Set(used.named.map(({ name }) => name));
  const learned = slots.map((slot, index): LearnedSlot => {
    const { parameter = null, differs = false, seen = [] } = asObject(given[index]);
    const problem = problemOf(slot, { parameter, differs, seen }, taken);
    if (problem) problems.push(`"slots[${index}]" ${problem}`);
    if (typeof parameter === 'string') taken.add(parameter);
    return { ...slot, parameter, differs, seen } as LearnedSlot;
  });
  return problems.length > 0 ? { ok: false, problems: problems.slice(0, 10) } : { ok: true, slots: learned };
}

interface Learned {
  readonly parameter: unknown;
  readonly differs: unknown;
  readonly seen: unknown;
}

function problemOf(slot: LiteralSlot, { parameter, differs, seen }: Learned, taken: ReadonlySet<string>) {
  if (parameter !== null) {
    if (typeof parameter !== 'string' || !isParameterName(parameter)) return 'has no name for its parameter';
    if (taken.has(parameter)) return `has the name ${parameter} of another parameter`;
    if (slot.isFixed) return 'cannot become a parameter';
  }
  if (typeof differs !== 'boolean') return 'does not say whether it differs';
  if (!Array.isArray(seen) || seen.length > DEFAULTS.maxListed) return 'has no list of values';
  return seen.every((value) => isLike(value, slot.value)) ? null : 'has values of another kind';
}

function isLike(value: unknown, model: unknown): boolean {
  if (!Array.isArray(model)) return value === null ? model === null : typeof value === typeof model;
  return Array.isArray(value) && value.every((item) => typeof item === typeof model[0]);
}

function asObject(value: unknown): Partial<Record<keyof Learned, unknown>> {
  return isJsonObject(value) ? value : {};
}
