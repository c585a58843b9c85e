import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ensureDataDir } from '../../src/adapters/store/data-dir-lock.ts';
import { openPgliteStore } from '../../src/adapters/store/open-pglite-store.ts';
import { deriveTrace } from '../../src/core/tracing/derive-trace.ts';
import { runPml } from '../support/run-pml.ts';
import { sampleTrace } from '../support/samples.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

test('[TRACE-14] traces move from one data dir to another and back through files, byte for byte', async () => {
  const dir = await temporaryDir();
  const [here, there] = [join(dir, 'here'), join(dir, 'there')];
  await ensureDataDir(here);
  const store = await openPgliteStore(here);
  const traces = Array.from({ length: 60 }, () => {
    const trace = sampleTrace();
    const { executedPath, toolInvocations } = deriveTrace(trace.events);
    return { ...trace, executedPath, toolInvocations };
  });
  const said = { good: true, reason: 'the right file', by: 'ada', at: '2026-03-05T10:00:00.000Z' };
  traces[0] = { ...traces[0]!, verdict: said };
  await store.traces.appendAll(traces);
  await store.close();

  const pml = (...args: string[]) => runPml(['trace', ...args], { cwd: dir });
  const exported = await pml('export', 'runs.jsonl', '--data', here);
  expect(exported.stdout).toBe('Exported 60 traces to runs.jsonl.\n');
  const imported = await pml('import', 'runs.jsonl', '--data', there, '--json');
  expect(JSON.parse(imported.stdout)).toEqual({ imported: 60, skipped: 0, refused: 0, refusals: [] });
  const lines = await readFile(join(dir, 'runs.jsonl'), 'utf8');
  expect(lines).toContain(JSON.stringify(said));
  expect((await pml('export', '-', '--data', there)).stdout).toBe(lines);
  expect((await pml('forget', '--all', '--yes', '--data', there)).stdout).toBe('Deleted 60 traces.\n');
});
