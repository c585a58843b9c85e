import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { callTool } from '../support/mcp-endpoints.ts';
import { referenceServers } from '../support/mcp-reference-servers.ts';
import { runPml, startPml } from '../support/run-pml.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const INTENT = 'list a directory, read each file, write a summary file';

/** As an agent writes it that was never told how. */
const CODE = `
const { content: listing } = await mcp.filesystem.list_directory({ path: args.folder });
const names = listing.split('\\n').filter((line) => line.startsWith('[FILE] ')).map((line) => line.slice(7));
const files = await Promise.all(
  names.map((name) => mcp.filesystem.read_text_file({ path: \`\${args.folder}/\${name}\` })),
);
const summary = files.map(({ content }) => content).join('\\n');
await mcp.filesystem.write_file({ path: args.target, content: summary });
return names.length;
`;

const NOTES = {
  'a.txt': 'Apples are picked in the northern orchard.',
  'b.txt': 'Bees are kept behind the mill by the river.',
};
const LETTERS = { 'to ada.md': 'Dear Ada,\nall is well.', 'x.md': 'short', 'y.md': 'shorter' };

interface Suggested {
  readonly plan: { readonly tasks: readonly Record<string, unknown>[]; readonly inputs: readonly unknown[] };
  readonly confidence: number;
}

/** A gateway with the real filesystem server that asks before it writes, and an agent connected to it. */
async function open() {
  const dir = await temporaryDir();
  for (const [folder, files] of Object.entries({ notes: NOTES, letters: LETTERS })) {
    await mkdir(join(dir, folder, 'old'), { recursive: true });
    for (const [name, text] of Object.entries(files)) await writeFile(join(dir, folder, name), text);
  }
  const config = {
    mcpServers: { filesystem: referenceServers(dir).filesystem },
    pml: { permissions: { ask: ['*:write_*'], approval_wait_ms: 0 } },
  };
  await writeFile(join(dir, 'pml.json'), JSON.stringify(config));
  const where = ['--data', join(dir, 'data'), '--config', join(dir, 'pml.json')];
  const { ready } = await startPml(['serve', '--port', '0', ...where], { cwd: dir });
  const authorization = `Bearer ${(await readFile(join(dir, 'data', 'token'), 'utf8')).trim()}`;
  const agent = new Client({ name: 'agent', version: '1' }, { capabilities: {} });
  await agent.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', String(ready.url)), {
      requestInit: { headers: { authorization } },
    }),
  );
  onTestFinished(() => agent.close());
  const call = async (tool: string, args: object) => (await callTool(agent, tool, args)).structuredContent;
  return {
    dir,
    call,
    suggest: async () => (await call('pml_suggest', { intent: INTENT })) as unknown as Suggested,
    person: (...args: string[]) => runPml([...args, ...where], { cwd: dir }),
    resume: (id: unknown) => call('pml_execute_workflow', { run_id: id, action: 'resume' }),
  };
}

test('[PLAN-16] work that an agent did once in code is suggested as a whole, approved, run and traced, with growing confidence', async () => {
  const { dir, call, suggest, person, resume } = await open();
  const cold = await suggest();

  const args = { folder: join(dir, 'notes'), target: join(dir, 'first.txt') };
  const taught = await call('pml_execute', { code: CODE, arguments: args, intent: INTENT });
  expect(taught).toMatchObject({ status: 'approval_required' });
  expect(await person('runs', 'approve', String(taught.run_id), '--yes')).toMatchObject({ code: 0 });
  expect(await resume(taught.run_id)).toMatchObject({ status: 'success' });

  // The program's own wiring is learned after the answer.
  let first = cold;
  const tasks = async () => {
    first = await suggest();
    return first.plan.tasks;
  };
  await expect.poll(tasks).toMatchObject([
    { id: 't1', tool: 'filesystem:list_directory', arguments: { path: '${path}' } },
    { id: 't1-lines', arguments: { text: '${t1.content}', bullet: '[FILE] ' }, depends_on: ['t1'] },
    {
      id: 't2',
      tool: 'filesystem:read_text_file',
      for_each: '${t1-lines}',
      arguments: { path: '${path}/${item}' },
    },
    { id: 't2-joined', arguments: { results: '${t2}', path: ['content'] }, depends_on: ['t2'] },
    {
      id: 't3',
      tool: 'filesystem:write_file',
      arguments: { path: '${write_file_path}', content: '${t2-joined}' },
      depends_on: ['t2', 't2-joined'],
    },
  ]);
  expect(first.confidence).toBeGreaterThan(Math.max(0.5, cold.confidence));
  expect(first.plan.inputs).toMatchObject([{ name: 'path' }, { name: 'write_file_path' }]);

  const target = join(dir, 'second.txt');
  const values = { path: join(dir, 'letters'), write_file_path: target };
  const workflow = { ...first.plan, arguments: values };
  const paused = await call('pml_execute_workflow', { workflow, intent: INTENT });
  const content = Object.values(LETTERS).join('\n');
  expect(paused).toMatchObject({
    status: 'approval_required',
    approvals: [{ tool: 'filesystem:write_file', arguments: { path: target, content } }],
  });
  expect(await resume(paused.run_id)).toMatchObject({ status: 'approval_required' });
  expect(await person('runs', 'approve', String(paused.run_id), '--yes')).toMatchObject({ code: 0 });
  expect(await resume(paused.run_id)).toMatchObject({ status: 'success' });
  expect(await readFile(target, 'utf8')).toBe(content);

  // The last of them is stored after the answer.
  const used = async () => {
    const { traces } = JSON.parse((await person('trace', 'ls', '--json')).stdout);
    const nodes: string[] = [];
    for (const { id, run_id } of traces.toReversed() as { id: string; run_id: string }[]) {
      if (run_id !== paused.run_id) continue;
      const trace = JSON.parse((await person('trace', 'show', id, '--json')).stdout);
      nodes.push(...trace.executed_path.filter((node: string) => node.startsWith('filesystem:')));
    }
    return [...new Set(nodes)];
  };
  await expect.poll(used).toEqual(first.plan.tasks.flatMap(({ tool }) => tool ?? []));

  let again = first;
  const confidence = async () => {
    again = await suggest();
    return again.confidence;
  };
  await expect.poll(confidence).toBeGreaterThan(first.confidence);
  const wired = ({ plan }: Suggested) => plan.tasks.map(({ reason: _, confidence: __, ...task }) => task);
  expect(wired(again)).toEqual(wired(first));
}, 180_000);
