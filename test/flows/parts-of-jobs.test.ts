import { expect, test } from 'vitest';
import { isUnlisted } from '../../src/engine/capabilities/capability-registry.ts';
import type { Capability, JsonObject } from '../../src/engine/ports.ts';
import { testGateway, tool } from '../support/test-gateway.ts';

const needs = (...names: string[]) => ({
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    required: names,
  },
});
const READS = { annotations: { readOnlyHint: true } };

function shop(calls: string[] = []) {
  const noted = (name: string, run: (args: JsonObject) => unknown, more: JsonObject) =>
    tool(
      name,
      (args) => {
        calls.push(`${name} ${JSON.stringify(args)}`);
        return run(args);
      },
      more,
    );
  return {
    name: 'shop',
    tools: [
      noted('find', ({ name }) => ({ id: `item-${name}` }), { ...needs('name'), ...READS }),
      noted('order', ({ item, street }) => ({ order: `${item}/${street}` }), needs('item', 'street')),
      noted('track', ({ order }) => ({ state: `sent ${order}` }), { ...needs('order'), ...READS }),
      ...['wrap', 'note', 'rate', 'greet', 'pay'].map((name) => noted(name, () => 'done', {})),
      ...['news', 'hours'].map((name) => noted(name, () => `the ${name}`, READS)),
      ...['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => noted(`other_${name}`, () => 'done', {})),
    ],
  };
}

type Opened = Awaited<ReturnType<typeof testGateway>>;

async function run({ gateway }: Opened, sessionId: string, intent: string, code: string) {
  const { status } = await gateway.executeCode({ code, intent }, { sessionId });
  expect(status).toBe('success');
  await gateway.settled();
}

const buy = (name: string, street: string) =>
  `const found = await mcp.shop.find({ name: '${name}' });
   const bought = await mcp.shop.order({ item: found.id, street: '${street}' });`;

/** Three jobs that have nothing in common but buying, and others beside them. */
async function taught(opened: Opened) {
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
    await run(opened, `o${name}`, `do ${name}`, `return await mcp.shop.other_${name}({});`);
  await run(
    opened,
    '1',
    'buy a lamp and wrap it',
    `${buy('lamp', 'Oak Road 1')} return await mcp.shop.wrap({});`,
  );
  await run(
    opened,
    '2',
    'note it and buy a desk',
    `await mcp.shop.note({}); ${buy('desk', 'Elm Road 2')} return bought;`,
  );
  await run(
    opened,
    '3',
    'buy a sofa, then rate it',
    `${buy('sofa', 'Ash Road 3')} return [bought, await mcp.shop.rate({})];`,
  );
}

async function partsOf({ gateway }: Opened): Promise<Capability[]> {
  return (await gateway.capabilities.list()).filter(({ evidence }) => evidence.part);
}

function parametersOf({ parametersSchema }: Capability): string[] {
  return Object.keys((parametersSchema as { properties: object }).properties);
}

test('[MINE-6] [PROOF-1] a common part of jobs can be called, with parameters, its wiring and its result', async () => {
  const calls: string[] = [];
  const opened = await testGateway({ servers: [shop(calls)] });
  await taught(opened);
  const [part, ...others] = await partsOf(opened);
  expect(others).toEqual([]);
  expect(part).toMatchObject({
    state: 'active',
    uses: 3,
    parametersSchema: { required: ['name', 'street'] },
    outputSchema: { type: 'object', properties: { order: { type: 'string' } } },
    evidence: {
      part: { tools: ['shop:find', 'shop:order'], support: 3 },
      proof: { cases: [{}], failure: null },
    },
  });
  calls.length = 0;
  const args = { name: 'rug', street: 'Fir Road 4' };
  const made = await opened.gateway.executeCapability(
    { capability: part!.slug, arguments: args },
    { sessionId: null },
  );
  expect(made).toMatchObject({ status: 'success', result: { order: 'item-rug/Fir Road 4' } });
  expect(calls).toEqual(['find {"name":"rug"}', 'order {"item":"item-rug","street":"Fir Road 4"}']);
});

test('[PROOF-1] a part whose calls come from several runs is proven on their calls one after the other', async () => {
  const opened = await testGateway({ servers: [shop()] });
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
    await run(opened, `o${name}`, `do ${name}`, `return await mcp.shop.other_${name}({});`);
  // Late in its own run is what comes first, and early in the next one what comes after it.
  const look = (name: string) =>
    `for (let i = 0; i < 30; i++) await mcp.shop.greet({}); return await mcp.shop.find({ name: '${name}' });`;
  for (const [i, name] of ['lamp', 'desk', 'sofa'].entries()) {
    await run(opened, `s${i}`, `look for a ${name}`, look(name));
    const order = `return await mcp.shop.order({ item: 'item-${name}', street: 'Oak Road ${i}' });`;
    await run(opened, `s${i}`, `have it sent to Oak Road ${i}`, order);
  }
  const parts = await partsOf(opened);
  const part = parts.find(({ evidence }) => evidence.part?.tools.join(' ').endsWith('shop:find shop:order'));
  expect(part).toMatchObject({ state: 'active', evidence: { proof: { failure: null } } });
  const [tested] = await opened.gateway.capabilities.test(part!.slug);
  expect(tested).toMatchObject({ status: 'passed' });
  expect(tested!.cases.length).toBeGreaterThan(1);
});

test('[MINE-7] [PROOF-1] a larger part calls the smaller one it contains', async () => {
  const calls: string[] = [];
  const opened = await testGateway({ servers: [shop(calls)] });
  await taught(opened);
  const [small] = await partsOf(opened);
  const track = (name: string, street: string, session: string) =>
    run(
      opened,
      session,
      `buy a ${name} and see where it is`,
      `${buy(name, street)} await mcp.shop.track({ order: bought.order }); return await mcp.shop.${session}({});`,
    );
  await track('bed', 'Yew Road 5', 'greet');
  await track('cup', 'Bay Road 6', 'pay');
  const large = (await partsOf(opened)).find(({ evidence }) => evidence.part?.tools.length === 3);
  expect(large?.code).toContain(`capabilities.${small!.slug}(`);
  expect(large?.evidence.proof).toMatchObject({ cases: [{}], failure: null });
  calls.length = 0;
  const args = { name: 'jar', street: 'Ivy Road 7' };
  const made = await opened.gateway.executeCapability(
    { capability: large!.slug, arguments: args },
    { sessionId: null },
  );
  expect(made.result).toEqual({ state: 'sent item-jar/Ivy Road 7' });
  expect(calls.map((call) => call.split(' ')[0])).toEqual(['find', 'order', 'track']);
});

test('[MINE-8] unrelated reads, and steps of a single job, are not parts', async () => {
  const opened = await testGateway({ servers: [shop()] });
  for (const other of ['a', 'b', 'c', 'd'])
    await run(
      opened,
      other,
      `look around, then ${other}`,
      `await mcp.shop.news({}); await mcp.shop.hours({}); return await mcp.shop.other_${other}({});`,
    );
  for (const name of ['lamp', 'desk', 'sofa'])
    await run(opened, name, `buy a ${name}`, `${buy(name, `${name} road`)} return bought;`);
  expect(await partsOf(opened)).toEqual([]);
});

test('[MINE-9] parts come after whole jobs in search, and are listed only once somebody calls them', async () => {
  const opened = await testGateway({ servers: [shop()] });
  const { gateway } = opened;
  await taught(opened);
  for (const name of ['vase', 'bowl'])
    await run(
      opened,
      name,
      'buy a gift and wrap it',
      `${buy(name, 'Main Road')} await mcp.shop.wrap({}); return await mcp.shop.pay({ what: '${name}' });`,
    );
  const [part] = await partsOf(opened);
  const hits = await gateway.searchCapabilities('buy a lamp and wrap it', 10);
  expect(hits.map(({ slug }) => slug)).toContain(part!.slug);
  const all = await gateway.capabilities.list();
  const whole = all.filter((one) => one.state === 'active' && !one.evidence.part);
  expect(whole.length).toBeGreaterThan(0);
  const isPart = hits.map(({ slug }) => all.some((one) => one.slug === slug && isUnlisted(one)));
  expect(isPart).toEqual(isPart.toSorted((a, b) => Number(a) - Number(b)));
  const names = async () => (await gateway.callableNames({})).capabilities.map(({ slug }) => slug);
  expect(await names()).not.toContain(part!.slug);
  await gateway.executeCapability(
    { capability: part!.slug, arguments: { name: 'pen', street: 'x' } },
    { sessionId: 's' },
  );
  await gateway.settled();
  expect(await names()).toContain(part!.slug);
});

test('[MINE-11] a routine that calls a tool twice is suggested with two values', async () => {
  const map = {
    name: 'map',
    tools: [
      tool('zip', ({ city }) => ({ zip: `zip-of-${city}` }), needs('city')),
      tool('distance', ({ from, to }) => ({ way: `${from} ${to}` }), needs('from', 'to')),
    ],
  };
  const opened = await testGateway({ servers: [map] });
  const asked = (from: string, to: string) => `how far is it from "${from}" to "${to}"`;
  for (const [i, [from, to]] of [
    ['Rome', 'Oslo'],
    ['Lima', 'Cairo'],
    ['Quito', 'Paris'],
    ['Tunis', 'Delhi'],
    ['Dakar', 'Sofia'],
    ['Hanoi', 'Minsk'],
  ].entries())
    await run(
      opened,
      `s${i}`,
      asked(from!, to!),
      `const a = await mcp.map.zip({ city: '${from}' });
       const b = await mcp.map.zip({ city: '${to}' });
       return await mcp.map.distance({ from: a.zip, to: b.zip });`,
    );
  const { plan } = await opened.gateway.suggest(asked('Bern', 'Kyiv'));
  expect(plan.tasks.map(({ capability }) => capability !== undefined)).toEqual([true]);
  expect(Object.values(plan.tasks[0]!.arguments)).toEqual(['Bern', 'Kyiv']);
  // Said twice, it is still one value.
  const again = await opened.gateway.suggest(`${asked('Bern', 'Kyiv')}, which is not "Bern"`);
  expect(Object.values(again.plan.tasks[0]!.arguments)).toEqual(['Bern', 'Kyiv']);
});

test('[MINE-12] wiring that later jobs reveal is added, and proven again', async () => {
  const others = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const map = {
    name: 'map',
    tools: [
      tool('zip', ({ city }) => ({ zip: `zip-of-${city}` }), needs('city')),
      tool('distance', ({ from, to }) => ({ way: `${from} ${to}` }), needs('from', 'to')),
      ...others.map((name) => tool(`other_${name}`, () => 'done', {})),
    ],
  };
  const opened = await testGateway({ servers: [map] });
  const asked = (from: string, to: string) => `how far is it from "${from}" to "${to}"`;
  /** As an agent writes it that has seen the results: with the values themselves. */
  const measure = async (i: number, [from, to]: readonly [string, string], isTurned = false) => {
    const [a, b] = isTurned ? [to, from] : [from, to];
    await run(
      opened,
      `s${i}`,
      asked(from, to),
      `await mcp.map.zip({ city: '${from}' });
       await mcp.map.zip({ city: '${to}' });
       const way = await mcp.map.distance({ from: 'zip-of-${a}', to: 'zip-of-${b}' });
       return [way, await mcp.map.other_${others[i]}({})];`,
    );
  };
  const part = async () =>
    (await partsOf(opened)).find(
      ({ evidence }) => evidence.part?.tools.join(' ') === 'map:zip map:zip map:distance',
    )!;
  // Tools that are all there is save nothing by being told together.
  for (let i = 0; i < 40; i++)
    await run(opened, `o${i}`, `do ${i}`, `return await mcp.map.other_${others[i % 8]}({ i: ${i} });`);
  await measure(0, ['Rome', 'Oslo']);
  await measure(1, ['Lima', 'Cairo'], true);
  expect(parametersOf(await part())).toHaveLength(4);
  const { id } = await part();
  const more = [
    ['Quito', 'Paris'],
    ['Tunis', 'Delhi'],
    ['Dakar', 'Sofia'],
    ['Hanoi', 'Minsk'],
    ['Accra', 'Seoul'],
    ['Busan', 'Turin'],
  ] as const;
  for (const [i, cities] of more.entries()) await measure(i + 2, cities);
  expect(await part()).toMatchObject({
    id,
    state: 'active',
    evidence: {
      part: { wiring: [{}, {}, { from: '#0 zip', to: '#1 zip' }] },
      proof: { failure: null },
    },
  });
  expect((await part()).evidence.proof?.cases.length).toBeGreaterThan(0);
  expect(parametersOf(await part())).toHaveLength(2);
});

test('[PROOF-7] [PLAN-29] a part with a secret argument is proven with the secret hidden, and nothing stores it', async () => {
  const mail = {
    name: 'mail',
    tools: [
      tool('login', ({ user }) => ({ box: `box-of-${user}`, token: `hunter-${user}-token` }), {
        inputSchema: {
          type: 'object',
          properties: { user: { type: 'string' }, password: { type: 'string' } },
          required: ['user'],
        },
      }),
      tool('send', ({ box, text }) => ({ sent: `${box}/${text}` }), needs('box', 'text', 'token')),
      ...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => tool(`other_${name}`, () => 'done', {})),
    ],
  };
  const opened = await testGateway({ servers: [mail] });
  for (const [i, user] of ['ada', 'ken', 'bob', 'eve'].entries())
    await run(
      opened,
      user,
      `write to the team of ${user}`,
      `const { box, token } = await mcp.mail.login({ user: '${user}', password: 'hunter-${user}-2026' });
       await mcp.mail.send({ box, text: 'news ${i}', token });
       return await mcp.mail.other_${'abcd'[i]}({});`,
    );
  const [part] = await partsOf(opened);
  expect(part).toMatchObject({
    state: 'active',
    evidence: { part: { tools: ['mail:login', 'mail:send'] }, proof: { failure: null } },
  });
  // The server does not ask for it, and yet every run gave it.
  expect(parametersOf(part!)).toContain('password');
  const [tested] = await opened.gateway.capabilities.test(part!.slug);
  expect(tested!.status).toBe('passed');
  expect(tested!.cases.length).toBeGreaterThan(1);
  expect(JSON.stringify([part, tested])).not.toContain('hunter-');
  const stored = await opened.store.traces.list({ limit: 50 });
  expect(JSON.stringify(stored)).not.toContain('hunter-');
  const { plan } = await opened.gateway.suggest('write to the team of eve', { sessionId: 'eve' });
  expect(plan.inputs.map(({ name }) => name)).toEqual(expect.arrayContaining(['password', 'token']));
  expect(JSON.stringify(plan)).not.toContain('[redacted]');
});
