/** Asks `/healthz` of the gateway at its first argument until it is told to stop, then says how long each took. */
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
  // The first one opens the connection, and says that this process is there.
  if (isFirst) process.send?.('ready');
  else times.push(performance.now() - start);
  isFirst = false;
  await sleep(PAUSE_MS);
}
process.send?.(times, () => process.exit());
