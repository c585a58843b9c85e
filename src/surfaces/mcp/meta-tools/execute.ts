import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { ExecuteArguments } from '../../../operations/execute.ts';
import { executeAsPlan, executeIntent } from './execute-as-plan.ts';
import { executeCapability, executeCode } from './execute-code.ts';
import { executeOneTool } from './execute-one-tool.ts';
import type { Present } from './meta-tool.ts';
import { isReadResult, readResult } from './read-result.ts';

export const presentExecute: Present<ExecuteArguments> = async (args, shop, request) => {
  const { tool, code, capability, intent } = args;
  const bodies = Object.entries({ tool, code, capability }).filter(([, body]) => body !== undefined);
  if (bodies.length > 1) throw choice(`not ${bodies.map(([name]) => name).join(' and ')} together`);
  const rest = {
    arguments: args.arguments ?? {},
    ...(intent !== undefined && { intent }),
    ...(args.timeout_ms !== undefined && { timeoutMs: args.timeout_ms }),
  };
  if (code !== undefined) {
    const run = args.as_plan ? executeAsPlan : executeCode;
    return await run({ code, ...rest }, shop, request.caller);
  }
  if (capability !== undefined) return await executeCapability({ capability, ...rest }, shop, request.caller);
  if (tool === undefined) {
    if (intent === undefined) throw choice('none is there');
    return await executeIntent({ intent, arguments: rest.arguments }, shop, request.caller);
  }
  if (isReadResult(tool)) return readResult(args.arguments, shop);
  return await executeOneTool({ tool, ...rest }, shop, request);
};

function choice(problem: string): PmlError {
  return new PmlError(
    'invalid_argument',
    `pml_execute runs one of tool, code, capability or intent: ${problem}`,
    {
      hint: 'For example {"tool": "filesystem:read_file", "arguments": {"path": "/tmp/a.txt"}}.',
    },
  );
}
