import type { CallExpression, ChainExpression, Expression, Span } from 'oxc-parser';
import { type Link, linksOf, type Mark } from '../evaluate/analysis.ts';

/** Identifiers that do not occur in the program. */
export interface HookNames {
  readonly hooks: string;
  /** A temporary variable. */
  readonly spare: string;
  /** The identity function: parentheses that cannot be read as a call of the line before. */
  readonly same: string;
}

/** A rank after everything that opens or closes at the same place. */
const AFTER_ALL = Number.MAX_SAFE_INTEGER - 1_000_000;

/** Evaluating these has no side effects. */
const QUIET: ReadonlySet<string> = new Set([
  'ArrowFunctionExpression',
  'FunctionExpression',
  'Identifier',
  'Literal',
  'ThisExpression',
]);

/**
 * The edits that make a program report what it does. Nothing else changes: receivers are evaluated once
 * and before arguments, a missing receiver throws before the arguments are evaluated, and `?.` still
 * skips the rest of its chain. Mark number n calls the hooks as site n.
 */
export function instrument(marks: readonly Mark[], text: string, names: HookNames): Edit[] {
  const writer = new Writer(text, names);
  const chains = new Map<ChainExpression, Map<CallExpression, number>>();
  for (const [site, mark] of marks.entries()) {
    if (mark.kind === 'decision') writer.probe(site, mark.probe);
    else if (!mark.chain) writer.call(site, mark.call);
    else {
      const calls = chains.get(mark.chain) ?? new Map<CallExpression, number>();
      chains.set(mark.chain, calls.set(mark.call, site));
    }
  }
  for (const [chain, calls] of chains) writer.chain(chain, calls);
  return writer.edits;
}

class Writer {
  readonly edits: Edit[] = [];
  readonly #text: string;
  readonly #hooks: string;
  readonly #spare: string;
  readonly #same: string;

  constructor(text: string, { hooks, spare, same }: HookNames) {
    this.#text = text;
    this.#hooks = hooks;
    this.#spare = spare;
    this.#same = same;
  }

  probe(site: number, probe: Extract<Mark, { kind: 'decision' }>['probe']): void {
    if (probe.at === 'condition') {
      const { condition } = probe;
      const isList = condition.type === 'SequenceExpression';
      this.#wrap(condition, `${this.#hooks}.test(${site}, ${isList ? '(' : ''}`, isList ? '))' : ')');
    } else if (probe.at === 'expression') {
      const tell = `(${this.#hooks}.test(${site}, true, ${JSON.stringify(probe.branch)}), `;
      this.#wrap(probe.expression, tell, ')');
    } else {
      for (const { offset, branch } of probe.places) {
        const tell = ` ${this.#hooks}.test(${site}, true, ${JSON.stringify(branch)}); `;
        this.#insert(offset, tell, offset, Number.NEGATIVE_INFINITY);
      }
    }
  }

  call(site: number, call: CallExpression): void {
    const { callee } = call;
    if (callee.type !== 'MemberExpression') {
      const text = this.#apart(call.start, `${this.#hooks}.call(${site}, globalThis`);
      this.#replace(callee, text, callee.start);
      this.#separate(call, callee.end, JSON.stringify(this.#text.slice(callee.start, callee.end)));
      return;
    }
    const opening = this.#apart(call.start, this.#opening(site, call));
    this.#insert(call.start, opening, anchorOf(call), -rankOf(call, 0));
    this.#separate(call, callee.object.end, this.#naming(call));
  }

  /**
   * `a?.filter(f).map(g)` becomes
   * `same((t = a) == null ? void 0 : call(2, call(1, t, "filter", [f]), "map", [g]))`.
   * The temporary variable is read right after it is written, so that one is enough for all.
   */
  chain(chain: ChainExpression, sites: ReadonlyMap<CallExpression, number>): void {
    const links = linksOf(chain);
    const lastCall = links.findLastIndex((link) => link.type === 'CallExpression' && sites.has(link));
    const skips = links.filter((link, i) => link.optional && i < lastCall);
    if (skips.length === 0) {
      for (const [call, site] of sites) this.call(site, call);
      return;
    }
    const opening = this.#apart(chain.start, `${this.#same}((${this.#spare} = `);
    this.#insert(chain.start, opening, chain.start, -rankOf(chain, 1));
    this.#insert(chain.end, ')', chain.end, rankOf(chain, 1));
    for (const [nth, skip] of skips.entries()) {
      const next = skips[nth + 1];
      const part = links.slice(links.indexOf(skip), next ? links.indexOf(next) : undefined);
      this.#skip(skip, part, sites, next !== undefined);
    }
    const before = links.slice(0, links.indexOf(skips[0]!));
    for (const link of before) {
      const site = link.type === 'CallExpression' ? sites.get(link) : undefined;
      if (site !== undefined) this.call(site, link as CallExpression);
    }
  }

  /** Splits the chain at one `?.`; `part` holds the links up to the next. */
  #skip(
    skip: Link,
    part: readonly Link[],
    sites: ReadonlyMap<CallExpression, number>,
    isMore: boolean,
  ): void {
    const calls = part.filter(
      (link) => link.type === 'CallExpression' && sites.has(link),
    ) as CallExpression[];
    const holder = skip.type === 'CallExpression' ? skip.callee : skip.object;
    const first = calls.find(({ callee }) => callee === skip);
    const openings = calls.toReversed().map((call) => ({
      // The first receiver was just checked.
      text:
        call === first ? `${this.#hooks}.call(${sites.get(call)}, ` : this.#opening(sites.get(call)!, call),
      anchor: anchorOf(call),
    }));
    const head = `) == null ? void 0 : ${isMore ? `(${this.#spare} = ` : ''}`;
    for (const [nth, { text, anchor }] of [{ text: head, anchor: holder.end }, ...openings].entries()) {
      this.#insert(holder.end, text, anchor, AFTER_ALL + nth);
    }
    if (first) this.#separate(first, holder.end, this.#nameOf(first), this.#spare);
    else this.#relink(skip, holder);
    for (const call of calls) {
      if (call !== first && call.callee.type === 'MemberExpression') {
        this.#separate(call, call.callee.object.end, this.#naming(call));
      }
    }
  }

  /** `?.` becomes `.`, `[` or `(` on the temporary variable. */
  #relink(skip: Link, holder: Expression): void {
    if (skip.type === 'MemberExpression') {
      const { property } = skip;
      const text = `${this.#spare}${skip.computed ? '[' : '.'}`;
      this.#replace({ start: holder.end, end: property.start }, text, property.start);
      return;
    }
    const [argument] = skip.arguments;
    const end = argument ? argument.start : skip.end;
    this.#replace({ start: holder.end, end }, `${this.#spare}(${argument ? '' : ')'}`, holder.start);
  }

  /** Text before the receiver. */
  #opening(site: number, call: CallExpression): string {
    return `${this.#hooks}.call(${site}, ${isGuarded(call) ? `(${this.#spare} = ` : ''}`;
  }

  /** Text after the receiver: the name, preceded by an access that throws if the receiver is missing. */
  #naming(call: CallExpression): string {
    const { callee } = call;
    if (!isGuarded(call) || callee.type !== 'MemberExpression') return this.#nameOf(call);
    const { property } = callee;
    return `) ?? ${this.#spare}.${this.#text.slice(property.start, property.end)}, ${this.#nameOf(call)}`;
  }

  #nameOf({ callee }: CallExpression): string {
    const isNamed = callee.type === 'MemberExpression' && callee.property.type === 'Identifier';
    return JSON.stringify(isNamed ? (callee.property as { name: string }).name : '');
  }

  /** `.name(` becomes `, "name", [`, and the closing parenthesis `])`. */
  #separate(call: CallExpression, from: number, name: string, head = ''): void {
    const { arguments: args, end } = call;
    const anchor = anchorOf(call);
    const comma = name.startsWith(')') ? '' : ', ';
    const [first] = args;
    const last = args.at(-1);
    if (!first || !last) {
      this.#replace({ start: from, end }, `${head}${comma}${name}, [])`, anchor);
      return;
    }
    this.#replace({ start: from, end: first.start }, `${head}${comma}${name}, [`, anchor);
    this.#replace({ start: last.end, end }, '])', end - 1);
  }

  #wrap({ start, end }: Span, before: string, after: string): void {
    const rank = rankOf({ start, end }, 2);
    this.#insert(start, this.#apart(start, before), start, -rank);
    this.#insert(end, after, end, rank);
  }

  /** `return(x)` needs no space, `return$pml` does. */
  #apart(offset: number, text: string): string {
    return /[\w$\u0080-\uffff]/.test(this.#text[offset - 1] ?? '') ? ` ${text}` : text;
  }

  #insert(offset: number, text: string, anchor: number, rank: number): void {
    this.edits.push({ start: offset, end: offset, text, anchor, rank });
  }

  #replace({ start, end }: Span, text: string, anchor: number): void {
    this.edits.push({ start, end, text, anchor, rank: Number.POSITIVE_INFINITY });
  }
}

/** Where the engine locates the call in error messages. */
function anchorOf({ callee }: CallExpression): number {
  return callee.type === 'MemberExpression' ? callee.property.start : callee.start;
}

/** Arguments with side effects must not be evaluated when the receiver is missing. */
function isGuarded({ arguments: args }: CallExpression): boolean {
  return !args.every(({ type }) => QUIET.has(type));
}

/** The longer span opens first and closes last; of equal lengths, the one with the higher level. */
function rankOf({ start, end }: Span, level: 0 | 1 | 2): number {
  return (end - start) * 4 + level;
}

/** One edit of a text. */
export interface Edit {
  readonly start: number;
  /** End of the replaced text; `start` for an insertion. */
  readonly end: number;
  readonly text: string;
  /** Offset in the old text that errors in the new text are mapped to. */
  readonly anchor: number;
  /** Order of edits that start at the same offset, lowest first. */
  readonly rank: number;
}

export interface EditedText {
  readonly text: string;
  /** Maps an offset in the new text to the old text. */
  toOld(offset: number): number;
}

/** Edits may touch but not overlap. */
export function applyEdits(old: string, edits: readonly Edit[]): EditedText {
  const sorted = edits.toSorted((a, b) => a.start - b.start || a.rank - b.rank);
  const parts: string[] = [];
  let copied = 0;
  for (const { start, end, text } of sorted) {
    parts.push(old.slice(copied, start), text);
    copied = end;
  }
  parts.push(old.slice(copied));
  return { text: parts.join(''), toOld: (offset) => toOld(sorted, offset) };
}

function toOld(edits: readonly Edit[], offset: number): number {
  /** Length of the new text so far minus that of the old text. */
  let shift = 0;
  for (const { start, end, text, anchor } of edits) {
    if (offset < start + shift) break;
    if (offset < start + shift + text.length) return anchor;
    shift += text.length - (end - start);
  }
  return offset - shift;
}
