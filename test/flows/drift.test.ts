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

test('[DRIFT-1] nine in ten changed servers are noticed, and at most one in fifty unchanged ones', async () => {
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

test('[DRIFT-2] a routine that reads a changed field is quarantined with the reason, another is marked, and both are shown', async () => {
  const { gateway, service, look, temp, sky, stateOf } = await routines();
  const events: GatewayEvent[] = [];
  gateway.events.follow(({ event }) => void events.push(event));
  service.answerWith(service.renamed);
  await look(6);
  expect(await stateOf(temp)).toBe('quarantined');
  expect(await stateOf(sky)).toBe('active');
  const { quarantinedBecause } = (await gateway.capabilities.show(temp)).evidence;
  expect(quarantinedBecause).toContain(
    'weather:now: "temp" is missing; "temperature" appeared at the same time',
  );
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
  expect(out).toContain(`Quarantined: ${temp} (not run again: weather:now is not marked as read-only).`);
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

test('[DRIFT-4] a definition that breaks calls is described in words, and heals when it is restored', async () => {
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
    'a different definition than when it was learned (there is a new required argument "units")',
  );
  Object.assign(definition, { inputSchema });
  await gateway.restart('weather');
  await gateway.settled();
  expect(await stateOf(temp)).toBe('active');
  expect(await gateway.drift()).toEqual([]);
});

test('[DRIFT-5] counts survive the gateway and hold no values, and private answers are not read', async () => {
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

/** A library that only reads, a routine of two calls that rests on it, and twenty answers of the one that will change. */
async function library(code: string, options: { readonly readOnly?: boolean } = {}) {
  let shape: (n: number) => unknown = (n) => ({ pages: 100 + n, title: `Book ${n}` });
  let asked = 0;
  const annotations = { readOnlyHint: options.readOnly ?? true };
  const inputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  const server = {
    name: 'library',
    tools: [
      tool(
        'book',
        ({ n }) => {
          asked++;
          return shape(Number(n));
        },
        { inputSchema, annotations },
      ),
      tool('shelf', ({ n }) => ({ at: `S${Number(n) % 3}` }), { inputSchema, annotations }),
    ],
  };
  const { gateway, store } = await testGateway({ servers: [server] });
  const run = async (source: string, intent = '') => {
    await gateway.executeCode({ code: source, intent }, NOBODY);
    await gateway.settled();
  };
  const look = (count: number, from = 0) =>
    run(`for (let i = 0; i < ${count}; i++) await mcp.library.book({ n: ${from} + i });`);
  for (const n of [1, 2, 3]) await run(code.replaceAll('N', String(n)), 'tell about a book');
  const routine = (await gateway.capabilities.list()).find(({ state }) => state === 'active')!;
  await look(20, 50);
  const now = () => gateway.capabilities.show(routine.slug);
  const answerWith = (next: typeof shape) => {
    shape = next;
  };
  return { gateway, store, server, run, look, now, answerWith, asked: () => asked };
}

const ON_SHELF = 'const at = await mcp.library.shelf({ n: N });';
const BOOK = `const book = await mcp.library.book({ n: N }); ${ON_SHELF}`;

test('[DRIFT-8] routines that depend on changed answers are rerun on read-only cases: one that lost its result is quarantined', async () => {
  const { gateway, look, now, answerWith, asked } = await library(
    `${BOOK} const [first] = Object.values(book); return { at: at.at, half: first.toFixed(0) };`,
  );
  answerWith((n) => ({ extent: { pages: 100 + n }, title: `Book ${n}` }));
  const before = asked();
  await look(6, 200);
  const { state, evidence } = await now();
  expect(state).toBe('quarantined');
  expect(evidence.retested).toMatch(/^run again, it fails: .*toFixed/);
  expect(evidence.quarantinedBecause).toContain('library:book: ');
  expect(asked() - before).toBe(7);
  const [drift] = await gateway.drift();
  expect(drift!.routines).toMatchObject([{ state: 'quarantined', retested: evidence.retested }]);
  const { out } = await runCommand(['doctor'], {
    openGateway: async () => openedGateway(gateway),
    loadSettings: async () => gateway.settings(),
    holder: async () => null,
    dataDir: () => 'nowhere',
    createEmbedder: async () => createMemoryEmbedder(),
  });
  expect(out).toContain('(run again, it fails: ');
});

test('[DRIFT-8] one that still gives the same result can be called again, and is not rerun twice for one change', async () => {
  const { look, now, answerWith, asked } = await library(`${BOOK} return { pages: at.at, of: book.title };`);
  answerWith((n) => ({ extent: 100 + n, title: `Book ${n}` }));
  await look(6, 200);
  const { state, evidence } = await now();
  expect({ state, retested: evidence.retested }).toEqual({
    state: 'active',
    retested: 'run again 2 times, it works as before',
  });
  expect(evidence.drift).toMatchObject([{ state: 'admitted' }]);
  const before = asked();
  await look(3, 300);
  expect(asked() - before).toBe(3);
});

test('[DRIFT-9] nothing that may write is rerun', async () => {
  const { look, now, answerWith, asked } = await library(`${BOOK} return { pages: at.at, of: book.title };`, {
    readOnly: false,
  });
  answerWith((n) => ({ extent: 100 + n, title: `Book ${n}` }));
  const before = asked();
  await look(6, 200);
  expect(asked() - before).toBe(6);
  const { state, evidence } = await now();
  expect(state).toBe('quarantined');
  expect(evidence.retested).toBe('not run again: library:book is not marked as read-only');
});

test('[DRIFT-9] a changed definition is not called before a person accepts it; then routines with the same results are callable again', async () => {
  const { gateway, server, now, asked } = await library(`${BOOK} return { at: at.at, of: book.title };`);
  const { definition } = server.tools[0]!;
  Object.assign(definition, { description: 'a book, in other words' });
  const before = asked();
  await gateway.restart('library');
  await gateway.settled();
  expect((await now()).state).toBe('quarantined');
  expect((await now()).evidence.retested).toContain(
    'its recorded runs work with the new definition; not run again: library:book needs a decision',
  );
  expect(asked()).toBe(before);
  await accept(gateway, 'library');
  const { state, evidence } = await now();
  expect({ state, retested: evidence.retested }).toEqual({
    state: 'active',
    retested: 'run again 2 times, it works as before',
  });
  expect(asked() - before).toBe(2);
});
