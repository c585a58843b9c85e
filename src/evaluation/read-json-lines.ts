import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { PmlError } from '../core/vocabulary/pml-error.ts';

/** One value per line, from a plain or a gzipped file. */
export async function readJsonLines(file: string): Promise<unknown[]> {
  const text = decode(file, await readBytes(file));
  return text
    .split('\n')
    .map((line, i) => ({ line: line.trim(), number: i + 1 }))
    .filter(({ line }) => line !== '')
    .map(({ line, number }) => parse(line, `${file}:${number}`));
}

async function readBytes(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    throw new PmlError('not_found', `${file} cannot be read: ${(cause as Error).message}`, {
      hint: 'Check the path; docs/evaluation.md says which files a data set has.',
      cause,
    });
  }
}

function decode(file: string, bytes: Buffer): string {
  if (!file.endsWith('.gz')) return bytes.toString();
  try {
    return gunzipSync(bytes).toString();
  } catch (cause) {
    throw new PmlError('invalid_argument', `${file} is not a gzipped file`, { cause });
  }
}

function parse(line: string, where: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new PmlError('invalid_argument', `${where} is not JSON: ${(cause as Error).message}`, {
      hint: 'The file must hold one JSON object per line.',
      cause,
    });
  }
}
