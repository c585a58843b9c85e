import { expect, onTestFinished, test } from 'vitest';
import { createApi } from '../../src/surfaces/http/api/create-api.ts';
import { startHttp } from '../support/http-gateway.ts';
import { callTool, connectClient, fetchInto, openEndpoints } from '../support/mcp-endpoints.ts';
import { NOBODY, testGateway, tool } from '../support/test-gateway.ts';

const shop = (held: Promise<void>) => ({
  name: 'shop',
  tools: [
    tool('find', ({ name }) => ({ id: `item-${name}-4711` })),
    tool('order', ({ item }) => {
      if (!String(item).startsWith('item-')) throw new Error('unknown item');
      return { order: `order-${item}` };
    }),
    tool('pay', ({ order }) => ({ paid: order })),
    tool('hold', () => held),
  ],
});

const GOOD = (name: string) => `
  const found = await mcp.shop.find({ name: '${name}' });
  const made = await mcp.shop.order({ item: found.id });
  return await mcp.shop.pay({ order: made.order });`;
const BAD = (name: string) => `
  await mcp.shop.find({ name: '${name}' });
  try { await mcp.shop.order({ item: '${name}' }); } catch {}
  return await mcp.shop.order({ item: '${name}' });`;

test('[TD-5] [TD-6] a job that resembles failed ones gets a warning, with what successful runs did', async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const { gateway } = await testGateway({ servers: [shop(held)] });
  const bad = async (sessionId: string) => {
    const caller = { sessionId };
    await gateway.executeTool(
      { tool: 'shop:find', arguments: { name: 'desk' }, intent: 'buy a desk' },
      caller,
    );
    for (const item of ['desk', 'the desk'])
      await gateway.executeTool({ tool: 'shop:order', arguments: { item }, intent: 'buy a desk' }, caller);
    await gateway.settled();
    return caller;
  };
  expect(await gateway.riskOfJob(await bad('too early'))).toBeNull();
  for (let i = 0; i < 20; i++) {
    await gateway.executeCode({ code: GOOD(`a${i}`), intent: 'buy something' }, NOBODY);
    await gateway.executeCode({ code: BAD(`b${i}`), intent: 'buy something' }, NOBODY);
  }
  await gateway.settled();
  const caller = await bad('later');
  const risk = await gateway.riskOfJob(caller);
  expect(risk).toMatchObject({ calls: 3, usual: { after: 'shop:order', node: 'shop:pay' } });
  expect(risk!.chance).toBeGreaterThan(0.6);
  expect(await gateway.riskOfJob({ sessionId: 'somebody else' })).toBeNull();
  expect(
    await gateway.riskOfJob({ ...caller, who: { user: 'eve', name: 'eve', role: 'agent', keyId: null } }),
  ).toBeNull();
  const fine = { sessionId: 'fine' };
  await gateway.executeTool({ tool: 'shop:find', arguments: { name: 'sofa' }, intent: 'buy a sofa' }, fine);
  await gateway.settled();
  expect(await gateway.riskOfJob(fine)).toBeNull();

  const client = await connectClient(fetchInto(openEndpoints(gateway)), { era: 'legacy' });
  const call = (name: string, args: object) => callTool(client, name, { intent: 'buy a desk', ...args });
  await call('pml_execute', { tool: 'shop:find', arguments: { name: 'desk' } });
  for (const item of ['desk', 'the desk'])
    await call('pml_execute', { tool: 'shop:order', arguments: { item } });
  await gateway.settled();
  const { content } = await call('pml_suggest', { executed: ['shop:find', 'shop:order', 'shop:order'] });
  expect(JSON.stringify(content)).toMatch(
    /This run looks like runs that failed \(chance 0\.\d+; \d+ failed and \d+ successful runs are known\)\. After shop:order, \d+ successful runs called shop:pay\./,
  );

  const { listener, token } = await startHttp({ api: createApi(gateway, { log: () => {} }) });
  onTestFinished(listener.close);
  const code = `${BAD('lamp').replace('return await', 'try { await').replace(/;$/, '; } catch {}')} return await mcp.shop.hold({});`;
  const running = gateway.executeCode({ code }, NOBODY);
  const risks = async () => {
    const live = await fetch(`${listener.url}/api/live`, { headers: { authorization: `Bearer ${token}` } });
    const { runs } = (await live.json()) as { runs: { risk: { chance: number; calls: number } | null }[] };
    return runs.map((one) => one.risk);
  };
  await expect
    .poll(risks)
    .toMatchObject([{ calls: 3, chance: expect.toSatisfy((chance: number) => chance > 0.6) }]);
  release();
  await running;
});
