import { expect, onTestFinished, test } from 'vitest';
import { createRandom } from '../../src/core/numeric/random.ts';
import type { Gateway } from '../../src/engine/gateway.ts';
import type { GatewayEvent, JsonObject } from '../../src/engine/ports.ts';
import { createApi } from '../../src/surfaces/http/api/create-api.ts';
import { createMemoryEmbedder } from '../memory/embedder.ts';
import { proofRuns, proofSeed } from '../proof-count.ts';
import { changingServer, MUTATIONS, type Mutation } from '../support/changing-servers.ts';
import { openedGateway, runCommand } from '../support/command-line.ts';
import { startHttp } from '../support/http-gateway.ts';
import { NOBODY, testGateway, tool } from '../support/test-gateway.ts';

const CALLS = { before: 40, after: 15 };

/** Calls the tool of a server so many times, in one run. */
async function ask(gateway: Gateway, server: string, questions: readonly JsonObject[]): Promise<void> {
  const code = `for (const q of args.questions) { try { await mcp.${server}.ask(q); } catch {} }`;
  await gateway.executeCode({ code, arguments: { questions } as unknown as JsonObject }, NOBODY);
  await gateway.settled();
}

async function accept(gateway: Gateway, server: string): Promise<void> {
  const { hash } = await gateway.changesOfServer(server);
  await gateway.acceptServer(server, 'ada', hash);
  await gateway.settled();
}

const times = <T>(n: number, make: (i: number) => T) => Array.from({ length: n }, (_, i) => make(i));

test('[DRIFT-1] nine in ten servers that change are noticed, and at most one in fifty that do not', async () => {
  const random = createRandom(proofSeed());
  const kinds: (Mutation | 'nothing')[] = [
    ...MUTATIONS.flatMap((kind) => times(proofRuns(12), () => kind)),
    ...times(proofRuns(60), () => 'nothing' as const),
  ];
  const servers = kinds.map((_, i) => changingServer(`s${i}`, createRandom(random.int(2 ** 31))));
  const { gateway } = await testGateway({ servers: servers.map(({ server }) => server) });
  const told = async (name: string) =>
    (await gateway.drift()).flatMap(({ tool, changes }) =>
      tool === `${name}:ask` ? changes.map(({ words }) => words) : [],
    );
  const missed: string[] = [];
  const falseAlarms: string[] = [];
  for (const [i, { server, question, change }] of servers.entries()) {
    const { name } = server;
    const kind = kinds[i]!;
    await ask(gateway, name, times(CALLS.before, question));
    const early = await told(name);
    change(kind);
    await gateway.restart(name);
    await gateway.settled();
    const listed = await told(name);
    await accept(gateway, name);
    await ask(gateway, name, times(CALLS.after, question));
    const found = [...listed, ...(await told(name))];
    if (kind === 'nothing' && found.length > 0) falseAlarms.push(`${name}: ${found.join('; ')}`);
    else if (early.length > 0) falseAlarms.push(`${name}, before it changed: ${early.join('; ')}`);
    else if (kind !== 'nothing' && found.length === 0) missed.push(`${name}: ${kind}`);
  }
  const changed = kinds.filter((kind) => kind !== 'nothing').length;
  const rates = {
    noticed: 1 - missed.length / changed,
    falseAlarms: falseAlarms.length / (kinds.length - changed),
  };
  expect(rates.noticed, `missed: ${missed.join(', ')}`).toBeGreaterThanOrEqual(0.9);
  expect(rates.falseAlarms, falseAlarms.join('\n')).toBeLessThanOrEqual(0.02);
});

/** A weather service whose answers can be changed. */
function weather() {
  let answer = (n: number): unknown => ({ temp: 20 + (n % 7), sky: 'clear' });
  let n = 0;
  return {
    server: {
      name: 'weather',
      tools: [
        tool('now', () => answer(n++), {
          inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        }),
      ],
    },
    answerWith: (next: typeof answer) => {
      answer = next;
    },
    old: (n: number) => ({ temp: 20 + (n % 7), sky: 'clear' }),
    renamed: (n: number) => ({ temperature: 20 + (n % 7), sky: 'clear' }),
  };
}

const TWICE =
  'const here = await mcp.weather.now({ city: "Oslo" }); const there = await mcp.weather.now({ city: "Rome" });';
const READS_TEMP = `${TWICE} return { warmer: here.temp > there.temp };`;
const READS_SKY = `${TWICE} return { skies: [here.sky, there.sky] };`;

/** Two routines that rest on one tool, of which twenty answers are known. */
async function routines() {
  const service = weather();
  const { gateway, store } = await testGateway({ servers: [service.server] });
  const run = async (code: string, intent: string) => {
    await gateway.executeCode({ code, intent }, NOBODY);
    await gateway.settled();
  };
  const look = (count: number) =>
    run(`for (let i = 0; i < ${count}; i++) await mcp.weather.now({ city: 'city ${count} ' + i });`, '');
  for (let i = 0; i < 2; i++) {
    await run(READS_TEMP, 'tell whether it is warm');
    await run(READS_SKY, 'tell whether the sky is clear');
  }
  await look(20);
  const reading = async (field: string) =>
    (await gateway.capabilities.list()).find(({ code }) => code.includes(`.${field}`))!.slug;
  const [temp, sky] = [await reading('temp'), await reading('sky')];
  const stateOf = async (slug: string) => (await gateway.capabilities.show(slug)).state;
  return { gateway, store, service, run, look, temp, sky, stateOf };
}

test('[DRIFT-2] a routine that reads what changed is quarantined in words, another is marked, and both are shown', async () => {
  const { gateway, service, look, temp, sky, stateOf } = await routines();
  const events: GatewayEvent[] = [];
  gateway.events.follow(({ event }) => void events.push(event));
  service.answerWith(service.renamed);
  await look(6);
  expect(await stateOf(temp)).toBe('quarantined');
  expect(await stateOf(sky)).toBe('active');
  const { quarantinedBecause } = (await gateway.capabilities.show(temp)).evidence;
  expect(quarantinedBecause).toContain('weather:now: "temp" is missing; "temperature" came at the same time');
  expect(events.find(({ type }) => type === 'drift_changed')).toMatchObject({
    tool: 'weather:now',
    state: 'begun',
  });
  const { listener, token } = await startHttp({ api: createApi(gateway, { log: () => {} }) });
  onTestFinished(listener.close);
  const reply = await fetch(`${listener.url}/api/drift`, { headers: { authorization: `Bearer ${token}` } });
  expect(await reply.json()).toMatchObject({
    drift: [
      {
        tool: 'weather:now',
        of: 'answers',
        changes: [{ kind: 'renamed', field: 'temp' }],
        capabilities: [
          { slug: sky, state: 'marked' },
          { slug: temp, state: 'quarantined' },
        ].sort((a, b) => (a.slug < b.slug ? -1 : 1)),
      },
    ],
  });
  const { out } = await runCommand(['doctor'], {
    openGateway: async () => openedGateway(gateway),
    loadSettings: async () => gateway.settings(),
    holder: async () => null,
    dataDir: () => 'nowhere',
    createEmbedder: async () => createMemoryEmbedder(),
  });
  expect(out).toContain('weather:now answers differently: "temp" is missing');
  expect(out).toContain(`Quarantined: ${temp}.`);
});

test('[DRIFT-3] a routine heals when the old answers return', async () => {
  const { gateway, service, look, temp, stateOf } = await routines();
  service.answerWith(service.renamed);
  await look(6);
  expect(await stateOf(temp)).toBe('quarantined');
  service.answerWith(service.old);
  await look(3);
  expect(await stateOf(temp)).toBe('active');
  expect(await gateway.drift()).toEqual([]);
});

test('[DRIFT-3] two successful runs of its program admit it again; one that a person quarantined stays', async () => {
  const { gateway, service, run, look, temp, sky, stateOf } = await routines();
  await gateway.capabilities.quarantine(sky, 'by a person');
  service.answerWith(service.renamed);
  await look(6);
  expect(await stateOf(temp)).toBe('quarantined');
  await run(READS_TEMP, 'tell whether it is warm');
  expect(await stateOf(temp)).toBe('quarantined');
  await run(READS_TEMP, 'tell whether it is warm');
  expect(await stateOf(temp)).toBe('active');
  await look(2);
  expect(await stateOf(temp)).toBe('active');
  service.answerWith(service.old);
  await look(3);
  expect(await stateOf(sky)).toBe('quarantined');
});

test('[DRIFT-4] a definition that breaks calls is told in words, and heals when it is as it was', async () => {
  const { gateway, service, temp, stateOf } = await routines();
  const { definition } = service.server.tools[0]!;
  const { inputSchema } = definition as { inputSchema: JsonObject };
  const properties = { ...(inputSchema.properties as JsonObject), units: { type: 'string' } };
  Object.assign(definition, { inputSchema: { ...inputSchema, properties, required: ['city', 'units'] } });
  await gateway.restart('weather');
  await gateway.settled();
  expect(await gateway.drift()).toMatchObject([
    { tool: 'weather:now', of: 'definition', changes: [{ kind: 'required', field: 'units' }] },
  ]);
  expect((await gateway.capabilities.show(temp)).evidence.quarantinedBecause).toContain(
    'another definition than when it was learned (there is a new required argument "units")',
  );
  Object.assign(definition, { inputSchema });
  await gateway.restart('weather');
  await gateway.settled();
  expect(await stateOf(temp)).toBe('active');
  expect(await gateway.drift()).toEqual([]);
});

test('[DRIFT-5] what was counted outlives the gateway, holds no values, and private answers are not read', async () => {
  const service = weather();
  const servers = [service.server];
  const first = await testGateway({ servers });
  const look = async ({ gateway }: { readonly gateway: Gateway }, from: number, count: number, who = {}) => {
    const code = `for (let i = ${from}; i < ${from + count}; i++) await mcp.weather.now({ city: 'Quartz' + i });`;
    await gateway.executeCode({ code }, { ...NOBODY, ...who });
    await gateway.settled();
  };
  await look(first, 0, 20);
  const stored = JSON.stringify([...(await first.store.tools.observedOutputs())]);
  expect(stored).toContain('x-pml-shape');
  expect(stored).not.toContain('Quartz');
  expect(stored).not.toContain('clear');
  const people = { sharing: { traces: 'private' as const } };
  const alone = await testGateway({ servers, store: first.store, settings: people as never });
  service.answerWith(service.renamed);
  await look(alone, 100, 10, { who: { user: 'ada', role: 'admin', keyId: null } });
  expect(await alone.gateway.drift()).toEqual([]);
  expect(JSON.stringify([...(await first.store.tools.observedOutputs())])).not.toContain('temperature');
  const second = await testGateway({ servers, store: first.store });
  await look(second, 200, 6);
  expect((await second.gateway.drift()).map(({ tool }) => tool)).toEqual(['weather:now']);
});
