import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MultiDirectedGraph } from 'graphology';
import { parse as parseGraphml } from 'graphology-graphml';
import { expect, test } from 'vitest';
import type { EdgeView } from '../../src/engine/graph/graph-view.ts';
import { runPml, startPml } from '../support/run-pml.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const DB_SERVER = fileURLToPath(new URL('../fixtures/servers/db-server.ts', import.meta.url));
const TEMPLATES = `templates:
  accounts:
    edges: [[db:query, db:describe], [db:query, other:tool]]
`;
/** It chooses its tool as it runs, so that no capability comes of it while the test looks. */
const PROGRAM = `const tool = args.tool ?? 'query';
const rows = await mcp.db[tool]({ sql: 'SELECT name FROM users' });
return rows.filter((row) => row.name !== '').map((row) => row.name).length;
`;

/** A data dir with a database server and templates of its own, and `pml` on it. */
async function home(templates = TEMPLATES) {
  const dir = await temporaryDir();
  const config = {
    mcpServers: { db: { command: process.execPath, args: [DB_SERVER] } },
    pml: { templates: './mine.yaml' },
  };
  const write = async (name: string, text: string) => {
    await writeFile(join(dir, name), text);
    return join(dir, name);
  };
  await write('pml.json', JSON.stringify(config));
  await write('mine.yaml', templates);
  const where = ['--data', join(dir, 'data'), '--config', join(dir, 'pml.json')];
  return {
    dir,
    write,
    pml: (...args: string[]) => runPml([...args, ...where], { cwd: dir }),
    serve: () => startPml(['serve', '--port', '0', ...where], { cwd: dir }),
  };
}

test('[GRAPHUSE-11] [GRAPHUSE-12] [GRAPHUSE-13] what programs taught is counted, exported and rebuilt, with and without a running gateway', async () => {
  const { pml, write, serve, dir } = await home();
  const { ready, child, exited } = await serve();
  const file = await write('count.ts', PROGRAM);
  for (let i = 0; i < 3; i++) expect(await pml('run', file)).toMatchObject({ code: 0, stdout: '4\n' });

  const token = (await readFile(join(dir, 'data', 'token'), 'utf8')).trim();
  const seen = async () => {
    const headers = { authorization: `Bearer ${token}` };
    return JSON.parse(await (await fetch(`${String(ready.url)}/api/graph`, { headers })).text());
  };
  // Wait until all are learned: the graph changes until then.
  const taught = { source: 'db:query', target: 'code:filter', edge_type: 'sequence', observed_count: 3 };
  await expect.poll(async () => (await seen()).edges).toContainEqual(expect.objectContaining(taught));
  const view = await seen();
  const stats = JSON.parse((await pml('graph', 'stats', '--json')).stdout);
  expect(stats.edges.sequence.observed).toBeGreaterThan(0);

  expect((await pml('graph', 'export', 'graph.json')).stdout).toMatch(
    /^Wrote \d+ nodes and \d+ edges to graph/,
  );
  expect(JSON.parse(await readFile(join(dir, 'graph.json'), 'utf8'))).toEqual(view);
  const { stdout: graphml } = await pml('graph', 'export', '--format', 'graphml');
  const graph = parseGraphml(MultiDirectedGraph, graphml);
  expect([graph.order, graph.size]).toEqual([view.nodes.length, view.edges.length]);
  expect((await pml('graph', 'export', '-', '--format', 'dot')).stdout).toContain(
    '"db:query" -> "code:filter"',
  );

  const counts = { nodes: view.nodes.length, edges: view.edges.length };
  const beside = JSON.parse((await pml('graph', 'rebuild', '--json')).stdout);
  expect(beside).toEqual({ traces: 3, before: counts, after: counts });
  child.kill('SIGTERM');
  await exited;
  expect((await pml('graph', 'rebuild')).stdout).toBe(
    `Rebuilt from 3 traces: ${counts.nodes} nodes and ${counts.edges} edges before, ${counts.nodes} nodes and ${counts.edges} edges now.\n`,
  );
  expect(JSON.parse((await pml('graph', 'export')).stdout)).toEqual(view);
});

test('[GRAPHUSE-8] [GRAPHUSE-9] imported traces are in the graph at once, and the user’s own templates apply', async () => {
  const { pml, write } = await home();
  const events = ['db:query', 'db:describe'].flatMap((node, i) => [
    { type: 'tool_start', trace_id: `${i}`, parent_trace_id: null, node, ts: 10 * i },
    {
      type: 'tool_end',
      trace_id: `${i}`,
      parent_trace_id: null,
      node,
      ts: 10 * i + 1,
      success: true,
      duration_ms: 1,
    },
  ]);
  const trace = { executed_at: '2026-11-15T10:00:00Z', success: true, duration_ms: 11, events };
  const lines = [1, 2].map((n) => JSON.stringify({ id: `trace-${n}`, run_id: `run-${n}`, ...trace }));
  const file = await write('flat.jsonl', `${lines.join('\n')}\n`);
  expect(await pml('trace', 'import', file)).toMatchObject({ code: 0, stdout: 'Imported 2 traces.\n' });
  const { edges } = JSON.parse((await pml('graph', 'export')).stdout);
  expect(edges.map(({ weight, invocation_count, ...edge }: EdgeView) => edge)).toEqual([
    {
      source: 'db:query',
      target: 'db:describe',
      edge_type: 'dependency',
      edge_source: 'inferred',
      observed_count: 2,
    },
    {
      source: 'db:query',
      target: 'db:describe',
      edge_type: 'sequence',
      edge_source: 'inferred',
      observed_count: 2,
    },
  ]);
});

test('[GRAPHUSE-9] unusable templates are reported with file and place, and nothing is opened', async () => {
  const { pml, dir } = await home('templates:\n  mine:\n    edges: [[db:query]]\n');
  const refused = await pml('graph', 'stats');
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain(join(dir, 'mine.yaml'));
  expect(refused.stderr).toContain('templates.mine.edges[0] must be [from, to]');
});
