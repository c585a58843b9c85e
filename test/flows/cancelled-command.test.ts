import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpBridge } from '../../src/adapters/client/http-bridge.ts';
import { gatewayProcedures, remoteGateway } from '../../src/engine/gateway-procedures.ts';
import { handMadeGateway } from '../support/hand-made-gateway.ts';
import { startHttp } from '../support/http-gateway.ts';

test('[RUN-5] a command that is ended ends its run in the process that runs it', async () => {
  const begun = Promise.withResolvers<AbortSignal>();
  const gateway = handMadeGateway({
    async executeCode(_call, { signal }) {
      begun.resolve(signal!);
      await once(signal!, 'abort');
      return { status: 'error', runId: 'r', traceId: null, console: [], toolsUsed: [] };
    },
  });
  const { listener, token } = await startHttp({ procedures: gatewayProcedures(gateway) });
  onTestFinished(listener.close);
  const bridge = createHttpBridge(listener.port, token);
  const run = remoteGateway(bridge).runCode({ code: 'await mcp.a.b()' });
  run.catch(() => {});
  const cancelled = once(await begun.promise, 'abort');
  await bridge.close();
  await cancelled;
  await expect(run).rejects.toMatchObject({ code: 'holder_unreachable' });
});
