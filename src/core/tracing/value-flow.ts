import { kindOf, type NodeId } from '../vocabulary/ids.ts';
import type { TraceEvent } from '../vocabulary/trace-event.ts';
import { type CallSpan, callSpans } from './derive-trace.ts';
import {
  createReader,
  GRADES,
  type Grade,
  piecesOf,
  type ReadCall,
  type Reader,
  type ReadText,
  type ReadValue,
} from './read-values.ts';

const DEFAULTS = {
  /** Most observations of one run. */
  observations: 1_000,
  /** Longer texts are only found as whole arguments: searching for them inside others could take quadratic time. */
  maxLength: 1024,
  /** Shorter texts tried at one place when the longest does not fit. */
  attempts: 4,
};

/** How a value was taken from a result and put into an argument, if it is not the whole of both. */
export interface ValueShape {
  /** The value is the rest of a line of the text after this bullet. */
  readonly line?: string;
  /** The value is some other part of the text. */
  readonly isPart?: true;
  /** The value follows this argument of the call that gave it, and a slash. */
  readonly beside?: string;
  /** The argument contains more than the value. */
  readonly isInside?: true;
}

/** A value of one call's result that occurs in the arguments of a later call. */
export interface ValueFlow extends ValueShape {
  readonly fromTraceId: string;
  readonly toTraceId: string;
  readonly from: NodeId;
  readonly to: NodeId;
  /** Path into the result as the program saw it: `items[0].id`; empty for the whole result. */
  readonly fromPath: string;
  /** Path into the arguments. */
  readonly toPath: string;
}

interface Source {
  readonly value: string;
  readonly read: ReadValue;
  readonly call: ReadCall;
  /** Index among the program's calls, in order of start. */
  readonly order: number;
}

/**
 * Values that went from the results of a program's calls into the arguments of its later calls. Values only move
 * within one program, so calls are compared with calls of the same parent; the result of a capability counts as
 * its own, the result of a failed call does not count.
 *
 * A distinctive value counts when an argument equals it or contains it between word boundaries, or when the whole
 * argument is a part of the result's text. If several results contain it, the latest counts. A value does not count
 * when the program had it before the result: from `input` (the run's arguments and source text), from the parent's
 * arguments, or from the arguments of a call that had begun.
 *
 * A plan's code stands between tools and passes on their values: a value that comes from code also comes from the
 * tool that gave it to the code.
 *
 * `into`: only what went into these calls, by trace id.
 */
export function observedValueFlow(
  events: readonly TraceEvent[],
  input?: unknown,
  into?: ReadonlySet<string>,
): ValueFlow[] {
  const spans = callSpans(events);
  const inputs = new Map<string | null, unknown>([[null, input]]);
  for (const { start } of spans) inputs.set(start.traceId, start.args);
  const reader = createReader();
  const flows: ValueFlow[] = [];
  for (const [parent, calls] of Map.groupBy(spans, ({ start }) => start.parentTraceId)) {
    for (const flow of flowWithin(calls, inputs.get(parent), reader, into)) {
      if (into && !into.has(flow.toTraceId)) continue;
      if (flows.length === DEFAULTS.observations) return flows;
      flows.push(flow);
    }
  }
  return flows;
}

function flowWithin(
  spans: readonly CallSpan[],
  input: unknown,
  reader: Reader,
  into?: ReadonlySet<string>,
): Iterable<ValueFlow> {
  const given = reader.texts(input);
  const calls = spans.map((span) => reader.call(span));
  const sources = sourcesOf(calls);
  // Most often: what the arguments are made of is of no interest then.
  if (sources.size === 0) return [];
  const known = createKnownTexts(
    sources.keys().filter((value) => sources.get(value)!.some(({ read }) => read.grade !== 'part')),
  );
  /** The values of sources that a text says; no others are asked about. */
  function* mentionedIn(text: string, pieces: readonly string[]): Iterable<string> {
    for (const piece of pieces) if (sources.has(piece)) yield piece;
    yield* known.findIn(text, () => true).texts;
  }
  const says = ({ text, pieces }: ReadText) =>
    sources.has(text) ||
    pieces.some((piece) => sources.has(piece)) ||
    known.findIn(text, () => true).texts.length > 0;
  const isWanted = ({ span, arguments: texts }: ReadCall) =>
    (!into || into.has(span.start.traceId)) && texts.some(says);
  if (!calls.some(isWanted)) return [];
  /** By call, in order: a value in a call's own arguments is an echo when its result contains it. */
  const echoes: (ReadonlySet<string> | undefined)[] = [];
  const isEcho = ({ order, call, value }: Source) => {
    echoes[order] ??= new Set(call.arguments.flatMap(({ text, pieces }) => [...mentionedIn(text, pieces)]));
    return echoes[order].has(value);
  };
  /** When the program first had a value that no result gave it, in milliseconds of the run. */
  const ownSince = new Map<string, number>();
  const own = (values: Iterable<string>, since: number) => {
    for (const value of values) if (!ownSince.has(value)) ownSince.set(value, since);
  };
  for (const { text, pieces } of given) own(mentionedIn(text, pieces), Number.NEGATIVE_INFINITY);

  const flows = new Map<string, ValueFlow>();
  for (const [order, call] of calls.entries()) {
    // Most calls of a long job.
    if (!call.arguments.some(says)) continue;
    const { startTs } = call.span;
    const latest = (value: string, grades: readonly Grade[], accepts: (node: NodeId) => boolean) => {
      const all = sources.get(value);
      if (!all) return undefined;
      const until = Math.min(startTs, ownSince.get(value) ?? startTs);
      return all.findLast(
        (source) =>
          source.order < order &&
          source.call.span.endTs <= until &&
          grades.includes(source.read.grade) &&
          accepts(source.call.span.start.node) &&
          !isEcho(source),
      );
    };
    const sourcesIn = (text: string, accepts: (node: NodeId) => boolean) => {
      const inside = (value: string) => latest(value, ['whole', 'word'], accepts);
      const whole = latest(text, GRADES, accepts);
      const found = known.findIn(whole ? '' : text, (value) => inside(value) !== undefined);
      return { sources: whole ? [whole] : found.texts.map((value) => inside(value)!), found, whole };
    };
    for (const { path, text, pieces } of call.arguments) {
      const { sources: all, found, whole } = sourcesIn(text, () => true);
      const isFromCode = all.some(({ call: { span } }) => isOperation(span.start.node));
      const behind = isFromCode ? sourcesIn(text, (node) => !isOperation(node)) : null;
      for (const [source, isWhole] of [
        ...all.map((source) => [source, whole !== undefined] as const),
        ...(behind?.sources ?? []).map((source) => [source, behind?.whole !== undefined] as const),
      ]) {
        const flow = toFlow(source, call, path, isWhole);
        const key = `${flow.fromTraceId} ${flow.toTraceId} ${flow.fromPath} ${flow.toPath}`;
        // A whole text is better evidence than a part of it.
        if (!flow.isPart || !flows.has(key)) flows.set(key, flow);
      }
      own(mentionedIn(found.rest, found.rest === text ? pieces : piecesOf(found.rest)), startTs);
    }
  }
  return flows.values();
}

/** For each distinctive value, the calls whose result contains it, in order of their end. */
function sourcesOf(calls: readonly ReadCall[]): Map<string, Source[]> {
  const sources = new Map<string, Source[]>();
  const byEnd = [...calls.entries()].sort(([, a], [, b]) => a.span.endTs - b.span.endTs);
  for (const [order, call] of byEnd) {
    for (const read of call.values) {
      const source = { value: read.value, read, call, order };
      const all = sources.get(read.value);
      if (all) all.push(source);
      else sources.set(read.value, [source]);
    }
  }
  return sources;
}

function isOperation(node: NodeId): boolean {
  return kindOf(node) === 'operation';
}

function toFlow(source: Source, { span: later }: ReadCall, toPath: string, isWhole: boolean): ValueFlow {
  const { path, grade, line, beside } = source.read;
  const { start } = source.call.span;
  return {
    fromTraceId: start.traceId,
    toTraceId: later.start.traceId,
    from: start.node,
    to: later.start.node,
    fromPath: path,
    toPath,
    ...(line !== undefined && { line }),
    ...(line === undefined && grade !== 'whole' && { isPart: true as const }),
    ...(beside !== undefined && { beside }),
    ...(!isWhole && { isInside: true as const }),
  };
}

/** Finds which of many texts occur inside another text, in one pass. */
interface KnownTexts {
  /** The texts found between word boundaries; the longest where several begin. */
  findIn(text: string, accepts: (known: string) => boolean): Found;
}

interface Found {
  /** From left to right. */
  readonly texts: readonly string[];
  /** The text between them, with a space for each. */
  readonly rest: string;
}

/** A sorted list: the longest known text at a place is found next to where the remaining text would be inserted. */
function createKnownTexts(texts: Iterable<string>): KnownTexts {
  const known = [...new Set(texts)].filter(({ length }) => length <= DEFAULTS.maxLength).sort();
  const shortest = known.reduce((least, { length }) => Math.min(least, length), DEFAULTS.maxLength);

  const longestAt = (text: string, at: number, accepts: (known: string) => boolean): string | null => {
    let rest = text.slice(at, at + DEFAULTS.maxLength);
    for (let attempt = 0; attempt < DEFAULTS.attempts && rest.length >= shortest; ) {
      const candidate = known[upperBound(known, rest) - 1];
      if (candidate === undefined) return null;
      const common = commonLength(candidate, rest);
      if (common < candidate.length) {
        // A text that begins `rest` and sorts before the candidate also begins the candidate.
        rest = rest.slice(0, common);
        continue;
      }
      if (isEdge(text, at + candidate.length) && accepts(candidate)) return candidate;
      rest = rest.slice(0, candidate.length - 1);
      attempt++;
    }
    return null;
  };

  return {
    findIn(text, accepts) {
      if (known.length === 0 || text.length < shortest) return { texts: [], rest: text };
      const texts: string[] = [];
      let rest = '';
      let end = 0;
      for (let at = 0; at + shortest <= text.length; ) {
        const hit = isEdge(text, at) ? longestAt(text, at, accepts) : null;
        if (hit !== null) {
          texts.push(hit);
          rest += `${text.slice(end, at)} `;
          end = at + hit.length;
        }
        at += hit?.length ?? 1;
      }
      return { texts, rest: rest + text.slice(end) };
    },
  };
}

/** Index of the first greater value. */
function upperBound(sorted: readonly string[], value: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function commonLength(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  let at = 0;
  while (at < end && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return at;
}

const WORD = /[\p{L}\p{N}_-]/u;

/** A table by character code, because it is read for every character of long texts. */
const ASCII_WORD = Array.from({ length: 128 }, (_, code) => WORD.test(String.fromCharCode(code)));

function isWord(text: string, at: number): boolean {
  return ASCII_WORD[text.charCodeAt(at)] ?? WORD.test(text.charAt(at));
}

function isEdge(text: string, at: number): boolean {
  return at === 0 || at === text.length || !isWord(text, at - 1) || !isWord(text, at);
}
