import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Gateway } from '../engine/gateway.ts';

/** What a person would have asked for; the programs are those of `examples/`. */
const EXAMPLES = [
  { file: 'summarise-notes.ts', intent: 'summarise the notes of this week into one file' },
  { file: 'remember-people.ts', intent: 'remember the engineers among the people' },
  { file: 'add-in-parallel.ts', intent: 'add up ten pairs of numbers' },
];

const FOLDER = join(import.meta.dirname, '..', '..', 'examples');
const SESSION = { sessionId: 'demo' };

/** Runs the examples for real, once, so that a first look finds something to see. */
export async function runExamples(gateway: Gateway): Promise<void> {
  if ((await gateway.store.traces.count()) > 0) return;
  for (const { file, intent } of EXAMPLES) {
    const code = await readFile(join(FOLDER, file), 'utf8');
    await gateway.executeCode({ code, intent }, SESSION);
  }
}
