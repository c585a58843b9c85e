import { PmlError } from '../../vocabulary/pml-error.ts';
import type { Parameter } from './rank-term.ts';

/** Numbers under a name. */
export type ParamsBlock = Pick<Parameter, 'name' | 'values'>;

/** "PMLR" in ASCII, read as a little-endian word. */
const MAGIC = 0x524c4d50;
const VERSION = 1;
/** Magic, version, checksum of all that follows and length of the head, four bytes each. */
const PREFIX = 16;
const CHECKED_FROM = 12;

/** What a file of parameters says of itself. */
export interface ParamsHead {
  /** The embedding model whose vectors the parameters were trained on. */
  readonly embedding: string;
  readonly dimension: number;
  /** Runs they learned from. */
  readonly runs: number;
  /** What the numbers mean, where their names and lengths do not tell. */
  readonly form?: string;
}

interface Layout extends ParamsHead {
  readonly blocks: readonly { readonly name: string; readonly length: number }[];
}

/** Magic, version, checksum, head as JSON, then every parameter as little-endian float32 in the head's order. */
export function encodeParams(head: ParamsHead, parameters: readonly ParamsBlock[]): Uint8Array {
  const blocks = parameters.map(({ name, values }) => ({ name, length: values.length }));
  const json = new TextEncoder().encode(JSON.stringify({ ...head, blocks } satisfies Layout));
  // The numbers begin on a word's boundary.
  const start = Math.ceil((PREFIX + json.length) / 4) * 4;
  const floats = blocks.reduce((sum, { length }) => sum + length, 0);
  const bytes = new Uint8Array(start + floats * 4);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint32(4, VERSION, true);
  view.setUint32(12, json.length, true);
  bytes.set(json, PREFIX);
  let at = start;
  for (const { values } of parameters) {
    for (const value of values) {
      view.setFloat32(at, value, true);
      at += 4;
    }
  }
  view.setUint32(8, checksum(bytes), true);
  return bytes;
}

/** What is in a file, by parameter. */
export function decodeParams(bytes: Uint8Array): {
  readonly head: ParamsHead;
  readonly values: ReadonlyMap<string, Float32Array>;
} {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < PREFIX || view.getUint32(0, true) !== MAGIC) throw unreadable('it is not such a file');
  if (view.getUint32(4, true) !== VERSION) {
    throw unreadable(`it has version ${view.getUint32(4, true)}, this is version ${VERSION}`);
  }
  if (view.getUint32(8, true) !== checksum(bytes)) throw unreadable('it is damaged');
  const length = view.getUint32(12, true);
  const { blocks, ...head } = readLayout(bytes.subarray(PREFIX, PREFIX + length));
  let at = Math.ceil((PREFIX + length) / 4) * 4;
  const end = at + 4 * blocks.reduce((sum, block) => sum + block.length, 0);
  if (end !== bytes.length) throw unreadable(`it has ${bytes.length} bytes instead of ${end}`);
  const values = new Map<string, Float32Array>();
  for (const block of blocks) {
    const block32 = new Float32Array(block.length);
    for (let i = 0; i < block.length; i++, at += 4) block32[i] = view.getFloat32(at, true);
    values.set(block.name, block32);
  }
  return { head, values };
}

/** The same, refused unless it was learned on these vectors and in this form. */
export function decodeFitting(
  bytes: Uint8Array,
  wanted: Required<Omit<ParamsHead, 'runs'>>,
): ReadonlyMap<string, Float32Array> {
  const { head, values } = decodeParams(bytes);
  const { embedding, dimension, form } = head;
  if (embedding !== wanted.embedding || dimension !== wanted.dimension) {
    throw unreadable(`it is of ${embedding} with ${dimension} numbers, this is ${wanted.embedding}`);
  }
  if (form !== wanted.form) throw unreadable('it was learned by another version, from other features');
  return values;
}

/** Puts what a file holds into a model of the same form. */
export function loadParams(
  values: ReadonlyMap<string, Float32Array>,
  parameters: readonly ParamsBlock[],
): void {
  const stored = parameters.map(({ name, values: own }) => blockOf(values, name, own.length));
  for (const [i, { values: own }] of parameters.entries()) own.set(stored[i]!);
}

/** What a file holds under a name. */
export function blockOf(
  values: ReadonlyMap<string, Float32Array>,
  name: string,
  length: number,
): Float32Array {
  const stored = values.get(name);
  if (stored?.length !== length) throw unreadable(`it has no ${name} of ${length} numbers`);
  return stored;
}

function readLayout(json: Uint8Array): Layout {
  try {
    return JSON.parse(new TextDecoder().decode(json)) as Layout;
  } catch {
    throw unreadable('its head is damaged');
  }
}

/** FNV-1a, 32 bits: each step is one-to-one, so no change of a single byte goes unseen. */
function checksum(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let i = CHECKED_FROM; i < bytes.length; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  return hash >>> 0;
}

function unreadable(why: string): PmlError {
  return new PmlError('invalid_argument', `What was learned cannot be read: ${why}`, {
    hint: 'It is learned again from the stored traces; for the ranker, "pml train" does so now.',
  });
}
