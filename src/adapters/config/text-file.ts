import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

const UTF8_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const UTF16_MARK = Buffer.from([0xff, 0xfe]);

/** A file's text, and how to encode a changed text like the original. */
export interface TextFile {
  readonly bytes: Buffer;
  readonly text: string;
  encode(text: string): Buffer;
}

/** Windows tools still write UTF-16 and byte order marks; the text excludes the mark. */
export function decodeText(bytes: Buffer): TextFile {
  if (bytes.subarray(0, 2).equals(UTF16_MARK)) {
    return {
      bytes,
      text: bytes.subarray(2).toString('utf16le'),
      encode: (text) => Buffer.concat([UTF16_MARK, Buffer.from(text, 'utf16le')]),
    };
  }
  const mark = bytes.subarray(0, 3).equals(UTF8_MARK) ? UTF8_MARK : Buffer.alloc(0);
  return {
    bytes,
    text: bytes.subarray(mark.length).toString('utf8'),
    encode: (text) => Buffer.concat([mark, Buffer.from(text, 'utf8')]),
  };
}

/** Null when the file does not exist. */
export async function readTextFile(file: string): Promise<TextFile | null> {
  const bytes = await readBytes(file);
  return bytes === null ? null : decodeText(bytes);
}

export async function readBytes(file: string): Promise<Buffer | null> {
  try {
    return await readFile(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}

/**
 * Replaces the file atomically. Follows links and preserves the mode; a new file is readable by its owner
 * only, because configurations contain secrets.
 */
export async function writeFileWhole(file: string, bytes: Buffer): Promise<void> {
  const target = await realpath(file).catch(() => file);
  const mode = await modeOf(target);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const temporary = `${target}.${randomUUID()}.tmp`;
  try {
    const handle = await open(temporary, 'wx', mode);
    try {
      // `open` applies the umask, so set the mode explicitly.
      await handle.chmod(mode);
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** The file's mode, or that of a new file. */
async function modeOf(file: string): Promise<number> {
  const found = await stat(file).catch(() => null);
  return found ? found.mode & 0o777 : 0o600;
}
