import { checkArguments } from '../../capabilities/validate-arguments.ts';
import { nearestName } from '../../retrieval/nearest-name.ts';

/** What is known of an argument before the call is made: its value, or only that there is one. */
interface Given {
  readonly kind: string;
  /** Of kind `literal`. */
  readonly value?: unknown;
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
}

/** What is surely wrong with the arguments of a call, in words that follow the name of what is called. */
export function argumentProblems(
  schema: unknown,
  bindings: Readonly<Record<string, Given>>,
  /** False when there may be more than these. */
  isComplete: boolean,
): string[] {
  const { properties = {}, required = [], additionalProperties } = (schema ?? {}) as ObjectSchema;
  const given = Object.keys(bindings);
  const isKnown = (name: string) => Object.hasOwn(properties, name);
  const missing = isComplete ? required.filter((name) => !Object.hasOwn(bindings, name)) : [];
  const strange = additionalProperties === false ? given.filter((name) => !isKnown(name)) : [];
  return [
    ...missing.map((name) => {
      const meant = nearestName(
        name,
        given.filter((other) => !isKnown(other)),
      );
      return `misses the argument "${name}"${meant ? `; "${meant}" is none of its arguments` : ''}`;
    }),
    ...strange.map((name) => {
      const nearest = nearestName(name, Object.keys(properties));
      return `has no argument "${name}"${nearest ? `, only "${nearest}"` : ''}`;
    }),
    ...given.flatMap((name) => {
      const binding = bindings[name];
      if (binding?.kind !== 'literal' || !isKnown(name)) return [];
      return checkArguments(properties[name], binding.value).map(
        (text) => `takes another "${name}": ${text}`,
      );
    }),
  ];
}
