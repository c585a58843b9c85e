import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Gateway } from '../engine/gateway.ts';

/**
 * What a person would have asked for; the programs are those of `examples/`. A capability comes from what ran
 * twice, and an edge counts as observed from three runs on. The report calls capabilities by the names that the
 * first two intents give them.
 */
const EXAMPLES = [
  { file: 'summarise-notes.ts', intent: 'summarise the notes of this week into one file', times: 3 },
  { file: 'remember-people.ts', intent: 'remember the engineers among the people', times: 3 },
  { file: 'add-in-parallel.ts', intent: 'add up ten pairs of numbers', times: 1 },
  { file: 'survey-notes.ts', intent: 'find out how large the notes are', times: 1 },
  { file: 'connect-people.ts', intent: 'connect the engineers who work together', times: 2 },
  { file: 'weekly-report.ts', intent: 'write the weekly report', times: 2 },
];

const FOLDER = join(import.meta.dirname, '..', '..', 'examples');
const SESSION = { sessionId: 'demo' };

/** Runs the examples for real, once, so that a first look finds something to see. */
export async function runExamples(gateway: Gateway): Promise<void> {
  if ((await gateway.store.traces.count()) > 0) return;
  for (const { file, intent, times } of EXAMPLES) {
    const code = await readFile(join(FOLDER, file), 'utf8');
    for (let time = 0; time < times; time++) {
      await gateway.executeCode({ code, intent }, SESSION);
      // What was learned from it may be called by the next.
      await gateway.settled();
    }
  }
}
