import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openedGateway, runCommand } from '../../../../test/support/command-line.ts';
import { handMadeGateway } from '../../../../test/support/hand-made-gateway.ts';
import { temporaryDir } from '../../../../test/support/temporary-dir.ts';
import type { Gateway } from '../../../engine/gateway.ts';

const READ = { server: 'disk', name: 'read', description: 'Reads a file.', inputSchema: null };

const systemOf = (tools: Awaited<ReturnType<Gateway['callableNames']>>['tools'] = [{ tool: READ }]) => ({
  openGateway: async () =>
    openedGateway(handMadeGateway({ callableNames: async () => ({ tools, capabilities: [] }) })),
});

test('[DTS-1] "pml types" prints a declaration file of what programs can call', async () => {
  const { code, out, err } = await runCommand(['types'], systemOf());
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toContain('read(args?: Record<string, unknown>): Promise<unknown>;');
  const json = await runCommand(['types', '--json'], systemOf());
  expect(JSON.parse(json.out)).toEqual({ types: out, tools: 1, capabilities: 0 });
  const none = await runCommand(['types'], systemOf([]));
  expect(none).toMatchObject({ code: 0, err: expect.stringContaining('No tools known yet') });
  expect(none.out).toContain('declare global');
});

test('[DTS-2] --out writes the file and replaces only one that it wrote', async () => {
  const file = join(await temporaryDir(), 'types', 'pml.d.ts');
  const first = await runCommand(['types', '--out', file], systemOf([]));
  expect(first.out).toBe(`Wrote 0 tools and 0 capabilities to ${file}.\n`);
  const second = await runCommand(['types', '--out', file, '--json'], systemOf());
  expect(JSON.parse(second.out)).toEqual({ file, tools: 1, capabilities: 0 });
  expect(await readFile(file, 'utf8')).toContain('/** Reads a file. */');

  await writeFile(file, 'my own work');
  const refused = await runCommand(['types', '--out', file], systemOf());
  expect(refused).toMatchObject({ code: 1, out: '' });
  expect(refused.err).toContain('was not written by "pml types"');
  expect(await readFile(file, 'utf8')).toBe('my own work');
});
