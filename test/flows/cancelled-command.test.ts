import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpBridge } from '../../src/adapters/client/http-bridge.ts';
import { bridgedOperations, operationAnswers } from '../../src/operations/bridged-operations.ts';
import { operationContext } from '../../src/operations/operation-context.ts';
import { OPERATIONS } from '../../src/operations/table.ts';
import { handMadeGateway } from '../support/hand-made-gateway.ts';
import { startHttp } from '../support/http-gateway.ts';
import { sampleResult } from '../support/samples.ts';

test('[RUN-5] ending a command ends its run in the process that runs it', async () => {
  const begun = Promise.withResolvers<AbortSignal>();
  const gateway = handMadeGateway({
    async executeCode(_call, { signal }) {
      begun.resolve(signal!);
      await once(signal!, 'abort');
      return sampleResult({ status: 'error', traceId: null });
    },
  });
  const { listener, token } = await startHttp({
    answerCall: operationAnswers(OPERATIONS, operationContext(gateway, 'life')),
  });
  onTestFinished(listener.close);
  const bridge = createHttpBridge(listener.port, token, 'ada');
  const run = bridgedOperations(bridge).execute({ code: 'await mcp.a.b()' });
  run.catch(() => {});
  const cancelled = once(await begun.promise, 'abort');
  await bridge.close();
  await cancelled;
  await expect(run).rejects.toMatchObject({ code: 'holder_unreachable' });
});
