import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventLog } from '../engine/traces/event-log.ts';

/** Keeps the inventory line beside the store, so that the next start can tell it before the store is open. */
export async function rememberInventory(dir: string, events: EventLog): Promise<string> {
  const file = join(dir, 'inventory.txt');
  events.follow(({ event }) => {
    if (event.type !== 'inventory_changed') return;
    // Only a convenience for the next start: without it the line comes a moment later.
    writeFile(file, event.inventory).catch(() => {});
  });
  return await readFile(file, 'utf8').catch(() => 'The tools are still being listed.');
}
