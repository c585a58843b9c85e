import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, vi } from 'vitest';
import type { Capabilities, Execution, Graph } from '../../src/surfaces/dashboard/shared/api-types.ts';
import type { Dashboard, PageOptions } from '../support/browser.ts';

/** What the page's own cytoscape says of an element: the library keeps itself at its container. */
export interface Drawn {
  readonly id: string;
  readonly [property: string]: unknown;
}

export function drawn(page: Page, what: 'nodes' | 'edges', ...properties: string[]): Promise<Drawn[]> {
  return page.evaluate(
    ([kind, names]) => {
      interface Element {
        id(): string;
        data(name: string): unknown;
        style(name: string): unknown;
        position?(): { x: number; y: number };
        renderedPosition?(): { x: number; y: number };
        hasClass(name: string): boolean;
      }
      type Host = HTMLElement & {
        _cyreg?: { cy: { [kind: string]: () => { map<T>(each: (element: Element) => T): T[] } } };
      };
      const { cy } = document.querySelector<Host>('.graph-host')!._cyreg!;
      return cy[kind]!().map((element) => ({
        id: element.id(),
        at: element.renderedPosition?.(),
        place: { ...element.position?.() },
        isDim: element.hasClass('dim'),
        isOnPath: element.hasClass('path'),
        label: element.data('label'),
        type: element.data('type'),
        origin: element.data('origin'),
        weight: element.data('weight'),
        ...Object.fromEntries(names.map((name) => [name, element.style(name)])),
      }));
    },
    [what, properties] as const,
  );
}

export const drawnIds = async (page: Page, what: 'nodes' | 'edges') =>
  (await drawn(page, what)).map(({ id }) => id).sort();

export async function untilDrawn(page: Page): Promise<void> {
  await page.locator('.graph-host canvas').first().waitFor({ state: 'attached' });
  await expect.poll(() => drawnIds(page, 'nodes')).not.toEqual([]);
}

export async function openGraph(dashboard: Dashboard, query = '', options: PageOptions = {}): Promise<Page> {
  const page = await dashboard.open(`/graph${query}`, options);
  await untilDrawn(page);
  return page;
}

/** Two notes are read three times over, each time first listed. The last run, and the capability it taught. */
export async function teachNotes(dashboard: Dashboard): Promise<{ run: Execution; capability: string }> {
  for (const name of ['a.md', 'b.md']) await writeFile(join(dashboard.folder, name), `# ${name}\n`);
  const folder = JSON.stringify(dashboard.folder);
  const code = `
    await mcp.filesystem.list_directory({ path: ${folder} });
    const texts = await Promise.all(['a.md', 'b.md'].map((name) =>
      mcp.filesystem.read_text_file({ path: ${folder} + '/' + name })));
    return texts.length;`;
  const runs: Execution[] = [];
  for (let nth = 0; nth < 3; nth++) {
    runs.push(await dashboard.api<Execution>('/execute', { code, intent: 'read both notes' }));
  }
  const capability = await untilLearned(async () => {
    const { capabilities } = await dashboard.api<Capabilities>('/capabilities');
    return capabilities.find(({ slug, state }) => state === 'active' && slug.includes('notes'))?.slug;
  });
  return { run: runs.at(-1)!, capability };
}

/** A second capability, which calls the first. */
export async function teachLookup(dashboard: Dashboard, capability: string): Promise<void> {
  const code = `
    await capabilities.${capability}({});
    return await mcp.memory.search_nodes({ query: 'notes' });`;
  for (let nth = 0; nth < 2; nth++) {
    await dashboard.api('/execute', { code, intent: 'look the notes up' });
  }
  await untilLearned(async () => {
    const { nodes } = await dashboard.api<Graph>('/graph');
    return nodes.filter(({ kind }) => kind === 'capability').length === 2 || undefined;
  });
}

/** What is learned comes after the answer. */
function untilLearned<T>(look: () => Promise<T | undefined>): Promise<T> {
  return vi.waitFor(
    async () => {
      const found = await look();
      if (found === undefined) throw new Error('It was not learned');
      return found;
    },
    { timeout: 60_000, interval: 100 },
  );
}
