import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Embedder } from '../../engine/ports.ts';

const DEFAULTS = {
  /** Bytes of a text's SHA-256 used as its key: 128 bits make collisions practically impossible. */
  keyBytes: 16,
  suffix: '.vectors',
};

/** The dimension as one 32-bit number; records of key and float32 values follow. */
const HEADER_BYTES = 4;
const FLOAT_BYTES = Float32Array.BYTES_PER_ELEMENT;

/**
 * Caches vectors on disk, in one folder per model, for work that embeds the same texts in many processes.
 * Each request that needed the model adds one file, written atomically, so several processes may share a
 * folder; files in another format are ignored.
 */
export class StoredEmbedder implements Embedder {
  readonly #inner: Embedder;
  readonly #folder: string;
  #known: Promise<Map<string, Float32Array>> | undefined;

  constructor(inner: Embedder, folder: string) {
    this.#inner = inner;
    this.#folder = join(folder, inner.model.replace(/[^\w.-]+/g, '_'));
  }

  get model(): string {
    return this.#inner.model;
  }

  get dimension(): number {
    return this.#inner.dimension;
  }

  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    this.#known ??= readFolder(this.#folder);
    const known = await this.#known;
    const keys = texts.map(keyOf);
    const missing = new Map<string, string>();
    for (const [i, key] of keys.entries()) if (!known.has(key)) missing.set(key, texts[i]!);
    if (missing.size > 0) {
      const vectors = await this.#inner.embed([...missing.values()]);
      const fresh = [...missing.keys()].map((key, i) => [key, vectors[i]!] as const);
      // If the folder is not writable, only time is lost.
      await writeSegment(this.#folder, fresh).catch(() => {});
      for (const [key, vector] of fresh) known.set(key, vector);
    }
    return keys.map((key) => known.get(key)!.slice());
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }
}

function keyOf(text: string): string {
  return createHash('sha256').update(text).digest().subarray(0, DEFAULTS.keyBytes).toString('hex');
}

async function readFolder(folder: string): Promise<Map<string, Float32Array>> {
  const known = new Map<string, Float32Array>();
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => each.endsWith(DEFAULTS.suffix)).sort()) {
    readSegment(await readFile(join(folder, name)), known);
  }
  return known;
}

function readSegment(bytes: Buffer, known: Map<string, Float32Array>): void {
  if (bytes.length < HEADER_BYTES) return;
  const recordBytes = DEFAULTS.keyBytes + bytes.readUInt32LE(0) * FLOAT_BYTES;
  if ((bytes.length - HEADER_BYTES) % recordBytes !== 0) return;
  for (let at = HEADER_BYTES; at < bytes.length; at += recordBytes) {
    const values = bytes.buffer.slice(
      bytes.byteOffset + at + DEFAULTS.keyBytes,
      bytes.byteOffset + at + recordBytes,
    );
    known.set(bytes.toString('hex', at, at + DEFAULTS.keyBytes), new Float32Array(values));
  }
}

async function writeSegment(folder: string, rows: readonly (readonly [string, Float32Array])[]) {
  const dimension = rows[0]![1].length;
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(dimension);
  const records = rows.flatMap(([key, { buffer, byteOffset, byteLength }]) => [
    Buffer.from(key, 'hex'),
    Buffer.from(buffer, byteOffset, byteLength),
  ]);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, randomUUID());
  await writeFile(file, Buffer.concat([header, ...records]), { mode: 0o600 });
  await rename(file, `${file}${DEFAULTS.suffix}`);
}
