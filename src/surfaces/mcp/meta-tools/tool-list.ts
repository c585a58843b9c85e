import type { ErrorShape } from '../../../core/vocabulary/pml-error.ts';
import { nearestName } from '../../../engine/catalogue/catalogue.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import type { AnyOperation } from '../../../operations/operation.ts';
import { presentExecute } from './execute.ts';
import { presentExecuteWorkflow } from './execute-workflow.ts';
import { type MetaTool, metaTool, type Present } from './meta-tool.ts';
import { presentSearch, presentSuggestion } from './search-tools.ts';

/** By operation. */
const PRESENT: Readonly<Record<string, Present<never>>> = {
  search_tools: presentSearch,
  suggest: presentSuggestion,
  execute: presentExecute,
  execute_workflow: presentExecuteWorkflow,
};

export interface ToolList {
  /** The same object on every call, so that prompts stay cached: it depends on nothing that is attached or learned. */
  readonly listed: JsonObject;
  /** `pml_search_tools`; `pml:search_tools`, `pml.search_tools` and `search_tools` are taken as well. */
  find(name: string): MetaTool | null;
  unknown(name: string): ErrorShape;
}

/** The operations that are tools, in the order of the table. */
export function toolList(operations: readonly AnyOperation[]): ToolList {
  const tools = operations.flatMap((operation) =>
    operation.mcp ? [metaTool(operation, operation.mcp, PRESENT[operation.name])] : [],
  );
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    listed: { tools: tools.map(({ listed }) => listed) },
    find(name) {
      const plain = name.trim().replace(/[:./]/g, '_');
      return byName.get(plain) ?? byName.get(`pml_${plain}`) ?? null;
    },
    unknown: (name) => unknownTool(name, [...byName.keys()]),
  };
}

function unknownTool(name: string, names: readonly string[]): ErrorShape {
  const nearest = nearestName(name, names);
  return {
    code: 'not_found',
    message: `Unknown tool "${name}"${nearest === null ? '' : `; the nearest is ${nearest}`}`,
    hint: `A tool of an attached server runs through pml_execute: {"tool": "${name}", "arguments": {…}}.`,
  };
}
