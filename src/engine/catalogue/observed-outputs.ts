import { inferSchema, mergeSchemas } from '../../core/capabilities/infer-schema.ts';
import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import { kindOf, type ToolId } from '../../core/vocabulary/ids.ts';
import { isEnd } from '../../core/vocabulary/trace-event.ts';
import type { Store } from '../ports.ts';

/** What tools have given so far, as JSON schemas: most declare no output of their own. */
export interface ObservedOutputs {
  of(tool: ToolId): unknown;
  learn(trace: ExecutionTrace): Promise<void>;
  /** Reads again what the store has: another gateway saw something. */
  refresh(): Promise<void>;
}

export async function openObservedOutputs({ tools }: Pick<Store, 'tools'>): Promise<ObservedOutputs> {
  let known = await tools.observedOutputs();
  return {
    of: (tool) => known.get(tool),
    async refresh() {
      known = await tools.observedOutputs();
    },
    async learn({ events, visibility }) {
      // The names of fields can be somebody's own data, and what is learned here is told to all.
      if (visibility === 'private') return;
      const changed = new Map<ToolId, unknown>();
      for (const event of events) {
        if (!isEnd(event) || !event.success || event.result === undefined || kindOf(event.node) !== 'tool')
          continue;
        const tool = event.node as ToolId;
        const before = known.get(tool);
        const seen = inferSchema(event.result);
        const after = before === undefined ? seen : mergeSchemas(before, seen);
        if (JSON.stringify(after) === JSON.stringify(before)) continue;
        known.set(tool, after);
        changed.set(tool, after);
      }
      if (changed.size > 0) await tools.observeOutputs(changed);
    },
  };
}
