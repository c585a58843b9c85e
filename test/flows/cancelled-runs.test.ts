import { expect, test } from 'vitest';
import { NOBODY, testGateway, tool } from '../support/test-gateway.ts';

test('[CAP-20] a run that was cancelled counts neither for nor against its code', async () => {
  const leaving = new AbortController();
  let turn = 0;
  const wait = tool('wait', async () => {
    if (++turn % 2 === 1) return 'at once';
    leaving.abort();
    return await new Promise(() => {});
  });
  const { gateway, store } = await testGateway({
    servers: [{ name: 'slow', tools: [wait] }],
    capabilities: [{ slug: 'waiting', code: 'return await mcp.slow.wait({});', uses: 0, successes: 0 }],
  });
  const call = { capability: 'waiting', arguments: {} };
  expect(await gateway.executeCapability(call, NOBODY)).toMatchObject({ status: 'success' });
  expect(await gateway.executeCapability(call, { ...NOBODY, signal: leaving.signal })).toMatchObject({
    status: 'error',
    error: { code: 'cancelled' },
  });
  await gateway.settled();
  expect(await store.capabilities.list()).toMatchObject([{ slug: 'waiting', uses: 1, successes: 1 }]);
});
