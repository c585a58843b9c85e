import type { Plan } from '../../src/core/vocabulary/plan.ts';
import type { Gateway } from '../../src/engine/gateway.ts';
import type { JsonObject, Settings, Store } from '../../src/engine/ports.ts';
import { createMemoryStore } from '../memory/store.ts';
import { settingsFor } from './settings-for.ts';
import { testGateway, tool } from './test-gateway.ts';
import { type LooseTask, planOf } from './workflow-plan.ts';

export const AGENT = { sessionId: 'agent-1' };

const { permissions } = settingsFor([]);
/** Writing asks for approval; the run does not wait for it. */
export const ASKING: Partial<Settings> = {
  permissions: { ...permissions, ask: ['disk:write'], approvalWaitMs: 1 },
};

/** A gateway with a disk to read and write, and a record of the writes; reads that are held wait to be let go. */
export async function office(
  store: Store = createMemoryStore(),
  settings: Partial<Settings> = ASKING,
  held = Promise.withResolvers<void>(),
) {
  const done: JsonObject[] = [];
  const writes = tool('write', (args) => {
    done.push(args);
    return { written: args.path };
  });
  const reads = tool(
    'read',
    async ({ path, isHeld }) => {
      if (isHeld === true) await held.promise;
      return { text: `of ${path}` };
    },
    { annotations: { readOnlyHint: true } },
  );
  const servers = [{ name: 'disk', tools: [writes, reads] }];
  const { gateway } = await testGateway({ servers, settings, store });
  const run = (tasks: readonly LooseTask[], over: Partial<Plan> = {}) =>
    gateway.executeWorkflow(planOf(tasks, over), 'tidy up', AGENT);
  return { gateway, store, done, run, letGo: held.resolve };
}

export function write(id: string, path: string, more: Partial<LooseTask> = {}): LooseTask {
  return { id, tool: 'disk:write', arguments: { path }, ...more };
}

export function read(id: string, path: string, more: Partial<LooseTask> = {}): LooseTask {
  return { ...write(id, path, more), tool: 'disk:read' };
}

export function approve(gateway: Gateway, runId: string, ids?: readonly string[]): Promise<boolean> {
  return gateway.settleApproval(runId, 'approved', 'ana', ids);
}
