import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Settings } from '../../src/engine/ports.ts';
import { codeGateway, tool } from '../support/code-gateway.ts';
import { referenceServers } from '../support/mcp-reference-servers.ts';
import { settingsFor } from '../support/memory-gateway.ts';
import { runPml, startPml } from '../support/run-pml.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { planOf } from '../support/workflow-plan.ts';

const INTENT = 'read the northern harvest report and file it';
const AGENT = { sessionId: 'agent-1' };
const needs = (...names: string[]) => ({
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    required: names,
  },
});

/** A gateway that has done the work twice. */
async function taught(settings: Partial<Settings> = {}) {
  const filed: unknown[] = [];
  const tools = [
    tool('read', ({ path }) => ({ text: `What is said in ${path} and nowhere else` }), needs('path')),
    tool('file', (args) => filed.push(args), needs('content')),
  ];
  const { gateway } = await codeGateway({ servers: [{ name: 'disk', tools }], settings });
  const plan = planOf([
    { id: 'a', tool: 'disk:read', arguments: { path: 'northern-harvest-2026.md' } },
    { id: 'b', tool: 'disk:file', arguments: { content: '${a.text}' } },
  ]);
  for (let times = 0; times < 2; times++) {
    expect(await gateway.executeWorkflow(plan, INTENT, AGENT)).toMatchObject({ status: 'success' });
    await gateway.settled();
  }
  return { gateway, filed };
}

test('[INTENT-1] an intent alone runs what is suggested, with the values it needs', async () => {
  const { gateway, filed } = await taught();
  const made = await gateway.executeIntent(
    { intent: INTENT, arguments: { t1_path: 'x.md', other: 1 } },
    AGENT,
  );
  expect(made).toMatchObject({ why: [], run: { status: 'success' } });
  expect(made.suggestion.confidence).toBeGreaterThanOrEqual(0.75);
  expect(filed[2]).toEqual({ content: 'What is said in x.md and nowhere else' });
});

test('[INTENT-2] what is unsure, lacks values or would ask is suggested with every reason, and nothing runs', async () => {
  const { permissions } = settingsFor([]);
  const settings = {
    permissions: { ...permissions, ask: ['disk:file'] },
    learning: { enabled: true, runFrom: 0.99 },
  };
  const { gateway, filed } = await taught({ learning: settings.learning });
  await gateway.reload({ ...gateway.settings(), permissions: settings.permissions });
  const { why, run, suggestion } = await gateway.executeIntent({ intent: INTENT }, AGENT);
  expect(run).toBeUndefined();
  expect(suggestion.plan.tasks).toHaveLength(2);
  expect(why).toEqual([
    expect.stringMatching(/^its confidence of \d+ % is below the 99 %/),
    'it needs "t1_path": give them in "arguments"',
    expect.stringMatching(/\(disk:file\) would ask a person: /),
  ]);
  expect(await gateway.executeIntent({ intent: '' }, AGENT)).toMatchObject({ why: ['nothing known fits'] });
  expect(filed).toHaveLength(2);
});

test('[INTENT-3] [ASPLAN-6] with real servers: taught by code, run as a plan, then by its intent alone', async () => {
  const dir = await temporaryDir();
  await mkdir(join(dir, 'notes'));
  await writeFile(join(dir, 'notes', 'a.txt'), 'Apples are picked in the northern orchard.');
  const config = { mcpServers: { filesystem: referenceServers(dir).filesystem } };
  await writeFile(join(dir, 'pml.json'), JSON.stringify(config));
  await writeFile(join(dir, 'look.ts'), 'return await mcp.filesystem.list_directory({ path: args.path });');
  const where = ['--data', join(dir, 'data'), '--config', join(dir, 'pml.json')];
  const { ready } = await startPml(['serve', '--port', '0', ...where], { cwd: dir });
  expect(ready.url).toBeTruthy();
  const pml = (...args: string[]) => runPml([...args, ...where], { cwd: dir });
  const args = ['--args', JSON.stringify({ path: join(dir, 'notes') })];
  const intent = ['--intent', 'list what the notes folder holds'];

  const first = await pml('run', 'look.ts', '--as-plan', ...intent, ...args);
  expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('a.txt') });
  expect(first.stderr).toContain('filesystem:list_directory');
  expect(await pml('run', 'look.ts', '--as-plan', ...intent, ...args)).toMatchObject({ code: 0 });

  const asked = async () => JSON.parse((await pml('run', ...intent, '--json')).stdout);
  await expect.poll(async () => (await asked()).confidence, { timeout: 30_000 }).toBeGreaterThan(0.75);
  expect(await asked()).toMatchObject({
    status: 'suggestion',
    why_not_run: [expect.stringContaining('it needs "t1_path"')],
    plan: { tasks: [{ tool: 'filesystem:list_directory' }] },
  });
  const given = ['--args', JSON.stringify({ t1_path: join(dir, 'notes') })];
  const second = await pml('run', ...intent, ...given);
  expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining('a.txt') });
});
