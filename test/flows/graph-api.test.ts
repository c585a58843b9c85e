import { expect, onTestFinished, test } from 'vitest';
import { toolId } from '../../src/core/vocabulary/ids.ts';
import type { Gateway } from '../../src/engine/gateway.ts';
import type { GraphView, NodeView } from '../../src/engine/graph/graph-view.ts';
import { createApi } from '../../src/surfaces/http/api/create-api.ts';
import type { MemoryServer } from '../memory/upstream-server.ts';
import { openedGateway, runCommand } from '../support/command-line.ts';
import { told } from '../support/graph-edges.ts';
import { startHttp } from '../support/http-gateway.ts';
import { readyCapability } from '../support/samples.ts';
import { NOBODY, testGateway, tool } from '../support/test-gateway.ts';

const server = (name: string, ...tools: string[]): MemoryServer => ({
  name,
  tools: tools.map((each) => tool(each, () => `${each} of ${name}`)),
});

/** A gateway behind its real HTTP surface, and as commands reach it. */
async function serve(gateway: Gateway) {
  const { listener, token } = await startHttp({ api: createApi(gateway, { log: () => {} }) });
  onTestFinished(listener.close);
  return {
    async get(path: string) {
      const headers = { authorization: `Bearer ${token}` };
      const reply = await fetch(`${listener.url}/api/${path}`, { headers });
      return { status: reply.status, body: JSON.parse(await reply.text()) };
    },
    pml: (...argv: string[]) => runCommand(argv, { openGateway: async () => openedGateway(gateway) }),
    unauthorized: async (path: string) => (await fetch(`${listener.url}/api/${path}`)).status,
  };
}

async function run(gateway: Gateway, code: string, intent?: string) {
  expect(await gateway.executeCode({ code, ...(intent !== undefined && { intent }) }, NOBODY)).toMatchObject({
    status: 'success',
  });
  await gateway.settled();
}

const byId = ({ nodes }: GraphView, id: string): NodeView | undefined => nodes.find((node) => node.id === id);
const ranks = ({ nodes }: GraphView) => nodes.reduce((sum, { pagerank }) => sum + pagerank, 0);

test('[GRAPHUSE-1] /api/graph returns nodes and edges in full, and no templates of missing tools', async () => {
  const copy = readyCapability({
    slug: 'copy',
    code: 'await mcp.fs.read({}); return await mcp.fs.write({})',
    toolsUsed: [toolId('fs', 'read'), toolId('fs', 'write')],
    toolInvocations: [{ tool: 'fs:read' }, { tool: 'fs:write' }],
  });
  const candidate = readyCapability({ slug: 'tried_once', state: 'candidate' });
  const { gateway } = await testGateway({
    servers: [server('fs', 'read', 'write', 'stat')],
    capabilities: [copy, candidate],
    templates: [
      { from: toolId('fs', 'stat'), to: toolId('fs', 'read'), type: 'dependency' },
      { from: toolId('fs', 'write'), to: toolId('mail', 'send'), type: 'dependency' },
      { from: toolId('mail', 'draft'), to: toolId('mail', 'send'), type: 'dependency' },
    ],
  });
  await run(gateway, 'const all = [1, 2].map((n) => n + 1); return await capabilities.copy({ all })');
  const { get, unauthorized } = await serve(gateway);
  expect(await unauthorized('graph')).toBe(401);
  const { status, body } = await get('graph');
  expect(status).toBe(200);
  expect(Object.keys(body)).toEqual(['nodes', 'edges']);
  const capability = `capability:${copy.id}`;
  expect(body.nodes.map(({ id, kind, label, server }: NodeView) => ({ id, kind, label, server }))).toEqual([
    { id: capability, kind: 'capability', label: 'copy', server: null },
    { id: 'code:map', kind: 'operation', label: 'map', server: null },
    { id: 'fs:read', kind: 'tool', label: 'read', server: 'fs' },
    { id: 'fs:stat', kind: 'tool', label: 'stat', server: 'fs' },
    { id: 'fs:write', kind: 'tool', label: 'write', server: 'fs' },
  ]);
  expect(byId(body, capability)).toEqual({
    id: capability,
    kind: 'capability',
    label: 'copy',
    server: null,
    community: expect.any(Number),
    cluster: 0,
    pagerank: expect.any(Number),
    tools_used: ['fs:read', 'fs:write'],
    tools_sequence: ['fs:read', 'fs:write'],
  });
  expect(Object.keys(byId(body, 'fs:read')!)).toEqual([
    'id',
    'kind',
    'label',
    'server',
    'community',
    'cluster',
    'pagerank',
  ]);
  expect(ranks(body)).toBeCloseTo(1, 9);
  expect(told(body)).toEqual([
    'copy -contains-> fs:read',
    'copy -contains-> fs:write',
    'code:map -sequence-> copy',
    'fs:read -sequence-> fs:write',
    'fs:stat -dependency-> fs:read',
  ]);
  expect(body.edges.at(-1)).toEqual({
    source: 'fs:stat',
    target: 'fs:read',
    edge_type: 'dependency',
    edge_source: 'template',
    weight: 0.5,
    observed_count: 0,
    invocation_count: 0,
  });
});

test('[GRAPHUSE-1] the graph follows servers, names and runs; a forgotten capability keeps its place without a name', async () => {
  const copy = readyCapability({ slug: 'copy', code: 'return await mcp.fs.read({})' });
  const { gateway } = await testGateway({
    servers: [server('fs', 'read'), server('mail', 'send')],
    capabilities: [copy],
  });
  const first = await gateway.graph.view();
  expect(first.nodes.map(({ label }) => label)).toEqual(['copy', 'read', 'send']);
  await run(gateway, 'await capabilities.copy({}); return await mcp.mail.send({})');
  await gateway.capabilities.rename('copy', 'take');
  expect(told(await gateway.graph.view())).toEqual([
    'take -contains-> fs:read',
    'take -sequence-> mail:send',
  ]);
  await gateway.capabilities.forget('take');
  const settings = gateway.settings();
  await gateway.reload({ ...settings, servers: settings.servers.filter(({ name }) => name === 'fs') });
  await gateway.settled();
  const { nodes } = await gateway.graph.view();
  // Both were seen at work, so they stay.
  expect(nodes.map(({ label }) => label)).toEqual([copy.id, 'read', 'send']);
  expect(nodes[0]).not.toHaveProperty('tools_used');
});

test('[GRAPHUSE-2] /api/path returns every step with its edge, its counts and its reason in words', async () => {
  const names = ['list', 'read', 'write', 'stat'];
  const { gateway } = await testGateway({
    servers: [server('fs', ...names)],
    capabilities: [{ slug: 'save', code: 'return await mcp.fs.write({})' }],
    templates: [{ from: toolId('fs', 'stat'), to: toolId('fs', 'list'), type: 'dependency' }],
  });
  const program = `await mcp.fs.list({});
    for (let i = 0; i < 2; i++) { await mcp.fs.read({}); await capabilities.save({}) }`;
  for (let i = 0; i < 3; i++) await run(gateway, program);
  const { get } = await serve(gateway);
  const { status, body } = await get('path?from=fs__stat&to=save');
  expect(status).toBe(200);
  const save = `capability:${(await gateway.capabilities.show('save')).id}`;
  expect(body.nodes).toEqual(['fs:stat', 'fs:list', 'fs:read', save]);
  expect(body.cost).toBeCloseTo(1 / 0.5 + 1 / 0.5 + 1 / 0.5, 12);
  expect(body.steps).toHaveLength(3);
  expect(body.steps[2]).toEqual({
    source: 'fs:read',
    target: save,
    edge_type: 'sequence',
    edge_source: 'observed',
    weight: 0.5,
    observed_count: 3,
    invocation_count: 6,
    cost: 2,
    explanation: 'fs:read comes before save, seen in 3 runs (6 calls)',
  });
  expect(body.explanation).toBe(
    '3 steps, cost 6.00: fs:stat is needed before fs:list, from a template, not seen yet; ' +
      'fs:list comes before fs:read, seen in 3 runs; fs:read comes before save, seen in 3 runs (6 calls).',
  );
});

test('[GRAPHUSE-2] an unknown node is 404 with the nearest name, a missing parameter 400, and no path is an answer', async () => {
  const { gateway } = await testGateway({ servers: [server('fs', 'read', 'write')] });
  const { get } = await serve(gateway);
  expect(await get('path?from=fs:raed&to=fs:write')).toMatchObject({
    status: 404,
    body: {
      error: { code: 'not_found', message: 'fs:raed is not in the graph', hint: 'Did you mean fs:read?' },
    },
  });
  expect((await get('path?from=read&to=fs:write')).body.error.hint).toBe('Did you mean fs:read?');
  for (const path of ['path', 'path?from=fs:read', 'path?to=fs:read', 'path?from=fs:read&to=']) {
    expect(await get(path)).toMatchObject({ status: 400, body: { error: { code: 'invalid_argument' } } });
  }
  expect(await get('path?from=fs:read&to=fs:write')).toMatchObject({
    status: 200,
    body: {
      cost: null,
      nodes: [],
      steps: [],
      explanation: expect.stringMatching(/^No path leads from fs:read/),
    },
  });
});

test('[GRAPHUSE-18] [GRAPHUSE-19] from several nodes a capability is reached once all of its tools are', async () => {
  const merge = readyCapability({
    slug: 'merge',
    code: 'await mcp.mail.fetch({}); return await mcp.fs.read({})',
    toolsUsed: [toolId('fs', 'read'), toolId('mail', 'fetch')],
  });
  const { gateway } = await testGateway({
    servers: [server('fs', 'read', 'write', 'stat'), server('mail', 'fetch', 'login')],
    capabilities: [merge],
  });
  for (let i = 0; i < 3; i++) {
    await run(gateway, 'await mcp.mail.login({}); return await mcp.mail.fetch({})');
    await run(gateway, 'await capabilities.merge({}); return await mcp.fs.write({})');
  }
  const { get, pml } = await serve(gateway);
  const id = `capability:${merge.id}`;
  const { status, body } = await get('path?from=fs:read&from=mail__login&to=fs:write');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    from: ['fs:read', 'mail:login'],
    to: 'fs:write',
    nodes: ['fs:read', 'mail:login', 'mail:fetch', id, 'fs:write'],
    steps: [
      { source: 'mail:login', target: 'mail:fetch', edge_type: 'sequence', observed_count: 3, cost: 2 },
      { source: id, target: 'fs:write', edge_type: 'sequence', observed_count: 3, cost: 2 },
    ],
    joins: [
      {
        all_of: ['fs:read', 'mail:fetch'],
        target: id,
        cost: 1.25,
        explanation: 'merge is done once fs:read and mail:fetch are',
      },
    ],
    cost: 2 + 1.25 + 2,
  });
  expect(body.explanation).toBe(
    '3 steps, cost 5.25: mail:login comes before mail:fetch, seen in 3 runs; ' +
      'merge is done once fs:read and mail:fetch are; merge comes before fs:write, seen in 3 runs.',
  );
  // One of its two tools is not enough, and nothing leads from fs:stat to the other.
  expect((await get('path?from=fs:read&from=fs:stat&to=merge')).body).toMatchObject({
    cost: null,
    nodes: [],
    joins: [],
    explanation: expect.stringMatching(/^No path leads from fs:read and fs:stat to merge: /),
  });
  expect((await get('path?from=fs:read&from=fs:stat&to=fs:read')).body).toMatchObject({
    cost: 0,
    nodes: ['fs:read'],
    explanation: 'fs:read is the start of the path.',
  });
  expect(await get('path?from=fs:read&from=fs:wrote&to=merge')).toMatchObject({ status: 404 });

  const told = await pml('graph', 'path', 'fs:read', 'mail:login', 'fs:write');
  expect(told).toMatchObject({ code: 0, out: `${body.explanation}\n` });
  expect(JSON.parse((await pml('graph', 'path', 'fs:read', 'mail:login', 'fs:write', '--json')).out)).toEqual(
    body,
  );
  const one = await pml('graph', 'path', 'mail:login', 'mail:fetch');
  expect(one.out).toBe('1 step, cost 2.00: mail:login comes before mail:fetch, seen in 3 runs.\n');
  expect(await pml('graph', 'path', 'fs:read')).toMatchObject({ code: 2, out: '' });
});

test('[GRAPHUSE-14] an empty graph', async () => {
  const { gateway } = await testGateway();
  const { get, pml } = await serve(gateway);
  expect((await get('graph')).body).toEqual({ nodes: [], edges: [] });
  expect(await get('path?from=a:b&to=c:d')).toMatchObject({ status: 404 });
  expect((await pml('graph', 'stats')).out).toMatch(/^The graph is empty/);
  expect(JSON.parse((await pml('graph', 'stats', '--json')).out)).toMatchObject({
    density: 0,
    communities: 0,
    capabilities: { total: 0, share_with_provides: null },
  });
  expect(JSON.parse((await pml('graph', 'export')).out)).toEqual({ nodes: [], edges: [] });
  expect((await pml('graph', 'rebuild')).out).toBe(
    'Rebuilt from 0 traces: 0 nodes and 0 edges before, 0 nodes and 0 edges now.\n',
  );
});

test('[GRAPHUSE-14] a single tool, called again and again', async () => {
  const { gateway } = await testGateway({ servers: [server('fs', 'read')] });
  await run(gateway, 'for (let i = 0; i < 3; i++) await mcp.fs.read({})');
  const { get, pml } = await serve(gateway);
  const { body } = await get('graph');
  expect(body).toEqual({
    nodes: [
      { id: 'fs:read', kind: 'tool', label: 'read', server: 'fs', community: 0, cluster: null, pagerank: 1 },
    ],
    edges: [],
  });
  expect((await get('path?from=fs:read&to=fs:read')).body).toMatchObject({
    cost: 0,
    nodes: ['fs:read'],
    steps: [],
    explanation: 'fs:read is the start of the path.',
  });
  const { out } = await pml('graph', 'stats');
  expect(out).toMatch(/^1 tool, 0 capabilities, 0 operations, in 1 community; 1 trace stored\n/);
  expect(out).not.toMatch(/NaN|Infinity/);
});

test('[GRAPHUSE-14] disconnected parts', async () => {
  const { gateway } = await testGateway({
    servers: [server('fs', 'read', 'write'), server('mail', 'draft', 'send'), server('idle', 'wait')],
  });
  await run(gateway, 'await mcp.fs.read({}); return await mcp.fs.write({})');
  await run(gateway, 'await mcp.mail.draft({}); return await mcp.mail.send({})');
  const { get, pml } = await serve(gateway);
  const { body } = await get('graph');
  const community = (id: string) => byId(body, id)!.community;
  expect(community('fs:read')).toBe(community('fs:write'));
  expect(community('mail:draft')).toBe(community('mail:send'));
  expect(new Set(['fs:read', 'mail:draft', 'idle:wait'].map(community)).size).toBe(3);
  expect(ranks(body)).toBeCloseTo(1, 9);
  expect(body.nodes.every(({ pagerank }: NodeView) => pagerank > 0)).toBe(true);
  expect((await get('path?from=fs:read&to=mail:send')).body).toMatchObject({ cost: null, nodes: [] });
  expect((await get('path?from=fs:write&to=fs:read')).body.cost).toBeNull();
  expect(JSON.parse((await pml('graph', 'export')).out)).toEqual(body);
  expect((await pml('graph', 'stats')).out).toMatch(/^5 tools, .* in 3 communities; 2 traces stored\n/);
});

test('[GRAPHUSE-11] the share of capabilities whose program shows the data flow', async () => {
  const flow = tool('read', () => 'text');
  const { gateway } = await testGateway({
    servers: [{ name: 'fs', tools: [flow, tool('write', () => 'ok')] }],
  });
  for (let i = 0; i < 2; i++) {
    await run(gateway, 'const text = await mcp.fs.read({}); return await mcp.fs.write({ text })');
    await run(gateway, 'await mcp.fs.read({}); return await mcp.fs.write({ text: "x" })');
  }
  const { pml } = await serve(gateway);
  expect(JSON.parse((await pml('graph', 'stats', '--json')).out).capabilities).toEqual({
    total: 2,
    with_provides: 1,
    share_with_provides: 0.5,
  });
  expect((await pml('graph', 'stats')).out).toContain('1 of 2 learned programs (50 %)');
});

test('[GRAPHUSE-16] /api/node returns one node: its inputs, its runs, its edges and related nodes', async () => {
  const { gateway } = await testGateway({ servers: [server('fs', 'read', 'write', 'stat')] });
  await run(
    gateway,
    'await mcp.fs.read({}); await mcp.fs.read({}); return await mcp.fs.write({})',
    'rewrite a file',
  );
  const { get } = await serve(gateway);
  const { status, body } = await get('node?id=fs__read');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    id: 'fs:read',
    kind: 'tool',
    label: 'read',
    server: 'fs',
    description: expect.any(String),
    input_schema: { type: 'object' },
    statistics: { runs: 1, calls: 2, failures: 0, repeats: 1, last_seen_at: expect.any(String) },
    trace_statistics: null,
    capability_rank: null,
    edges: [{ source: 'fs:read', target: 'fs:write', edge_type: 'sequence', observed_count: 1 }],
    related: [{ id: 'fs:write', relation: 'often_after', score: expect.any(Number) }],
  });
  expect(await get('node?id=fs:stat')).toMatchObject({
    body: { statistics: { runs: 0, last_seen_at: null }, capability_rank: null, edges: [], related: [] },
  });
  expect(await get('node?id=fs:wrote')).toMatchObject({
    status: 404,
    body: { error: { hint: expect.stringMatching(/fs:write/) } },
  });
  expect(await get('node')).toMatchObject({ status: 400 });
  // A second run makes it a capability of two tools: a walk between them spends half of its time at each.
  await run(
    gateway,
    'await mcp.fs.read({}); await mcp.fs.read({}); return await mcp.fs.write({})',
    'rewrite a file',
  );
  expect((await get('node?id=fs:read')).body).toMatchObject({ capability_rank: expect.closeTo(0.5, 6) });
  // Enough runs for the 17 statistics.
  for (let i = 0; i < 4; i++) {
    await run(
      gateway,
      'await mcp.fs.read({}); await mcp.fs.read({}); return await mcp.fs.write({})',
      'rewrite a file',
    );
  }
  const { trace_statistics } = (await get('node?id=fs:read')).body as { trace_statistics: object };
  expect(Object.keys(trace_statistics)).toHaveLength(17);
  expect(trace_statistics).toMatchObject({
    historical_success_rate: 1,
    usage_frequency: 1,
    'error_type_affinity.NOT_FOUND': 0.5,
  });
});

test('[GRAPHUSE-17] /api/graph?format= returns the files that "pml graph export" writes', async () => {
  const { gateway } = await testGateway({ servers: [server('fs', 'read', 'write')] });
  await run(gateway, 'await mcp.fs.read({}); return await mcp.fs.write({})');
  const { listener, token } = await startHttp({ api: createApi(gateway, { log: () => {} }) });
  onTestFinished(listener.close);
  const headers = { authorization: `Bearer ${token}` };
  for (const format of ['json', 'graphml', 'dot']) {
    const reply = await fetch(`${listener.url}/api/graph?format=${format}`, { headers });
    expect(reply.headers.get('content-disposition')).toBe(`attachment; filename="graph.${format}"`);
    const exported = await runCommand(['graph', 'export', '--format', format], {
      openGateway: async () => openedGateway(gateway),
    });
    expect(await reply.text()).toBe(exported.out);
  }
  expect((await fetch(`${listener.url}/api/graph?format=png`, { headers })).status).toBe(400);
});
