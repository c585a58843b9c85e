import { expect, test } from 'vitest';
import { testGateway, tool } from '../../test/support/test-gateway.ts';

test('[HANG-12] input that is too long is refused before it is processed', async () => {
  const { gateway, store } = await testGateway({
    servers: [{ name: 'approvals', tools: [tool('echo', (args) => args)] }],
  });
  const caller = { sessionId: null };
  const intent = 'x'.repeat(20_000);
  const name = `approvals:${'x'.repeat(2_000)}`;
  const refused = [
    () => gateway.suggest(intent),
    () => gateway.predictNext(intent, []),
    () => gateway.predictNext('read', [name]),
    () => gateway.searchTools({ query: 'x'.repeat(100_000) }),
    () => gateway.searchTools({ query: 'x', contextTools: [name] }),
    () => gateway.searchCapabilities('x'.repeat(100_000), 1),
    () => gateway.executeTool({ tool: name, arguments: {} }, caller),
    () => gateway.executeTool({ tool: 'desk:echo', arguments: {}, intent }, caller),
    () => gateway.executeCode({ code: 'return 1', intent }, caller),
    () => gateway.executeCapability({ capability: name, arguments: {} }, caller),
    () => gateway.executeWorkflow({ tasks: [], inputs: [] }, intent, caller),
    () => gateway.executeAsPlan({ code: 'return 1', intent }, caller),
    () => gateway.executeIntent({ intent }, caller),
  ];
  for (const attempt of refused) {
    await expect(attempt(), String(attempt)).rejects.toMatchObject({
      code: 'too_large',
      message: expect.stringMatching(/^The \w+ has \d+ characters; at most \d+ are allowed$/),
      hint: expect.any(String),
    });
  }
  await gateway.settled();
  expect(await store.traces.count()).toBe(0);
});
