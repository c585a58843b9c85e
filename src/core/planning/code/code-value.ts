/** What an expression of a program is, as far as a plan can say it. */
export type CodeValue =
  /** `undefined` as a value is the same as no argument. */
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null | undefined }
  /** Of a task's result, an input, or `item` and `index` of a loop. */
  | { readonly kind: 'reference'; readonly root: string; readonly steps: readonly string[] }
  /** A text with references in it, as plans write it. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'object'; readonly fields: ReadonlyMap<string, CodeValue> }
  | { readonly kind: 'list'; readonly items: readonly CodeValue[] }
  /** `args` of the program, with what holds for those that are not given, and the names there are, if known. */
  | {
      readonly kind: 'inputs';
      readonly defaults: Readonly<Record<string, unknown>>;
      readonly names: ReadonlySet<string> | null;
    }
  /** `mcp`, `mcp.server`, `capabilities`, … */
  | { readonly kind: 'api'; readonly path: readonly string[] };

const PLAIN_STEP = /^[^.[\]"'{}\s]+$/u;
const INDEX = /^(0|[1-9]\d*)$/;

/** `${t1.items[0]["odd name"]}`; null for names that references cannot spell. */
function referenceText(root: string, steps: readonly string[]): string | null {
  let path = root;
  for (const step of steps) {
    if (INDEX.test(step)) path += `[${step}]`;
    else if (PLAIN_STEP.test(step)) path += `.${step}`;
    else if (step !== '' && !/["{}]/.test(step)) path += `["${step}"]`;
    else return null;
  }
  return `\${${path}}`;
}

/** A value as an argument of a plan; undefined for what is none. */
export function toArgument(value: CodeValue): unknown {
  switch (value.kind) {
    case 'literal':
      return value.value;
    case 'text':
      return value.text;
    case 'reference':
      return referenceText(value.root, value.steps) ?? undefined;
    case 'list':
      // As in JSON: a place in a list cannot be left out.
      return value.items.map((item) => toArgument(item) ?? null);
    case 'object': {
      const fields = [...value.fields].map(([name, field]) => [name, toArgument(field)] as const);
      return Object.fromEntries(fields.filter(([, field]) => field !== undefined));
    }
    default:
      return undefined;
  }
}

/** What lies at a name in it; null when only a run can tell. */
export function memberOf(value: CodeValue, name: string): CodeValue | null {
  switch (value.kind) {
    case 'api':
      return { kind: 'api', path: [...value.path, name] };
    case 'inputs':
      if (value.names && !value.names.has(name)) return { kind: 'literal', value: undefined };
      return referenceText(name, []) && PLAIN_STEP.test(name)
        ? { kind: 'reference', root: name, steps: [] }
        : null;
    case 'reference': {
      // A text has a length too, and no reference leads into a text.
      const steps = [...value.steps, name];
      return name === 'length' || referenceText(value.root, steps) === null ? null : { ...value, steps };
    }
    case 'object':
      return value.fields.get(name) ?? null;
    case 'list':
      return value.items[Number(name)] ?? null;
    default:
      return null;
  }
}
