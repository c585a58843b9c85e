/**
 * `npm run bench [-- NAME...] [--json] [--dir DIR] [--data DIR] [--minutes N] [--size N]`: runs the benches of a folder, each in
 * its own process, so that none inherits another's heap, caches or compiled code.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { setup as buildBundle } from '../test/support/build-bundle.ts';

/** A module in `bench/` exports `bench(): Promise<BenchReport>` and is named after what it measures. */
export interface BenchReport {
  readonly name: string;
  readonly rows: readonly BenchRow[];
  /** Printed below the table: a plot, or why the table is empty. */
  readonly below?: string;
}

export interface BenchRow {
  readonly label: string;
  readonly value: number;
  readonly unit: string;
  /** Interval that contains the value in 95 of 100 resamples. */
  readonly ci95?: readonly [low: number, high: number];
  /** How many times better than its rival, measured in the same run. */
  readonly ratio?: number;
  /** `>= 8x` is a goal for the ratio, `< 1 ms` for the value in its unit. */
  readonly goal?: string;
}

const SELF = fileURLToPath(import.meta.url);
/** Set for the child only: the module to run. */
const CHILD_MODULE = 'PML_BENCH_MODULE';
/** Set for the child only: the folder of data sets, for benches that can use real ones. */
const CHILD_DATA = 'PML_BENCH_DATA';

/** Set for the child only: duration, for benches that can continue for any time. */
const CHILD_MINUTES = 'PML_BENCH_MINUTES';

/** Set for the child only: how much there is, for benches that can do with less. */
const CHILD_SIZE = 'PML_BENCH_SIZE';

interface ChildOptions {
  readonly data?: string;
  readonly minutes?: string;
  readonly size?: string;
}

async function measureInChild(path: string, { data, minutes, size }: ChildOptions): Promise<BenchReport> {
  const env = {
    ...process.env,
    // A gateway that a bench starts as a process is what is shipped.
    PML_FROM: 'dist',
    [CHILD_MODULE]: path,
    ...(data !== undefined && { [CHILD_DATA]: data }),
    ...(minutes !== undefined && { [CHILD_MINUTES]: minutes }),
    ...(size !== undefined && { [CHILD_SIZE]: size }),
  };
  const child = fork(SELF, { env, stdio: ['ignore', 2, 2, 'ipc'] });
  let report: BenchReport | undefined;
  child.on('message', (message) => {
    report = message as BenchReport;
  });
  const [code, signal] = await once(child, 'exit');
  if (!report || code !== 0) throw new Error(`${basename(path)} ended with ${signal ?? code} and no report`);
  return report;
}

async function measureAsChild(path: string): Promise<void> {
  const module = (await import(pathToFileURL(path).href)) as { bench?: () => Promise<BenchReport> };
  if (!module.bench) throw new Error(`${path} exports no function bench()`);
  const report = await module.bench();
  process.send?.(report, () => process.exit());
}

/** Undefined without a goal. */
function goalMet({ label, value, ratio, goal }: BenchRow): boolean | undefined {
  if (goal === undefined) return undefined;
  const [, relation, bound, about] = /^(>=|<=|<|>)\s*([\d.]+)\s*(x?)/.exec(goal) ?? [];
  const measured = about === 'x' ? ratio : value;
  if (bound === undefined || measured === undefined) {
    throw new Error(`${label}: the goal "${goal}" should read like ">= 8x" with a ratio, or "< 1 ms"`);
  }
  const limit = Number(bound);
  if (relation === '>=') return measured >= limit;
  if (relation === '<=') return measured <= limit;
  return relation === '<' ? measured < limit : measured > limit;
}

function table({ name, rows, below }: BenchReport): string {
  const cells = rows.map((row) => {
    const met = goalMet(row);
    const verdict = met === undefined ? '' : met ? `goal ${row.goal}: met` : `goal ${row.goal}: MISSED`;
    const ratio = row.ratio === undefined ? '' : `${digits(row.ratio)}x`;
    const interval = row.ci95 === undefined ? '' : `[${row.ci95.map(digits).join(', ')}]`;
    return [row.label, digits(row.value), row.unit, interval, ratio, verdict];
  });
  const widths = [0, 1, 2, 3, 4, 5].map((column) => Math.max(...cells.map((row) => row[column]!.length)));
  const lines = cells.map((row) =>
    row
      .map((cell, column) =>
        RIGHT.has(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
      )
      .filter((_, column) => widths[column]! > 0)
      .join('  '),
  );
  const text = [...lines, ...(below === undefined ? [] : ['', ...below.split('\n')])];
  return [name, ...text.map((line) => `  ${line}`.trimEnd()), ''].join('\n');
}

/** Right-aligned columns: the value and the ratio. */
const RIGHT = new Set([1, 4]);

const digits = (value: number) =>
  Math.abs(value) >= 1000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(4)));

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: 'boolean' },
      dir: { type: 'string' },
      data: { type: 'string' },
      minutes: { type: 'string' },
      size: { type: 'string' },
    },
  });
  const dir = resolve(values.dir ?? fileURLToPath(new URL('.', import.meta.url)));
  const modules = new Map(
    globSync('*.ts', { cwd: dir })
      .map((file) => [basename(file, '.ts'), join(dir, file)] as const)
      .filter(([, path]) => path !== SELF)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  const unknown = positionals.filter((name) => !modules.has(name));
  if (unknown.length > 0) {
    console.error(`bench: no such bench: ${unknown.join(', ')}; there are ${[...modules.keys()].join(', ')}`);
    process.exit(2);
  }
  await buildBundle();
  const reports: BenchReport[] = [];
  for (const name of positionals.length > 0 ? positionals : modules.keys()) {
    try {
      const report = await measureInChild(modules.get(name)!, values);
      const text = table(report);
      reports.push(report);
      if (values.json) console.error(text);
      else console.log(text);
    } catch (error) {
      console.error(`${name}: ${(error as Error).message}\n`);
      process.exitCode = 1;
    }
  }
  if (values.json) console.log(JSON.stringify(reports, null, 2));
}

if (import.meta.main) {
  const path = process.env[CHILD_MODULE];
  await (path === undefined ? main() : measureAsChild(path));
}
