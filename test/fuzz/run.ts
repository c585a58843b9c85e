/** `npm run fuzz [-- OPTIONS]`: see HELP. */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { makeTemporaryDir } from '../support/temporary-dir.ts';
import { type FuzzReport, fuzz } from './fuzz.ts';

const DEFAULTS = { bytes: 1_000_000 };

const HELP = `Random and hostile input at every entrance of a real gateway in a process of its own: HTTP, sockets, MCP over
HTTP and stdio, programs, tool results and definitions, configuration. It has to stay well: /healthz answers, no crash,
no failure of its own (500), no run without an end, memory within bounds, and an orderly end, also after a restart.

  npm run fuzz                       ${DEFAULTS.bytes} bytes from a new seed
  npm run fuzz -- --bytes 10000000   so many bytes
  npm run fuzz -- --minutes 10       for so long
  npm run fuzz -- --seed 7           the same cases each time
  npm run fuzz -- --seed 7 --from 120 --cases 1
                                     the case with this number alone, as a failure names it
`;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    bytes: { type: 'string' },
    minutes: { type: 'string' },
    from: { type: 'string' },
    cases: { type: 'string' },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit();
}

function whole(name: 'seed' | 'bytes' | 'minutes' | 'from' | 'cases'): number | undefined {
  const text = values[name];
  if (text === undefined) return undefined;
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  process.stderr.write(`fuzz: --${name} must be a whole number, not "${text}"\n`);
  process.exit(2);
}

const minutes = whole('minutes');
const from = whole('from');
const cases = whole('cases');
const isBounded = minutes !== undefined || cases !== undefined;
const seed = whole('seed') ?? Math.floor(Math.random() * 2 ** 20);
const bytes = whole('bytes') ?? (isBounded ? Number.POSITIVE_INFINITY : DEFAULTS.bytes);

const started = performance.now();
const tell = ({ cases: done, bytes: sent, longestPulseMs, memory }: FuzzReport) => {
  const seconds = Math.round((performance.now() - started) / 1_000);
  const held = memory.last === null ? '' : `, ${memory.last} MB`;
  process.stderr.write(
    `${seconds} s: ${done} cases, ${sent} bytes, longest pulse ${longestPulseMs} ms${held}\n`,
  );
};

const dir = await makeTemporaryDir();
try {
  process.stderr.write(`seed ${seed}\n`);
  const report = await fuzz(dir.path, {
    seed,
    bytes,
    onBatch: tell,
    ...(minutes !== undefined && { milliseconds: minutes * 60_000 }),
    ...(from !== undefined && { from }),
    ...(cases !== undefined && { cases }),
  });
  const { problems, ...figures } = report;
  const load = loadavg().map((value) => Number(value.toFixed(1)));
  process.stdout.write(`${JSON.stringify({ ...figures, load }, null, 2)}\n`);
  process.stdout.write(problems.length === 0 ? 'No problems.\n' : `Problems:\n${problems.join('\n')}\n`);
  if (problems.length > 0) process.exitCode = 1;
} finally {
  await dir.remove();
}
