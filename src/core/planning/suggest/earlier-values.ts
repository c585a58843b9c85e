const DEFAULTS = {
  /** Values of one result, and how deep they lie at the most. */
  values: 200,
  depth: 6,
  /** Characters of a text that is remembered. */
  characters: 1_000,
  /** Places a value may come from that are told. */
  origins: 4,
};

/** A value that was there before a call: what an earlier call of the session gave or was given. */
export interface EarlierValue {
  readonly value: unknown;
  /** The tool that had it. */
  readonly tool: string;
  /** It was given to the tool, not by it. */
  readonly isArgument: boolean;
  /** The way to it: `items[0].id`; empty for the whole. */
  readonly path: string;
}

/** A past call with what was known when it was made. */
export interface PastCall {
  readonly tool: string;
  readonly intent: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Of its session before the run, oldest first. */
  readonly earlier: readonly EarlierValue[];
  /** Of its run, before it. */
  readonly within: readonly EarlierValue[];
  /** Its place among the calls of the tool in its run. */
  readonly nth: number;
  /** How much alike its intent and the new one are, in [0, 1]. */
  readonly likeness: number;
}

/** All values of a result, or of arguments, with the way to them. */
export function valuesOf(tool: string, isArgument: boolean, root: unknown): EarlierValue[] {
  const found: EarlierValue[] = [];
  const walk = (value: unknown, path: string, depth: number) => {
    if (found.length >= DEFAULTS.values || depth > DEFAULTS.depth) return;
    if (Array.isArray(value)) {
      for (const [i, item] of value.slice(0, DEFAULTS.values).entries())
        walk(item, `${path}[${i}]`, depth + 1);
    } else if (value !== null && typeof value === 'object') {
      for (const [key, item] of Object.entries(value))
        if (PLAIN.test(key)) walk(item, path === '' ? key : `${path}.${key}`, depth + 1);
    } else if (isTelling(value)) found.push({ value, tool, isArgument, path });
  };
  walk(root, '', 0);
  return found;
}

const PLAIN = /^[A-Za-z_$][\w$-]*$/;

/** What everybody says (true, 0, an empty text) comes from nowhere; what is too long is not looked for. */
function isTelling(value: unknown): boolean {
  if (typeof value === 'string')
    return value !== '' && value.length <= DEFAULTS.characters && !value.includes('${');
  return typeof value === 'number' && value !== 0;
}

/** Where a value was before, the latest first; each also by its last name alone, which other tools may share. */
export function originsOf(value: unknown, earlier: readonly EarlierValue[]): string[] {
  const found = new Set<string>();
  for (let i = earlier.length - 1; i >= 0 && found.size < DEFAULTS.origins; i--) {
    const known = earlier[i]!;
    if (known.value !== value) continue;
    found.add(originOf(known));
    found.add(nameOf(known));
  }
  return [...found];
}

/** The latest value from there; undefined where there is none. */
export function valueFrom(origin: string, earlier: readonly EarlierValue[]): unknown {
  const isName = origin.startsWith('.');
  return earlier.findLast((known) => (isName ? nameOf(known) : originOf(known)) === origin)?.value;
}

/** The same in every run: places in lists are not told. */
function originOf({ tool, isArgument, path }: EarlierValue): string {
  return `${tool}${isArgument ? '()' : ''} ${path.replace(/\[\d+\]/g, '[]')}`;
}

/** `.id` of `items[0].id`. */
function nameOf({ path }: EarlierValue): string {
  const plain = path.replace(/\[\d+\]/g, '');
  return `.${plain.slice(plain.lastIndexOf('.') + 1)}`;
}
