import { setTimeout } from 'node:timers/promises';

const ROOM_MS = 60_000;

/** What is counted by the day begins anew at midnight: a test that would begin right before it begins right after it. */
export async function withinOneDay(): Promise<void> {
  const now = Date.now();
  const [universal, local] = [new Date(now).setUTCHours(24, 0, 0, 0), new Date(now).setHours(24, 0, 0, 0)];
  const left = Math.min(universal, local) - now;
  if (left < ROOM_MS) await setTimeout(left);
}
