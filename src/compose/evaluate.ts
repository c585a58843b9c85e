import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createEmbedder } from '../adapters/embedding/create-embedder.ts';
import { StoredEmbedder } from '../adapters/embedding/stored-embedder.ts';
import { WasmVectorIndex } from '../core/retrieval/wasm-vector-index.ts';
import { createRedactor } from '../core/tracing/redact.ts';
import type { EvaluationReport } from '../core/vocabulary/evaluation-report.ts';
import type { StreamReport } from '../core/vocabulary/stream-report.ts';
import type { Gateway } from '../engine/gateway.ts';
import type { Embedder, Settings, Upstream } from '../engine/ports.ts';
import { createEventLog } from '../engine/traces/event-log.ts';
import { type DataSet, findDataSets, readDataSet } from '../evaluation/data-set.ts';
import { evaluate } from '../evaluation/evaluate.ts';
import { measureStream } from '../evaluation/stream.ts';
import type { DataSetChoice, EvaluateOptions, StreamOptions, System } from '../surfaces/cli/system.ts';
import { openGateway } from './open-gateway.ts';
import { CLOCK, sleep } from './start-gateway-process.ts';

type Progress = Parameters<System['evaluate']>[1];

/** Measures one data set after the other; vectors are cached in a folder. */
export async function evaluateDataSets(
  options: EvaluateOptions,
  settings: Settings,
  vectors: string,
  onProgress: Progress,
): Promise<EvaluationReport[]> {
  const { protocol, seed, curve = false, draws } = options;
  return await forEachDataSet(options, settings, vectors, (data, embedder) =>
    evaluate(
      data,
      { protocol, seed, draws: curve ? draws : 0, onProgress },
      { embedder, emptyIndex: () => new WasmVectorIndex(embedder.dimension) },
    ),
  );
}

/** Measures each data set on a separate gateway, in a folder that is deleted afterwards. */
export async function streamDataSets(
  options: StreamOptions,
  settings: Settings,
  vectors: string,
  onProgress: Progress,
): Promise<StreamReport[]> {
  const { seed, pause } = options;
  return await forEachDataSet(options, settings, vectors, async (data, embedder) => {
    const folder = await mkdtemp(join(tmpdir(), 'pml-stream-'));
    try {
      return await measureStream(
        data,
        { seed, pauseMs: pause ?? null, onProgress },
        {
          embedder,
          emptyIndex: () => new WasmVectorIndex(embedder.dimension),
          openGateway: (upstream, servers) => openOn(folder, settings, upstream, servers, embedder),
          sleep: (ms) => setTimeout(ms),
        },
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

/** A production gateway that only takes its learning settings from the user. */
async function openOn(
  folder: string,
  settings: Settings,
  upstream: Upstream,
  servers: readonly string[],
  embedder: Embedder,
): Promise<Gateway> {
  const own: Settings = {
    ...settings,
    servers: servers.map((name) => ({ ...SERVER, name })),
    store: { ...settings.store, url: null },
    permissions: { ...settings.permissions, allow: ['*'], ask: [], deny: [], profile: 'balanced' },
    record: [{ tools: '*', keep: 'full' }],
  };
  return await openGateway(folder, own, {
    version: 'eval',
    exporter: null,
    clock: CLOCK,
    sleep,
    events: createEventLog(CLOCK),
    logger: { log: () => {} },
    redact: createRedactor([]),
    fillIn: true,
    onStore: () => {},
    onSecrets: () => {},
    signal: new AbortController().signal,
    upstream,
    // The embedder outlives the gateway, so closing does nothing.
    embedder: { ...wordsOf(embedder), close: async () => {} },
  });
}

const SERVER = {
  transport: 'stdio',
  command: 'recorded',
  args: [],
  env: {},
  cwd: null,
  disabled: false,
  tools: { include: ['*'], exclude: [] },
  timeoutMs: 60_000,
  concurrency: 8,
} as const;

function wordsOf(embedder: Embedder): Omit<Embedder, 'close'> {
  const { model, dimension } = embedder;
  return { model, dimension, embed: (texts) => embedder.embed(texts) };
}

async function forEachDataSet<T>(
  options: DataSetChoice,
  settings: Settings,
  vectors: string,
  measure: (data: DataSet, embedder: Embedder) => Promise<T>,
): Promise<T[]> {
  const { split, tasks, distractors, train, test } = options;
  const folders = await findDataSets(options.data);
  const files = {
    ...(distractors !== undefined && { distractors }),
    ...(train !== undefined && { trainFile: train }),
    ...(test !== undefined && { testFile: test }),
  };
  const embedder = new StoredEmbedder(createEmbedder(settings.embedding), vectors);
  try {
    const reports: T[] = [];
    for (const folder of folders) {
      reports.push(await measure(await readDataSet(folder, { split, tasks, ...files }), embedder));
    }
    return reports;
  } finally {
    await embedder.close();
  }
}
