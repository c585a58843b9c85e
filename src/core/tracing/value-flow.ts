import type { NodeId } from '../vocabulary/ids.ts';
import type { TraceEvent } from '../vocabulary/trace-event.ts';
import { type CallSpan, callSpans } from './call-spans.ts';
import { createKnownTexts } from './known-texts.ts';
import { createReader, GRADES, type Grade, piecesOf, type ReadCall, type Reader } from './read-values.ts';

const DEFAULTS = {
  /** Of one run. */
  observations: 1_000,
};

/** A value of one call's result was met again in the arguments of a later one. */
export interface ValueFlow {
  readonly fromTraceId: string;
  readonly toTraceId: string;
  readonly from: NodeId;
  readonly to: NodeId;
  /** Into the result as the program saw it: `items[0].id`; empty for the whole. */
  readonly fromPath: string;
  /** Into the arguments. */
  readonly toPath: string;
}

interface Source {
  readonly call: ReadCall;
  /** Place among the program's calls, in order of start. */
  readonly order: number;
  readonly path: string;
  readonly grade: Grade;
}

/**
 * Values that went from the results of a program's calls into the arguments of its later ones. Values
 * only move within one program, so calls are compared with those of the same parent; what a capability
 * gave counts as its result, what a failed call gave does not count.
 *
 * A distinctive value counts when an argument equals it or contains it from word edge to word edge, or
 * when the whole argument is a part of the result's text. Of several results that hold it the latest
 * wins. It does not count when it was known before the result was there: from `input` (what the run was
 * given: arguments, source text), from the parent's arguments, from arguments of a call that had begun.
 */
export function observedValueFlow(events: readonly TraceEvent[], input?: unknown): ValueFlow[] {
  const spans = callSpans(events);
  const inputs = new Map<string | null, unknown>([[null, input]]);
  for (const { start } of spans) inputs.set(start.traceId, start.args);
  const reader = createReader();
  const flows: ValueFlow[] = [];
  for (const [parent, calls] of Map.groupBy(spans, ({ start }) => start.parentTraceId)) {
    for (const flow of flowWithin(calls, inputs.get(parent), reader)) {
      if (flows.length === DEFAULTS.observations) return flows;
      flows.push(flow);
    }
  }
  return flows;
}

function flowWithin(spans: readonly CallSpan[], input: unknown, reader: Reader): Iterable<ValueFlow> {
  const given = reader.texts(input);
  const calls = spans.map((span) => reader.call(span));
  const sources = sourcesOf(calls);
  const known = createKnownTexts(
    sources.keys().filter((value) => sources.get(value)!.some(({ grade }) => grade !== 'part')),
  );
  const mentionedIn = (text: string, pieces: readonly string[]) => [
    ...pieces,
    ...known.findIn(text, () => true).texts,
  ];
  /** By call, in order: a value that it was given itself is an echo in its result. */
  const echoes = calls.map(
    (call) => new Set(call.arguments.flatMap(({ text, pieces }) => mentionedIn(text, pieces))),
  );
  /** Since when the program has a value that no result gave it, in milliseconds of the run. */
  const ownSince = new Map<string, number>();
  const own = (values: readonly string[], since: number) => {
    for (const value of values) if (!ownSince.has(value)) ownSince.set(value, since);
  };
  for (const { text, pieces } of given) own(mentionedIn(text, pieces), Number.NEGATIVE_INFINITY);

  const flows = new Map<string, ValueFlow>();
  for (const [order, call] of calls.entries()) {
    const { startTs } = call.span;
    const latest = (value: string, grades: readonly Grade[]) => {
      const until = Math.min(startTs, ownSince.get(value) ?? startTs);
      return sources
        .get(value)
        ?.findLast(
          (source) =>
            source.order < order &&
            source.call.span.endTs <= until &&
            grades.includes(source.grade) &&
            !echoes[source.order]!.has(value),
        );
    };
    const inside = (value: string) => latest(value, ['whole', 'word']);
    for (const { path, text, pieces } of call.arguments) {
      const whole = latest(text, GRADES);
      const found = known.findIn(whole ? '' : text, (value) => inside(value) !== undefined);
      for (const source of whole ? [whole] : found.texts.map((value) => inside(value)!)) {
        const flow = toFlow(source, call, path);
        flows.set(`${flow.fromTraceId} ${flow.toTraceId} ${flow.fromPath} ${flow.toPath}`, flow);
      }
      own(mentionedIn(found.rest, found.rest === text ? pieces : piecesOf(found.rest)), startTs);
    }
  }
  return flows.values();
}

/** For each distinctive value the calls whose result has it, in order of their end. */
function sourcesOf(calls: readonly ReadCall[]): Map<string, Source[]> {
  const sources = new Map<string, Source[]>();
  const byEnd = [...calls.entries()].sort(([, a], [, b]) => a.span.endTs - b.span.endTs);
  for (const [order, call] of byEnd) {
    for (const { value, path, grade } of call.values) {
      const source = { call, order, path, grade };
      const all = sources.get(value);
      if (all) all.push(source);
      else sources.set(value, [source]);
    }
  }
  return sources;
}

function toFlow({ call: { span }, path }: Source, { span: later }: ReadCall, toPath: string): ValueFlow {
  return {
    fromTraceId: span.start.traceId,
    toTraceId: later.start.traceId,
    from: span.start.node,
    to: later.start.node,
    fromPath: path,
    toPath,
  };
}
