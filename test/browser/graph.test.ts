import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import type { Execution, Traces } from '../../src/surfaces/dashboard/shared/api-types.ts';
import { href } from '../../src/surfaces/dashboard/shared/routes.ts';
import { axe, type PageOptions, useDashboard } from '../support/browser.ts';
import { NARROW } from '../support/launch-browser.ts';
import { referenceServers } from '../support/mcp-reference-servers.ts';
import { drawn, drawnIds, openGraph, teachLookup, teachNotes, untilDrawn } from './graph-page.ts';

const HOSTILE = fileURLToPath(new URL('../fixtures/servers/hostile-server.ts', import.meta.url));
const PICTURE = '<img src=x onerror=alert("name")>';

const dashboard = useDashboard({
  servers: (folder) => ({
    ...referenceServers(folder),
    hostile: { command: process.execPath, args: [HOSTILE] },
  }),
});

const open = (query = '', options: PageOptions = {}) => openGraph(dashboard, query, options);

const choice = (page: Page, name: RegExp) => page.locator('.graph-legend').getByRole('checkbox', { name });

const isDim = async (page: Page, id: string) =>
  (await drawn(page, 'nodes')).find((node) => node.id === id)?.isDim;

let notes: Execution;
let capability: string;

beforeAll(async () => {
  ({ run: notes, capability } = await teachNotes(dashboard));
  // Seen once: it writes, so PML does not repeat it.
  const once =
    'await mcp.memory.create_relations({ relations: [] }); return await mcp.memory.open_nodes({ names: [] });';
  await dashboard.api('/execute', { code: once, intent: 'join nobody' });
  await teachLookup(dashboard, capability);
}, 240_000);

test('[DASH-20] seed AC9: the computed colour of an edge is that of its type, its line style that of its source', async () => {
  for (const theme of ['dark', 'light'] as const) {
    const page = await open('', { theme });
    // What was learned last may come after the page.
    const kindsDrawn = async () => {
      const all = await drawn(page, 'edges');
      return [...new Set(all.flatMap(({ type, origin }) => [type, origin]))];
    };
    await expect
      .poll(kindsDrawn)
      .toEqual(
        expect.arrayContaining(['contains', 'sequence', 'dependency', 'observed', 'inferred', 'template']),
      );
    const edges = await drawn(page, 'edges', 'line-color', 'line-style', 'width', 'line-outline-width');
    // #22c55e, #FFB86F and #f5f0ea, as the library computes them.
    const colours = {
      contains: 'rgb(34,197,94)',
      sequence: 'rgb(255,184,111)',
      dependency: 'rgb(245,240,234)',
    };
    for (const [type, colour] of Object.entries(colours)) {
      const own = edges.filter((edge) => edge.type === type);
      expect(new Set(own.map((edge) => edge['line-color'])), type).toEqual(new Set([colour]));
      // Pale lines have an outline where the ground is light.
      const outline = theme === 'light' ? '1px' : '0px';
      expect(new Set(own.map((edge) => edge['line-outline-width'])), type).toEqual(new Set([outline]));
    }
    expect(new Set(edges.map(({ origin }) => origin))).toEqual(new Set(['observed', 'inferred', 'template']));
    const lines = { observed: 'solid', inferred: 'dashed', template: 'dotted' };
    for (const { id, origin, ...edge } of edges)
      expect(edge['line-style'], id).toBe(lines[origin as keyof typeof lines]);
    const byWeight = edges.toSorted((a, b) => Number(a.weight) - Number(b.weight));
    const widths = byWeight.map(({ width }) => Number.parseFloat(String(width)));
    expect(widths).toEqual(widths.toSorted((a, b) => a - b));
    expect(widths.at(-1)).toBeGreaterThan(widths[0]!);
    const swatch = page.locator('.graph-choice', { hasText: 'sequence' }).locator('.edge-line');
    expect(await swatch.evaluate((line) => getComputedStyle(line).stroke)).toBe('rgb(255, 184, 111)');
  }
});

test('[DASH-21] the legend hides and shows types, sources, kinds and servers, and the address keeps that', async () => {
  // What is still being learned, both pages get.
  const [page, whole] = [await open(), await open()];
  await choice(page, /^sequence/).uncheck();
  await expect
    .poll(async () => (await drawn(page, 'edges')).some(({ type }) => type === 'sequence'))
    .toBe(false);
  await choice(page, /^template/).uncheck();
  await expect
    .poll(async () => (await drawn(page, 'edges')).some(({ origin }) => origin === 'template'))
    .toBe(false);
  await choice(page, /^memory/).uncheck();
  await choice(page, /^capabilities/).uncheck();
  await expect
    .poll(async () => (await drawnIds(page, 'nodes')).filter((id) => /^(?:memory|capability):/.test(id)))
    .toEqual([]);
  const { searchParams } = new URL(page.url());
  expect(searchParams.get('types')).not.toContain('sequence');
  expect(searchParams.get('sources')).toBe('inferred,observed');
  expect(searchParams.get('kinds')).toBe('tool');
  expect(searchParams.get('servers')).not.toContain('memory');

  await page.reload();
  await untilDrawn(page);
  expect(await choice(page, /^sequence/).isChecked()).toBe(false);
  expect((await drawnIds(page, 'nodes')).some((id) => id.startsWith('memory:'))).toBe(false);
  for (const name of [/^sequence/, /^template/, /^memory/, /^capabilities/]) await choice(page, name).check();
  await expect
    .poll(async () => isDeepStrictEqual(await drawnIds(page, 'edges'), await drawnIds(whole, 'edges')))
    .toBe(true);
  expect(new URL(page.url()).search).toBe('');
});

test('[DASH-22] operations appear on request, and unused tools can be hidden', async () => {
  const page = await open();
  expect((await drawnIds(page, 'nodes')).some((id) => id.startsWith('code:'))).toBe(false);
  await choice(page, /^operations/).check();
  await expect.poll(() => drawnIds(page, 'nodes')).toContain('code:map');
  expect(await drawnIds(page, 'nodes')).toContain('everything:echo');
  await choice(page, /^not used yet/).uncheck();
  await expect.poll(() => drawnIds(page, 'nodes')).not.toContain('everything:echo');
  expect(await drawnIds(page, 'nodes')).toContain('filesystem:read_text_file');
});

/** How much of the canvas below the drawing is painted at a node. */
function paintAt(page: Page, { x, y }: { x: number; y: number }): Promise<number> {
  return page.evaluate(
    ([left, top]) => {
      const canvas = document.querySelector<HTMLCanvasElement>('.graph-ground')!;
      return canvas.getContext('2d')!.getImageData(left * devicePixelRatio, top * devicePixelRatio, 1, 1)
        .data[3]!;
    },
    [x, y] as const,
  );
}

test('[DASH-23] a capability is a hull around what it uses, and one that calls another contains its hull', async () => {
  const page = await open('?lone=none');
  const inner = capability.replaceAll(/(?<=_)/g, '');
  /** Where the node is at this moment. */
  const paint = async (name: string) => {
    const all = await drawn(page, 'nodes');
    const node = all.find(({ label }) => String(label).replaceAll('\n', '') === name)!;
    return await paintAt(page, node.at as { x: number; y: number });
  };
  await expect.poll(() => paint('list_directory')).toBeGreaterThan(0);
  await expect.poll(() => paint(inner)).toBeGreaterThan(0);
  const outside = { x: 4, y: 4 };
  expect(await paintAt(page, outside)).toBe(0);
  // Within the inner one two are painted over each other, at what only the outer one uses there is one.
  await expect.poll(() => paint('search_nodes')).toBeGreaterThan(0);
  await expect.poll(async () => (await paint('list_directory')) > (await paint('search_nodes'))).toBe(true);
  await choice(page, /^capabilities/).uncheck();
  await expect.poll(() => paint('list_directory')).toBe(0);
});

test('[DASH-24] [DASH-32] communities, spectral clusters and servers are drawn in the background, each at its own address', async () => {
  const page = await open('?lone=none&kinds=tool');
  const painted = () =>
    page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('.graph-ground')!;
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      return data.filter((value, i) => i % 4 === 3 && value > 0).length;
    });
  await expect.poll(painted).toBe(0);
  for (const [name, title] of [
    ['louvain', 'Communities (Louvain)'],
    ['spectral', 'Clusters (spectral)'],
    ['server', 'Servers'],
  ] as const) {
    await page.getByLabel('Background').selectOption({ label: title });
    await page.waitForURL(({ searchParams }) => searchParams.get('clusters') === name);
    await expect.poll(painted, { message: name }).toBeGreaterThan(1_000);
  }
  await page.getByLabel('Background').selectOption('none');
  await expect.poll(painted).toBe(0);
});

test('[DASH-96] all calls of a tool in a run are one node, which links to each call', async () => {
  const page = await open(href.graph({ run: notes.trace_id! }).slice('/graph'.length));
  const eachCall = await drawnIds(page, 'nodes');
  expect(eachCall).toContain('filesystem:read_text_file#1');
  const byTool = page.getByRole('button', { name: 'By tool' });
  await byTool.focus();
  await page.keyboard.press('Enter');
  await expect
    .poll(() => drawnIds(page, 'nodes'))
    .toEqual([...new Set(eachCall.map((id) => id.replace(/#\d+$/, '')))].sort());
  expect(await byTool.getAttribute('aria-pressed')).toBe('true');
  expect(new URL(page.url()).searchParams.get('calls')).toBe('together');
  await page.getByRole('link', { name: /read_text_file ×2/ }).click();
  const details = page.locator('.graph-details');
  await details.getByText('Calls, slowest first').waitFor();
  expect(await axe(page)).toEqual([]);
  await details.getByRole('link', { name: 'filesystem:read_text_file#1' }).click();
  await expect.poll(() => drawnIds(page, 'nodes')).toEqual(eachCall);
  await details.getByRole('heading', { name: 'Result' }).waitFor();
});

test('[DASH-25] a run is drawn call by call: repeats, parallel calls side by side, and the calls of a capability', async () => {
  // Long enough to overlap however busy the machine is.
  const wait = `mcp.everything['trigger-long-running-operation']({ duration: 1, steps: 1 })`;
  const code = `
    await mcp.filesystem.list_directory({ path: ${JSON.stringify(dashboard.folder)} });
    return await Promise.all([${wait}, ${wait}]);`;
  const atOnce = await dashboard.api<Execution>('/execute', { code, intent: 'wait twice at once' });
  const page = await open(href.graph({ run: atOnce.trace_id! }).slice('/graph'.length));
  const nodes = new Map((await drawn(page, 'nodes')).map((node) => [node.id, node]));
  const waited = 'everything:trigger-long-running-operation';
  expect([...nodes.keys()].sort()).toEqual([`${waited}#0`, `${waited}#1`, 'filesystem:list_directory#0']);
  const at = (id: string) => nodes.get(id)!.at as { x: number; y: number };
  const [first, second, list] = [...nodes.keys()].sort().map(at);
  expect(first!.y).toBeCloseTo(second!.y, 3);
  expect(Math.abs(first!.x - second!.x)).toBeGreaterThan(50);
  expect(first!.y).toBeGreaterThan(list!.y);
  const edges = (await drawn(page, 'edges')).map(({ id }) => id);
  expect(edges).toContain(`filesystem:list_directory#0 sequence ${waited}#1`);
  expect(edges).not.toContain(`${waited}#0 sequence ${waited}#1`);
  await page.getByRole('link', { name: /trigger-long-running-operation #2/ }).click();
  await page.getByRole('heading', { name: 'At the same time' }).waitFor();
  await page.getByRole('link', { name: `${waited}#0` }).click();
  await page.getByRole('link', { name: `${waited}#1` }).waitFor();

  await page.getByRole('button', { name: 'Definition' }).click();
  await expect.poll(() => drawnIds(page, 'nodes')).toContain('filesystem:read_text_file');
  await page.getByRole('button', { name: 'Invocation' }).click();
  const newest = async () => (await dashboard.api<Traces>('/traces')).traces[0]!.executed_path;
  await expect
    .poll(async () => {
      const called = new Set((await drawnIds(page, 'nodes')).map((id) => id.replace(/#\d+$/, '')));
      return called.symmetricDifference(new Set((await newest()).filter((node) => !node.startsWith('code:'))))
        .size;
    })
    .toBe(0);
  const { traces } = await dashboard.api<Traces>('/traces');
  await page.getByLabel('Run', { exact: true }).selectOption(notes.trace_id!);
  await expect.poll(() => new URL(page.url()).searchParams.get('run')).toBe(notes.trace_id);
  await page
    .getByLabel('Run', { exact: true })
    .selectOption(traces.find(({ intent_text }) => /look/.test(intent_text ?? ''))!.id);
  await expect
    .poll(async () => (await drawn(page, 'edges')).filter(({ type }) => type === 'contains').length)
    .toBe(3);
  await page.getByRole('link', { name: /read_text_file #2/ }).click();
  await page.getByText('b.md').first().waitFor();
  expect(await axe(page)).toEqual([]);
});

test('[DASH-26] the path finder marks the path and explains each step; it says when there is no path or no such node', async () => {
  const page = await open('', { expected: /404/ });
  await page.getByRole('tab', { name: 'Path' }).click();
  await page.getByLabel('From').fill('filesystem:list_directory');
  await page.getByLabel('To', { exact: true }).fill('filesystem:read_text_file');
  await page.getByRole('button', { name: 'Find path' }).click();
  await page.getByText(/filesystem:list_directory .* filesystem:read_text_file, seen in \d+ runs/).waitFor();
  await expect
    .poll(async () => (await drawn(page, 'edges')).filter(({ isOnPath }) => isOnPath).map(({ id }) => id))
    .toEqual([expect.stringMatching(/^filesystem:list_directory \w+ filesystem:read_text_file$/)]);
  await expect.poll(() => isDim(page, 'everything:echo')).toBe(true);
  const { searchParams } = new URL(page.url());
  expect(searchParams.get('from')).toBe('filesystem:list_directory');

  await page.getByLabel('From').fill('filesystem:list_directory, filesystem:read_text_file');
  await page.getByLabel('To', { exact: true }).fill(capability);
  await page.getByRole('button', { name: 'Find path' }).click();
  await page
    .getByText(new RegExp(`^${capability} is done once filesystem:\\w+ and filesystem:\\w+ are$`))
    .waitFor();

  await page.goto(`${dashboard.url}${href.graph({ from: 'everything:echo', to: 'memory:read_graph' })}`);
  await page.getByText('No path leads from everything:echo to memory:read_graph').waitFor();
  await page.getByLabel('To', { exact: true }).fill('memory:read_grap');
  await page.getByRole('button', { name: 'Find path' }).click();
  await page.getByText('Did you mean memory:read_graph?').waitFor();
  expect(await axe(page)).toEqual([]);
});

test('[DASH-27] the details of a node: schema, figures, edges with counts, related nodes', async () => {
  const page = await open(href.graph({ node: 'filesystem:read_text_file' }).slice('/graph'.length));
  const panel = page.getByRole('tabpanel');
  await panel.getByRole('heading', { name: 'read_text_file' }).waitFor();
  await panel.getByText('sequence, observed · ').first().waitFor();
  await expect
    .poll(() => panel.locator('.graph-figures').textContent())
    .toMatch(/^Runs\d+Calls\d+Success100%Repeats\d+$/);
  await panel.getByText('"path"').first().waitFor();
  await panel.getByText(/^Importance to capabilities: [\d.]+%/).waitFor();
  await panel.getByText(/^Importance in the graph: [\d.]+%, place \d+ of \d+ \(PageRank\)/).waitFor();
  await panel.getByRole('link', { name: /^community \d+$/ }).click();
  await expect.poll(() => new URL(page.url()).searchParams.get('clusters')).toBe('louvain');
  await panel.getByText('What predicts its success').click();
  const predictors = panel.getByRole('table', { name: 'What predicts its success' });
  await expect.poll(() => predictors.getByRole('row').count()).toBe(17);
  expect(await predictors.textContent()).not.toContain('_');
  await panel.getByRole('heading', { name: 'Related' }).waitFor();
  await panel.locator('.graph-related').getByRole('link', { name: 'filesystem:list_directory' }).click();
  await panel.getByRole('heading', { name: 'list_directory', level: 2 }).waitFor();
  expect(new URL(page.url()).searchParams.get('node')).toBe('filesystem:list_directory');
  await page.goBack();
  await panel.getByRole('heading', { name: 'read_text_file' }).waitFor();
  expect(await axe(page)).toEqual([]);
});

test('[DASH-29] a node is found by name and viewed by keyboard alone', async () => {
  const page = await open();
  await page.locator('body').press('/');
  await page.locator('input:focus').waitFor();
  await page.keyboard.type('text_file');
  const links = page.getByRole('list', { name: 'Nodes' }).getByRole('link');
  await expect.poll(() => links.count()).toBe(1);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'read_text_file', level: 2 }).waitFor();
  await expect.poll(() => isDim(page, 'everything:echo')).toBe(true);

  await page.getByLabel('Find a node').fill('memory');
  await page.getByLabel('Find a node').press('ArrowDown');
  const focused = () => page.evaluate(() => document.activeElement?.textContent);
  await expect.poll(focused).toContain('memory');
  const first = await focused();
  await page.keyboard.press('ArrowDown');
  await expect.poll(focused).not.toBe(first);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await expect.poll(() => new URL(page.url()).searchParams.get('node')).toMatch(/^memory:/);
});

test('[DASH-31] hostile names are text in the drawing, in the list and in the details', async () => {
  const page = await open(href.graph({ node: `hostile:${PICTURE}` }).slice('/graph'.length));
  await page.getByRole('heading', { name: PICTURE }).waitFor();
  const label = (await drawn(page, 'nodes')).find(({ id }) => id === `hostile:${PICTURE}`)?.label;
  expect(String(label).replaceAll('\n', '')).toBe(PICTURE);
  await page.getByRole('tab', { name: 'Nodes' }).click();
  await page.getByRole('link', { name: PICTURE }).waitFor();
  expect(await page.locator('img[src="x"]').count()).toBe(0);
});

test('[DASH-32] everything works on a narrow screen and a light background, without serious accessibility violations', async () => {
  const page = await open('?clusters=louvain', { size: NARROW, theme: 'light' });
  await page.getByText('Legend and filter').click();
  await choice(page, /^provides/).uncheck();
  expect(await axe(page)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  await page.getByRole('link', { name: 'read_text_file' }).click();
  await page.getByRole('heading', { name: 'read_text_file', level: 2 }).waitFor();
  expect(await axe(page)).toEqual([]);
});
