import { deriveTrace } from '../../core/tracing/derive-trace.ts';
import { createFoundSecrets } from '../../core/tracing/found-secrets.ts';
import { redactTrace } from '../../core/tracing/recorder.ts';
import { createRedactor, type Redactor } from '../../core/tracing/redact.ts';
import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { type ToldTrace, traceFromWire } from '../../core/vocabulary/trace-from-wire.ts';
import { checkIntent } from '../gateway.ts';
import type { Store } from '../ports.ts';

const DEFAULTS = {
  /** Traces stored at once, at most, and characters of their lines. */
  batch: 100,
  batchText: 4 * 1024 * 1024,
  /** Refused lines that are told; counts stay exact beyond it. */
  refusals: 100,
};

/** A line of a file, counted from 1; without its text if it is too long. */
interface NumberedLine {
  readonly number: number;
  readonly text: string | null;
}

interface ImportReport {
  readonly imported: number;
  /** Already there. */
  readonly skipped: number;
  readonly refused: number;
  /** Why, for the first of them. */
  readonly refusals: readonly { readonly line: number; readonly reason: string }[];
}

interface ImportPorts {
  readonly store: Pick<Store, 'traces'>;
  /** Hidden like everything that looks like one. */
  readonly secrets: Iterable<string>;
}

/**
 * Takes traces from lines of JSON that anybody may have written: each is checked and redacted, what
 * follows from its events is derived again, and a line that cannot be used does not stop the others.
 */
export async function importTraces(
  { store, secrets }: ImportPorts,
  lines: Iterable<NumberedLine> | AsyncIterable<NumberedLine>,
): Promise<ImportReport> {
  const redact = createRedactor(secrets);
  const refusals: { line: number; reason: string }[] = [];
  const counts = { imported: 0, skipped: 0, refused: 0 };
  let batch: ExecutionTrace[] = [];
  let text = 0;

  const flush = async () => {
    const { imported, skipped } = await storeAll(store, batch);
    counts.imported += imported;
    counts.skipped += skipped;
    batch = [];
    text = 0;
  };
  for await (const { number, text: line } of lines) {
    if (line?.trim() === '') continue;
    try {
      const trace = traceFromWire(parse(line));
      checkIntent(trace.intentText ?? undefined);
      batch.push(complete(redacted(trace, redact)));
    } catch (error) {
      counts.refused++;
      if (refusals.length < DEFAULTS.refusals) refusals.push({ line: number, reason: reasonOf(error) });
    }
    text += line?.length ?? 0;
    if (batch.length >= DEFAULTS.batch || text >= DEFAULTS.batchText) await flush();
  }
  await flush();
  return { ...counts, refusals };
}

function parse(line: string | null): unknown {
  if (line === null) throw new PmlError('too_large', 'The line is too long');
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new PmlError('invalid_argument', `It is not JSON: ${(error as Error).message}`);
  }
}

/** Anything other than a `PmlError` is a bug, not a fault of the line. */
function reasonOf(error: unknown): string {
  if (error instanceof PmlError) return error.message;
  throw error;
}

/** Twice: what is recognised late stands in what was read before. */
function redacted(trace: ToldTrace, redact: Redactor): ToldTrace {
  const found = createFoundSecrets();
  const inRun = (value: unknown) => redact(value, found);
  const clean = redactTrace(trace, inRun);
  return found.size === 0 ? clean : redactTrace(clean, inRun);
}

function complete(trace: ToldTrace): ExecutionTrace {
  const { executedPath, toolInvocations } = deriveTrace(trace.events);
  return { ...trace, executedPath, toolInvocations };
}

/** All at once if all are new, as they mostly are; otherwise one by one. */
async function storeAll(
  { traces }: Pick<Store, 'traces'>,
  batch: readonly ExecutionTrace[],
): Promise<{ imported: number; skipped: number }> {
  if (await isStored(() => traces.appendAll(batch))) return { imported: batch.length, skipped: 0 };
  let imported = 0;
  for (const trace of batch) if (await isStored(() => traces.append(trace))) imported++;
  return { imported, skipped: batch.length - imported };
}

async function isStored(store: () => Promise<void>): Promise<boolean> {
  try {
    await store();
    return true;
  } catch (error) {
    if (error instanceof PmlError && error.code === 'store_conflict') return false;
    throw error;
  }
}
