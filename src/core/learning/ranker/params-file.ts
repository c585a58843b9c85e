import { PmlError } from '../../vocabulary/pml-error.ts';
import type { Parameter } from './rank-term.ts';

/** A named array of numbers. */
export type ParamsBlock = Pick<Parameter, 'name' | 'values'>;

/** "PMLR" in ASCII, read as a little-endian word. */
const MAGIC = 0x524c4d50;
const VERSION = 1;
/** Magic, version, checksum of everything that follows, and length of the header, four bytes each. */
const PREFIX = 16;
const CHECKED_FROM = 12;

/** Header of a parameter file. */
export interface ParamsHead {
  /** The embedding model whose vectors the parameters were trained on. */
  readonly embedding: string;
  readonly dimension: number;
  /** Number of runs they were learned from. */
  readonly runs: number;
  /** What the numbers mean, if names and lengths do not say. */
  readonly form?: string;
}

interface Layout extends ParamsHead {
  readonly blocks: readonly { readonly name: string; readonly length: number }[];
}

/** Magic, version, checksum, header as JSON, then every parameter as little-endian float32 in the header's order. */
export function encodeParams(head: ParamsHead, parameters: readonly ParamsBlock[]): Uint8Array {
  const blocks = parameters.map(({ name, values }) => ({ name, length: values.length }));
  const json = new TextEncoder().encode(JSON.stringify({ ...head, blocks } satisfies Layout));
  // The numbers begin at a multiple of four bytes.
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

/** The content of a file, by parameter. */
export function decodeParams(bytes: Uint8Array): {
  readonly head: ParamsHead;
  readonly values: ReadonlyMap<string, Float32Array>;
} {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < PREFIX || view.getUint32(0, true) !== MAGIC)
    throw unreadable('this is not a parameter file');
  if (view.getUint32(4, true) !== VERSION) {
    throw unreadable(`their version is ${view.getUint32(4, true)}, expected ${VERSION}`);
  }
  if (view.getUint32(8, true) !== checksum(bytes)) throw unreadable('they are damaged');
  const length = view.getUint32(12, true);
  const { blocks, ...head } = readLayout(bytes.subarray(PREFIX, PREFIX + length));
  let at = Math.ceil((PREFIX + length) / 4) * 4;
  const end = at + 4 * blocks.reduce((sum, block) => sum + block.length, 0);
  if (end !== bytes.length) throw unreadable(`they have ${bytes.length} bytes instead of ${end}`);
  const values = new Map<string, Float32Array>();
  for (const block of blocks) {
    const block32 = new Float32Array(block.length);
    for (let i = 0; i < block.length; i++, at += 4) block32[i] = view.getFloat32(at, true);
    values.set(block.name, block32);
  }
  return { head, values };
}

/** The same, rejected unless it was learned on these vectors and in this form. */
export function decodeFitting(
  bytes: Uint8Array,
  wanted: Required<Omit<ParamsHead, 'runs'>>,
): ReadonlyMap<string, Float32Array> {
  const { head, values } = decodeParams(bytes);
  const { embedding, dimension, form } = head;
  if (embedding !== wanted.embedding || dimension !== wanted.dimension) {
    throw unreadable(
      `they belong to ${embedding} with ${dimension} dimensions, the current model is ${wanted.embedding}`,
    );
  }
  if (form !== wanted.form) throw unreadable('another version learned them, from other features');
  return values;
}

/** Loads the content of a file into a model of the same form. */
export function loadParams(
  values: ReadonlyMap<string, Float32Array>,
  parameters: readonly ParamsBlock[],
): void {
  const stored = parameters.map(({ name, values: own }) => blockOf(values, name, own.length));
  for (const [i, { values: own }] of parameters.entries()) own.set(stored[i]!);
}

/** A block of a file, by name. */
export function blockOf(
  values: ReadonlyMap<string, Float32Array>,
  name: string,
  length: number,
): Float32Array {
  const stored = values.get(name);
  if (stored?.length !== length) throw unreadable(`${name} with ${length} numbers is missing`);
  return stored;
}

function readLayout(json: Uint8Array): Layout {
  try {
    return JSON.parse(new TextDecoder().decode(json)) as Layout;
  } catch {
    throw unreadable('their header is damaged');
  }
}

/** FNV-1a, 32 bits: each step is bijective, so every change of a single byte is detected. */
function checksum(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let i = CHECKED_FROM; i < bytes.length; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  return hash >>> 0;
}

function unreadable(why: string): PmlError {
  return new PmlError('invalid_argument', `The learned parameters cannot be read: ${why}`, {
    hint: 'PML learns them again from the stored traces; "pml train" does so now for the ranker.',
  });
}
