import type { ErrorShape } from '../../../core/vocabulary/pml-error.ts';
import { nearestName } from '../../../engine/catalogue/catalogue.ts';
import { execute } from './execute.ts';
import { executeWorkflow } from './execute-workflow.ts';
import type { MetaTool } from './meta-tool.ts';
import { searchCapabilities } from './search-capabilities.ts';
import { searchTools } from './search-tools.ts';
import { suggest } from './suggest.ts';

const DEFAULTS = {
  /** Bytes of the list; with what surrounds it the whole reply stays within 8 KB. */
  bytes: 7_600,
};

/** In the order clients see them; the same on every call, so that prompts stay cached. */
const TOOLS: readonly MetaTool[] = [searchTools, searchCapabilities, suggest, execute, executeWorkflow];
const BY_NAME = new Map(TOOLS.map((tool) => [tool.name, tool]));

/** `pml_search_tools`; `pml:search_tools`, `pml.search_tools` and `search_tools` are taken as well. */
export function findTool(name: string): MetaTool | null {
  const plain = name.trim().replace(/[:./]/g, '_');
  return BY_NAME.get(plain) ?? BY_NAME.get(`pml_${plain}`) ?? null;
}

export function unknownTool(name: string): ErrorShape {
  const nearest = nearestName(name, [...BY_NAME.keys()]);
  return {
    code: 'not_found',
    message: `There is no tool "${name}" here${nearest === null ? '' : `; the nearest is ${nearest}`}`,
    hint: `A tool of an attached server runs through pml_execute: {"tool": "${name}", "arguments": {…}}.`,
  };
}

/** The list with the inventory in every description, cut where it would make the list too long. */
export function listTools(inventory: string): readonly object[] {
  const without = Buffer.byteLength(JSON.stringify(described('')));
  const room = Math.floor((DEFAULTS.bytes - without) / TOOLS.length);
  return described(shortened(inventory, room));
}

function described(line: string): readonly object[] {
  return TOOLS.map(({ name, title, description, inputSchema, annotations }) => ({
    name,
    title,
    description: line === '' ? description : `${description} Attached: ${line}`,
    inputSchema,
    annotations,
  }));
}

function shortened(line: string, bytes: number): string {
  const flat = line.replace(/\s+/g, ' ').trim();
  const room = bytes - ' Attached: '.length;
  if (escapedBytes(flat) <= room) return flat;
  const words = flat.split(' ');
  while (words.length > 1 && escapedBytes(words.join(' ')) > room - 4) words.pop();
  return `${words.join(' ').replace(/[,;:]$/, '')} …`;
}

/** As it counts in JSON. */
function escapedBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}
