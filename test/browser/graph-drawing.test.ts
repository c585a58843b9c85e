import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { MultiDirectedGraph } from 'graphology';
import { parse as parseGraphml } from 'graphology-graphml';
import { beforeAll, expect, test } from 'vitest';
import type { Graph } from '../../src/surfaces/dashboard/shared/api-types.ts';
import { axe, useDashboard } from '../support/browser.ts';
import { NARROW } from '../support/launch-browser.ts';
import { runPml } from '../support/run-pml.ts';
import { drawn, drawnIds, openGraph, teachLookup, teachNotes, untilDrawn } from './graph-page.ts';

const dashboard = useDashboard();

beforeAll(async () => {
  const { capability } = await teachNotes(dashboard);
  await teachLookup(dashboard, capability);
}, 240_000);

test('[DASH-28] exports: a picture with hulls, and the files that the command line writes', async () => {
  const page = await openGraph(dashboard);
  const saved = async (title: string) => {
    await page.getByRole('button', { name: 'Export' }).click();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: title }).click(),
    ]);
    return { name: file.suggestedFilename(), content: await readFile(await file.path()) };
  };
  const graph = () => dashboard.api<Graph>('/graph');
  // What is still being learned may come between a file and the graph that it is compared with.
  await expect
    .poll(async () => {
      const { name, content } = await saved('Whole graph (JSON)');
      return { name, isSame: isDeepStrictEqual(JSON.parse(content.toString()), await graph()) };
    })
    .toEqual({ name: 'graph.json', isSame: true });
  await expect
    .poll(async () => {
      const { content } = await saved('Whole graph (GraphML)');
      const { order, size } = parseGraphml(MultiDirectedGraph, content.toString());
      const { nodes, edges } = await graph();
      return [order - nodes.length, size - edges.length];
    })
    .toEqual([0, 0]);
  const picture = await saved('Picture (PNG)');
  expect(picture.name).toBe('graph.png');
  expect(picture.content.subarray(1, 4).toString()).toBe('PNG');
  const colours = await page.evaluate(async (base64) => {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.fromBase64(base64)]));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const context = canvas.getContext('2d')!;
    context.drawImage(bitmap, 0, 0);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    let isGreen = false;
    let painted = 0;
    for (let i = 0; i < data.length; i += 4) {
      const [red, green, blue] = data.subarray(i, i + 3);
      isGreen ||= Math.abs(red! - 34) < 12 && Math.abs(green! - 190) < 20 && Math.abs(blue! - 90) < 16;
      if (red !== data[0]) painted++;
    }
    return { corner: [...data.subarray(0, 3)], isGreen, share: (4 * painted) / data.length };
  }, picture.content.toString('base64'));
  // The ground of the dark theme, the green of an edge, and hulls, which cover more than lines do.
  const { share, ...seen } = colours;
  expect(seen).toEqual({ corner: [19, 17, 16], isGreen: true });
  expect(share).toBeGreaterThan(0.05);
});

test('[DASH-30] a worker computes the layout, and nodes stay in place when something is learned or loaded', async () => {
  const page = await dashboard.open('/');
  const [worker] = await Promise.all([
    page.waitForEvent('worker'),
    page.getByRole('link', { name: 'Graph', exact: true }).click(),
  ]);
  expect(worker.url()).toContain('layout-worker');
  await untilDrawn(page);
  const places = async () =>
    new Map(
      (await drawn(page, 'nodes')).map(({ id, place }) => [id, place as { x: number; y: number }] as const),
    );
  const before = await places();
  await dashboard.api('/execute', {
    code: "await mcp.memory.read_graph({}); return await mcp.memory.search_nodes({ query: 'x' })",
    intent: 'read all there is',
  });
  await expect
    .poll(() => drawnIds(page, 'edges'))
    .toContain('memory:read_graph sequence memory:search_nodes');
  const after = await places();
  for (const [id, place] of before) if (id !== 'memory:read_graph') expect(after.get(id), id).toEqual(place);
  await page.reload();
  await untilDrawn(page);
  const again = await places();
  for (const [id, { x, y }] of after) {
    expect(Math.abs(again.get(id)!.x - x), id).toBeLessThanOrEqual(0.5);
    expect(Math.abs(again.get(id)!.y - y), id).toBeLessThanOrEqual(0.5);
  }
});

// Last: the runs that it imports fill the graph.
test('[DASH-95] with very many edges, those of the selected node are in front, and the most central nodes are named', async () => {
  const tools = Array.from({ length: 43 }, (_, i) => `crowd:tool_${i}`);
  // Each run has steps of another length, so that it teaches other edges.
  const lines = Array.from({ length: 40 }, (_, run) => {
    const path = tools.map((_, i) => tools[(i * (run + 1)) % tools.length]!);
    const events = path.flatMap((node, i) => {
      const call = { trace_id: `${i}`, parent_trace_id: null, node };
      return [
        { ...call, type: 'tool_start', ts: 10 * i },
        { ...call, type: 'tool_end', ts: 10 * i + 1, success: true, duration_ms: 1 },
      ];
    });
    const trace = { executed_at: '2026-11-15T10:00:00Z', success: true, duration_ms: 500, events };
    return JSON.stringify({ id: `crowd-${run}`, run_id: `crowd-${run}`, ...trace });
  });
  const file = join(dashboard.folder, 'crowd.jsonl');
  await writeFile(file, `${lines.join('\n')}\n`);
  expect(await runPml(['trace', 'import', file, '--data', dashboard.data])).toMatchObject({ code: 0 });
  const patience = { timeout: 60_000 };
  await expect
    .poll(async () => (await dashboard.api<Graph>('/graph')).edges.length, patience)
    .toBeGreaterThan(1_200);

  const page = await openGraph(dashboard, '', { size: NARROW });
  const isPainted = (selector: string) =>
    page.evaluate((selected) => {
      const canvas = document.querySelector<HTMLCanvasElement>(selected)!;
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      return data.some((value) => value > 0);
    }, selector);
  expect(await drawnIds(page, 'edges')).toEqual([]);
  await expect.poll(() => isPainted('.graph-ground'), patience).toBe(true);
  await expect.poll(() => isPainted('.graph-names'), patience).toBe(true);
  expect(await axe(page)).toEqual([]);

  await page.goto(`${dashboard.url}/graph?node=crowd:tool_0`);
  await untilDrawn(page);
  await expect
    .poll(async () => {
      const { edges } = await dashboard.api<Graph>('/graph');
      const own = edges.filter(({ source, target }) => [source, target].includes('crowd:tool_0'));
      const wanted = own.map(({ source, edge_type, target }) => `${source} ${edge_type} ${target}`).sort();
      return wanted.length > 0 && isDeepStrictEqual(await drawnIds(page, 'edges'), wanted);
    }, patience)
    .toBe(true);
});
