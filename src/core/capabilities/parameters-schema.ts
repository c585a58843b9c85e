import type { LearnedSlot } from './learned-slots.ts';
import type { UsedArgument, UsedArguments } from './used-arguments.ts';

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
