import { classifyError } from '../../core/tracing/recorder.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { callTool } from '../calls/call-tool.ts';
import { toolText, toolValue } from '../calls/tool-value.ts';
import { createGrants } from '../code/grants.ts';
import type { Attempt, AttemptOptions } from './attempt.ts';
import type { RunDriver, Step } from './run-driver.ts';
import { runProgram } from './run-program.ts';

export async function attemptStep(driver: RunDriver, step: Step, options: AttemptOptions): Promise<Attempt> {
  const { task } = step;
  return task.tool === undefined
    ? await runProgram(driver, step, options)
    : await attemptTool(driver, step, task.tool, options);
}

async function attemptTool(
  { scope, run, caller, onAsk, ahead }: RunDriver,
  step: Step,
  tool: string,
  { arguments: args, grants, begin }: AttemptOptions,
): Promise<Attempt> {
  const { task } = step;
  const call = {
    tool,
    arguments: args,
    ...(task.timeoutMs !== undefined && { timeoutMs: task.timeoutMs }),
  };
  const entry = await scope.findTool(call).catch((error: unknown) => PmlError.from(error));
  if (entry instanceof PmlError) return { kind: 'failed', error: entry.toShape(), errorType: 'NOT_FOUND' };
  const callScope = {
    ...scope,
    runId: run.runId,
    recorder: run.recorder,
    parent: null,
    caller,
    grants: createGrants(grants),
    beforeCall: begin,
    madeAhead: ahead()?.take(step, args) ?? null,
    whileAsking() {
      onAsk();
      return () => {};
    },
  };
  const outcome = await callTool(callScope, entry, call);
  switch (outcome.kind) {
    case 'ran': {
      if (outcome.result.isError !== true) return { kind: 'done', value: toolValue(outcome.result) };
      const message = toolText(outcome.result) || 'The tool failed';
      return { kind: 'failed', error: { code: 'tool_failed', message }, errorType: classifyError(message) };
    }
    case 'failed': {
      const { code, message, hint, errorType } = outcome.error;
      return { kind: 'failed', error: { code, message, ...(hint !== undefined && { hint }) }, errorType };
    }
    case 'refused':
      return { kind: 'failed', error: outcome.error, errorType: 'PERMISSION' };
    case 'waiting':
      return outcome;
  }
}
