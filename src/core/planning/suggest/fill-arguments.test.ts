import { expect, test } from 'vitest';
import { CallMemory, type RememberedCall } from './call-memory.ts';
import { fillArguments } from './fill-arguments.ts';
import { learnAliases } from './spot-values.ts';

const OPEN = { owner: null, visibility: 'shared' as const };
const all = () => true;

const text = { type: 'string' };
const number = { type: 'number' };
const schemaOf = (properties: Record<string, unknown>, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
});

/** Runs one call each, one after the other in one session. */
function remembered(runs: readonly (readonly [intent: string, ...calls: RememberedCall[]])[]): CallMemory {
  const memory = new CallMemory();
  for (const [at, [intent, ...calls]] of runs.entries())
    memory.add({ intent, session: 's', at, calls, ...OPEN });
  return memory;
}

const call = (tool: string, args: Record<string, unknown>, result: unknown = null): RememberedCall => ({
  tool,
  arguments: args,
  result,
});

function fill(
  memory: CallMemory,
  tool: string,
  intent: string,
  schema: unknown,
  planned: ReadonlyMap<string, string> = new Map(),
  session = 'another',
) {
  const past = memory.callsOf(tool, intent, all);
  const filled = fillArguments({ intent, schema, past, earlier: memory.earlier(session, 100), planned });
  return Object.fromEntries(
    [...filled].filter(([, { isSure }]) => isSure).map(([name, { value }]) => [name, value]),
  );
}

const MOVES = remembered([
  ["move 'a.txt' to the folder 'old'", call('fs:mv', { source: 'a.txt', destination: 'old' })],
  [
    "Please move 'plan.md' to the folder 'archive'",
    call('fs:mv', { source: 'plan.md', destination: 'archive' }),
  ],
]);

test('[PLAN-20] an argument gets the text in the same place as its past value', () => {
  const schema = schemaOf({ source: text, destination: text });
  expect(fill(MOVES, 'fs:mv', "move 'budget.csv' to the folder 'taxes'", schema)).toEqual({
    source: 'budget.csv',
    destination: 'taxes',
  });
});

test.each<[string, string, string, unknown, unknown]>([
  ['numbers', 'add 5 gallons of fuel', 'add 12.5 gallons of fuel', 5, 12.5],
  ['names', 'find the code of the city Paris', 'find the code of the city San Marino', 'Paris', 'San Marino'],
  ['dates', 'show flights on 2026-01-02', 'show flights on 2027-03-04', '2026-01-02', '2027-03-04'],
  ['paths', 'count the lines of notes/a.md', 'count the lines of todo/b.md', 'notes/a.md', 'todo/b.md'],
  ['addresses', 'write to ada@example.org', 'write to bob@example.com', 'ada@example.org', 'bob@example.com'],
  [
    'links',
    'fetch https://a.example/x',
    'fetch https://b.example/y?z=1',
    'https://a.example/x',
    'https://b.example/y?z=1',
  ],
  ['ids', 'close the ticket TK-17', 'close the ticket TK-99', 'TK-17', 'TK-99'],
  ['words', 'list the archive folder', 'list the photos folder', 'archive', 'photos'],
])(
  '[PLAN-20] %s are typed by the schema and taken from the corresponding place',
  (_, before, now, was, is) => {
    const memory = remembered([[before, call('a:b', { value: was })]]);
    expect(fill(memory, 'a:b', now, schemaOf({ value: typeof was === 'number' ? number : text }))).toEqual({
      value: is,
    });
  },
);

test('[PLAN-20] a value that never changed is used again, but a single value is not yet a constant', () => {
  const schema = schemaOf({ mode: text });
  const once = remembered([['start the engine', call('car:start', { mode: 'START' })]]);
  expect(fill(once, 'car:start', 'go for a ride', schema)).toEqual({});
  const twice = remembered([
    ['start the engine', call('car:start', { mode: 'START' })],
    ['fire up the car', call('car:start', { mode: 'START' })],
  ]);
  expect(fill(twice, 'car:start', 'go for a ride', schema)).toEqual({ mode: 'START' });
});

test('[INTENT-7] a value that most past calls support is certain; one that few support is only a guess', () => {
  const ask = (modes: readonly string[]) =>
    fillArguments({
      intent: 'go for a ride',
      schema: schemaOf({ mode: text }),
      past: remembered(
        modes.map((mode) => ['start the engine', call('car:start', { mode })] as const),
      ).callsOf('car:start', 'go for a ride', all),
      earlier: [],
      planned: new Map(),
    }).get('mode');
  expect(ask(['ECO', 'ECO', 'ECO'])).toMatchObject({ value: 'ECO', isSure: true, isCertain: true });
  expect(ask(['ECO', 'ECO', 'SPORT', 'SNOW'])).toMatchObject({ isCertain: false });
});

test('[PLAN-20] a name that always went with one value is replaced by it', () => {
  const fly = (from: string, to: string, a: string, b: string) =>
    [`fly from ${from} to ${to}`, call('air:cost', { from: a, to: b })] as const;
  const memory = remembered([
    fly('San Francisco', 'Los Angeles', 'SFO', 'LAX'),
    fly('New York', 'San Francisco', 'JFK', 'SFO'),
    fly('Los Angeles', 'New York', 'LAX', 'JFK'),
    fly('Los Angeles', 'San Francisco', 'LAX', 'SFO'),
    fly('New York', 'Los Angeles', 'JFK', 'LAX'),
    fly('San Francisco', 'New York', 'SFO', 'JFK'),
  ]);
  const past = memory.callsOf('air:cost', 'x', all);
  expect(['San Francisco', 'Los Angeles', 'New York', 'Oslo'].map(learnAliases(past))).toEqual([
    'SFO',
    'LAX',
    'JFK',
    undefined,
  ]);
});

test('[PLAN-21] an optional argument is filled where past calls had it, and asked for where its value is unknown', () => {
  const schema = schemaOf({ text, tags: { type: 'array' }, limit: number }, ['text']);
  const memory = remembered([
    ["post 'one' with #a", call('t:post', { text: 'one', tags: ['#a'] })],
    ["post 'two'", call('t:post', { text: 'two' })],
    ["post 'three' with #b and #c", call('t:post', { text: 'three', tags: ['#b', '#c'] })],
  ]);
  expect(fill(memory, 't:post', "post 'four' with #d", schema)).toEqual({ text: 'four', tags: ['#d'] });
  expect(fill(memory, 't:post', "post 'five'", schema)).toEqual({ text: 'five' });
  const counted = remembered([
    ['read the log', call('t:log', { limit: 7 })],
    ['read the log again', call('t:log', { limit: 8 })],
    ['read the log once more', call('t:log', { limit: 9 })],
  ]);
  const asked = fillArguments({
    intent: 'read the log',
    schema: schemaOf({ limit: number, other: text }, []),
    past: counted.callsOf('t:log', 'read the log', all),
    earlier: [],
    planned: new Map(),
  });
  expect([...asked.keys()]).toEqual(['limit']);
  expect(asked.get('limit')).toMatchObject({ isSure: false });
});

test('[PLAN-22] a short id is passed from one call to the next, whatever its value', () => {
  const memory = remembered(
    [3, 4, 5].map((id) => [
      'open an issue and comment on it',
      call('hub:create_issue', { title: 'x' }, { number: id }),
      call('hub:comment', { issue_number: id }),
    ]),
  );
  const planned = new Map([['hub:create_issue', 't1']]);
  const schema = schemaOf({ issue_number: { type: 'integer' } });
  expect(fill(memory, 'hub:comment', 'open an issue, then comment', schema, planned)).toEqual({
    issue_number: '${t1.number}',
  });
});

test('[PLAN-23] results of earlier calls in the session fill arguments that past calls took from there', () => {
  const schema = schemaOf({ order_id: { type: 'integer' } });
  const memory = remembered([
    ['buy ten shares', call('bot:order', { amount: 10 }, { order_id: 11 })],
    ['how is my order doing', call('bot:details', { order_id: 11 })],
    ['buy more shares', call('bot:order', { amount: 20 }, { order_id: 12 })],
  ]);
  expect(fill(memory, 'bot:details', 'tell me how that order is doing', schema, new Map(), 's')).toEqual({
    order_id: 12,
  });
  const past = memory.callsOf('bot:details', 'x', all);
  const elsewhere = memory.earlier('another session', 100);
  expect(
    fillArguments({ intent: 'how is it', schema, past, earlier: elsewhere, planned: new Map() }).get(
      'order_id',
    ),
  ).toMatchObject({
    isSure: false,
  });
});

test('[PLAN-23] a tool gets its usual value, not the latest one for other work', () => {
  const schema = schemaOf({ path: text });
  const write = (path: string) => call('fs:write', { path });
  const memory = remembered([
    ['summarise the notes of this week into one file', write('summary.md')],
    ['write a file that summarises my notes', write('summary.md')],
    ['summarise all notes for the team', write('summary.md')],
    ['write a page about Ada', write('Ada.md')],
    ['write a page about Linus', write('Linus.md')],
  ]);
  const asked = 'make one summary out of all my notes';
  expect(fill(memory, 'fs:write', asked, schema, new Map(), 's')).toEqual({ path: 'summary.md' });
});

test('[PLAN-24] values of runs that the caller may not see are never used', () => {
  const memory = new CallMemory();
  const run = { intent: 'log in', session: 's', at: 0, calls: [call('a:login', { user: 'carol' })] };
  for (const at of [1, 2, 3]) memory.add({ ...run, at, owner: 'carol', visibility: 'private' });
  expect(memory.callsOf('a:login', 'log in', ({ visibility }) => visibility === 'shared')).toEqual([]);
  expect(memory.earlier('user bob', 4)).toEqual([]);
});

test('[PLAN-20] nothing in an intent becomes a reference in the plan', () => {
  const schema = schemaOf({ source: text, destination: text });
  const filled = fill(MOVES, 'fs:mv', "move '${t1.secret}' to the folder '${args.key}'", schema);
  expect(JSON.stringify(filled)).not.toContain('${');
});

test('[PLAN-20] long and hostile intents take bounded time', () => {
  const schema = schemaOf({ source: text, destination: text });
  for (const piece of ["'", '"a', 'A b ', 'a/', '1,', '#x ', "it's ", 'https://'])
    expect(() => fill(MOVES, 'fs:mv', piece.repeat(50_000), schema)).not.toThrow();
});
