/** How many planted poisonings are found, and how many definitions of real servers are marked. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lookAlikes, scanText, scanTool, scanValue } from '../src/core/policy/scan-text.ts';
import type { ToolDefinition } from '../src/core/vocabulary/tool-definition.ts';
import { readJsonLines } from '../src/evaluation/data-set.ts';
import type { BenchReport } from './run.ts';

const PLANTED = fileURLToPath(new URL('../test/fixtures/poisoned/poisonings.json', import.meta.url));
/** Orders in free words: how little patterns know of meaning. */
const FREE = fileURLToPath(new URL('../test/fixtures/poisoned/free-words.json', import.meta.url));

interface Planted {
  readonly kind: string;
  readonly tool?: ToolDefinition;
  readonly servers?: string[];
  readonly output?: unknown;
  readonly instructions?: string;
}

export async function bench(): Promise<BenchReport> {
  const planted = JSON.parse(await readFile(PLANTED, 'utf8')) as Planted[];
  const found = planted.filter(isFound).length;
  const free = JSON.parse(await readFile(FREE, 'utf8')) as string[];
  const rows = [
    { label: `planted texts found, of ${planted.length}`, value: found, unit: '', goal: '>= 40' },
    {
      label: `in free words, of ${free.length}`,
      value: free.filter((text) => scanText(text)).length,
      unit: '',
    },
  ];
  const folder = process.env.PML_BENCH_DATA;
  if (!folder)
    return {
      name: 'poison',
      rows,
      below: 'For real definitions, name the folder of the data sets with --data DIR.',
    };
  const tools = (await readJsonLines(join(folder, 'toucan', 'tools.jsonl.gz'))) as ToolDefinition[];
  const begin = performance.now();
  const marked = tools.filter(
    (tool) => scanTool({ ...tool, inputSchema: tool.inputSchema ?? {} }).length > 0,
  );
  const ms = performance.now() - begin;
  const alike = [
    ...lookAlikes(
      tools.map(({ server }) => server.replace(/[^A-Za-z0-9_.-]/g, '_')),
      true,
    ),
    ...lookAlikes(
      tools.map(({ name }) => name),
      false,
    ),
  ];
  const share = (100 * marked.length) / tools.length;
  return {
    name: 'poison',
    rows: [
      ...rows,
      { label: `of ${tools.length} real definitions, marked`, value: share, unit: '%', goal: '<= 2 %' },
      { label: 'names of these that look like another', value: alike.length, unit: '' },
      { label: 'one definition', value: ms / tools.length, unit: 'ms' },
    ],
    below: [...marked.map(({ id }) => id), ...alike.map(([name, like]) => `${name}, like ${like}`)].join(
      '\n',
    ),
  };
}

function isFound({ kind, tool, servers, output, instructions }: Planted): boolean {
  if (servers) return lookAlikes(servers, true).size > 0;
  const marks = tool ? scanTool(tool) : scanValue(output ?? instructions);
  return marks.some((mark) => mark.kind === kind);
}
