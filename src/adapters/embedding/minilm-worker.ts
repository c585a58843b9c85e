/** The worker thread that holds the model, so that embedding a catalogue never stalls the gateway. */
import { setImmediate } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { readMiniLmFiles } from './minilm-files.ts';
import type { EmbedReply, EmbedRequest } from './minilm-messages.ts';
import { MiniLmModel } from './minilm-model.ts';
import { MiniLmQueue } from './minilm-queue.ts';
import { MINILM } from './minilm-shape.ts';
import { createTokenizer } from './minilm-tokenizer.ts';

const port = parentPort!;
let loading: Promise<MiniLmQueue> | undefined;
let isWorking = false;

port.on('message', async (request: EmbedRequest) => {
  const queue = await load(request.id);
  queue?.add(request);
  if (queue && !isWorking) await work(queue);
});

/** The model is read once; a failure is told to whoever asked, and the next request tries again. */
async function load(id: number): Promise<MiniLmQueue | undefined> {
  try {
    loading ??= loadQueue();
    return await loading;
  } catch (thrown) {
    loading = undefined;
    port.postMessage({ id, error: PmlError.from(thrown).toShape() } satisfies EmbedReply);
    return undefined;
  }
}

async function loadQueue(): Promise<MiniLmQueue> {
  const files = await readMiniLmFiles();
  const model = new MiniLmModel(files.tensors, MINILM.maxTokens);
  return new MiniLmQueue({
    dimension: MINILM.hidden,
    tokenise: createTokenizer(files),
    embed: (batch) => model.embed(batch),
  });
}

async function work(queue: MiniLmQueue): Promise<void> {
  isWorking = true;
  while (!queue.isEmpty) {
    const finished = queue.step();
    if (finished) port.postMessage(finished satisfies EmbedReply, [finished.vectors.buffer]);
    // Lets new requests in between two batches.
    await setImmediate();
  }
  isWorking = false;
}
