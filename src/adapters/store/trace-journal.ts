import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  truncateSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { crc32 } from 'node:zlib';
import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import type { TraceJournal } from '../../engine/ports.ts';

const DEFAULTS = {
  /** Bytes per file: stored traces are deleted file by file. */
  fileBytes: 1024 * 1024,
};

/** Header of each trace: its length and checksum, four bytes each. */
const HEAD = 8;

interface JournalFile {
  readonly path: string;
  bytes: number;
  traces: number;
  /** How many of these are in the store; they are the first ones. */
  confirmed: number;
}

export interface JournalOptions {
  /** Bytes on disk above which the journal is full. */
  readonly maxBytes: number;
  readonly fileBytes?: number;
}

/**
 * The journal in a folder of the data folder, whose lock the caller holds. A trace is one write to the
 * system, which outlives this process; it is not synced to disk, so a power failure can lose the last ones.
 */
export function openTraceJournal(dir: string, options: JournalOptions): TraceJournal {
  const { maxBytes, fileBytes = DEFAULTS.fileBytes } = options;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const files = readdirSync(dir)
    .filter((name) => /^\d+\.traces$/.test(name))
    .sort()
    .map((name) => takeUp(join(dir, name)));
  let number = Number.parseInt(files.at(-1)?.path.split('/').at(-1) ?? '0', 10);
  let open: number | null = null;

  /** The file being written; the others are only read. */
  function current(): { file: JournalFile; descriptor: number } {
    const last = files.at(-1);
    if (open !== null && last && last.bytes < fileBytes) return { file: last, descriptor: open };
    if (open !== null) closeSync(open);
    number += 1;
    const path = join(dir, `${String(number).padStart(12, '0')}.traces`);
    open = openSync(path, 'a', 0o600);
    const file = { path, bytes: 0, traces: 0, confirmed: 0 };
    files.push(file);
    return { file, descriptor: open };
  }

  /** Deletes files whose traces are all stored; empties the current one. */
  function sweep(): void {
    for (let first = files[0]; first && first.confirmed === first.traces; first = files[0]) {
      if (open !== null && files.length === 1) {
        ftruncateSync(open, 0);
        Object.assign(first, { bytes: 0, traces: 0, confirmed: 0 });
        return;
      }
      unlinkSync(first.path);
      files.shift();
    }
  }

  sweep();
  return {
    get size() {
      return files.reduce((sum, { traces, confirmed }) => sum + traces - confirmed, 0);
    },
    get hasRoom() {
      return files.reduce((sum, { bytes }) => sum + bytes, 0) < maxBytes;
    },
    add(trace) {
      const body = serialize(trace);
      const head = Buffer.alloc(HEAD);
      head.writeUInt32LE(body.length, 0);
      head.writeUInt32LE(crc32(body), 4);
      const { file, descriptor } = current();
      const record = Buffer.concat([head, body]);
      const written = writeSync(descriptor, record);
      if (written < record.length) {
        ftruncateSync(descriptor, file.bytes);
        throw new Error(`Only ${written} of ${record.length} bytes could be written to ${file.path}`);
      }
      file.bytes += record.length;
      file.traces += 1;
    },
    oldest(limit) {
      const [first] = files;
      if (!first) return [];
      const found: ExecutionTrace[] = [];
      let nth = 0;
      for (const body of records(readFileSync(first.path))) {
        if (nth++ < first.confirmed) continue;
        // Records of earlier versions have no origin.
        const trace: Omit<ExecutionTrace, 'origin'> = deserialize(body);
        found.push({ origin: 'agent', ...trace });
        if (found.length === limit) break;
      }
      return found;
    },
    confirm(count) {
      if (files[0]) files[0].confirmed += count;
      sweep();
    },
    close() {
      if (open !== null) closeSync(open);
      open = null;
    },
  };
}

/** Opens a file of an earlier process; a half-written record at its end is cut off. */
function takeUp(path: string): JournalFile {
  let [bytes, traces] = [0, 0];
  for (const body of records(readFileSync(path))) {
    bytes += HEAD + body.length;
    traces += 1;
  }
  truncateSync(path, bytes);
  return { path, bytes, traces, confirmed: 0 };
}

function* records(content: Buffer): Generator<Buffer> {
  for (let at = 0; at + HEAD <= content.length; ) {
    const length = content.readUInt32LE(at);
    const body = content.subarray(at + HEAD, at + HEAD + length);
    if (body.length < length || crc32(body) !== content.readUInt32LE(at + 4)) return;
    yield body;
    at += HEAD + length;
  }
}
