/** Requests `/healthz` from the gateway at its first argument until told to stop, then reports each duration. */
import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 20;
const [url] = process.argv.slice(2);
const times: number[] = [];
let isOver = false;
let isFirst = true;
process.on('message', () => {
  isOver = true;
});

while (!isOver) {
  const start = performance.now();
  await (await fetch(`${url}/healthz`)).text();
  // The first request opens the connection and reports that this process is ready.
  if (isFirst) process.send?.('ready');
  else times.push(performance.now() - start);
  isFirst = false;
  await sleep(PAUSE_MS);
}
process.send?.(times, () => process.exit());
