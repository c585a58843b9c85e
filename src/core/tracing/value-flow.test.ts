import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { capabilityNode, type NodeId, operationId, toolId } from '../vocabulary/ids.ts';
import type { TraceEvent } from '../vocabulary/trace-event.ts';
import { callSpans } from './derive-trace.ts';
import { observedValueFlow } from './value-flow.ts';

const search = toolId('github', 'search_issues');
const comment = toolId('github', 'add_comment');
const list = toolId('filesystem', 'list_directory');
const read = toolId('filesystem', 'read_text_file');
const capability = capabilityNode('00000000-0000-4000-8000-000000000000');

interface Call {
  readonly id: string;
  readonly node?: NodeId;
  readonly parent?: string | null;
  readonly from: number;
  readonly to: number;
  readonly args?: unknown;
  readonly result?: unknown;
  readonly success?: boolean;
}

function eventsOf(...calls: readonly Call[]): TraceEvent[] {
  return calls.flatMap(({ id, node = search, parent = null, from, to, args, result, success = true }) => {
    const kind = node === capability ? 'capability' : 'tool';
    const base = { traceId: id, parentTraceId: parent, node };
    return [
      { ...base, type: `${kind}_start` as 'tool_start', ts: from, args },
      { ...base, type: `${kind}_end` as 'tool_end', ts: to, success, durationMs: to - from, result },
    ];
  });
}

/** `a.items[0].id -> b.issue` */
function flowOf(calls: readonly Call[], input?: unknown): string[] {
  return observedValueFlow(eventsOf(...calls), input).map(
    ({ fromTraceId, fromPath, toTraceId, toPath }) => `${fromTraceId}.${fromPath} -> ${toTraceId}.${toPath}`,
  );
}

const text = (...texts: string[]) => texts.map((text) => ({ type: 'text', text }));

describe('a distinctive value of one result in the arguments of a later call', () => {
  test('[VALUE-1] is observed with both tools and both paths', () => {
    const calls: Call[] = [
      { id: 'a', from: 0, to: 1, result: { items: [{ id: 4821937 }, { id: 77, url: 'https://x.org/9' }] } },
      {
        id: 'b',
        node: comment,
        from: 2,
        to: 3,
        args: { issue: 4821937, 'odd name': ['https://x.org/9'] },
      },
    ];
    expect(observedValueFlow(eventsOf(...calls))).toEqual([
      {
        fromTraceId: 'a',
        toTraceId: 'b',
        from: search,
        to: comment,
        fromPath: 'items[0].id',
        toPath: 'issue',
      },
      {
        fromTraceId: 'a',
        toTraceId: 'b',
        from: search,
        to: comment,
        fromPath: 'items[1].url',
        toPath: '["odd name"][0]',
      },
    ]);
  });

  test('[VALUE-2] is found inside a longer argument, from word edge to word edge', () => {
    const giving: Call = {
      id: 'a',
      from: 0,
      to: 1,
      result: { name: 'report-2026', title: 'Sales in March' },
    };
    const taking = (path: string): Call[] => [giving, { id: 'b', from: 2, to: 3, args: { path } }];
    expect(flowOf(taking('/srv/report-2026/index.html'))).toEqual(['a.name -> b.path']);
    expect(flowOf(taking('About "Sales in March" and report-2026.'))).toEqual([
      'a.title -> b.path',
      'a.name -> b.path',
    ]);
    expect(flowOf(taking('/srv/old-report-2026/index.html'))).toEqual([]);
    expect(flowOf(taking('/srv/report-20267'))).toEqual([]);
  });

  test('[VALUE-3] may be a line, a word or a part of a text', () => {
    const listing = text(
      '[DIR] archive\n[FILE] yearly figures.csv\n[FILE] notes.txt',
      'Path: /srv/data/x.json',
    );
    const taking = (path: string) =>
      flowOf([
        { id: 'a', node: list, from: 0, to: 1, result: listing },
        { id: 'b', node: read, from: 2, to: 3, args: { path } },
      ]);
    for (const path of ['yearly figures.csv', 'notes.txt', '/tmp/notes.txt', '/srv/data/x.json', 'x.json']) {
      expect(taking(path), path).toEqual(['a. -> b.path']);
    }
    // Part of a path on both sides is not evidence: the program may have known it.
    expect(taking('/tmp/x.json')).toEqual([]);
  });

  test('[VALUE-4] is found in content blocks whose text is JSON, at the path the program sees', () => {
    const result = text('{"data": {"user": {"login": "octocat-4711"}}}');
    const calls = [
      { id: 'a', from: 0, to: 1, result },
      { id: 'b', from: 2, to: 3, args: { who: 'octocat-4711' } },
    ];
    expect(flowOf(calls)).toEqual(['a.data.user.login -> b.who']);
  });

  test('[VALUE-5] comes from the latest result that holds it', () => {
    const result = { id: 'rev-88123' };
    const calls = [
      { id: 'a', from: 0, to: 1, result },
      { id: 'b', from: 1, to: 9, result },
      { id: 'c', from: 2, to: 3, result },
      { id: 'd', from: 4, to: 5, args: { id: 'rev-88123' } },
    ];
    expect(flowOf(calls)).toEqual(['c.id -> d.id']);
  });

  test('[VALUE-6] does not count when it was known before the result', () => {
    const value = 'projects/alpha-7';
    const giving: Call = { id: 'a', from: 1, to: 2, result: { parent: value, note: `in ${value}` } };
    const taking: Call = { id: 'z', from: 8, to: 9, args: { parent: value } };
    expect(flowOf([giving, taking])).toEqual(['a.parent -> z.parent']);
    const reasons: Record<string, Call[]> = {
      'an echo of its own arguments': [{ ...giving, args: { path: `${value}/x` } }, taking],
      'in earlier arguments': [{ id: 'b', from: 0, to: 1, args: { at: value } }, giving, taking],
      'in arguments of a call that had begun': [
        { id: 'b', from: 1.5, to: 7, args: { at: value } },
        giving,
        taking,
      ],
    };
    for (const [reason, calls] of Object.entries(reasons)) expect(flowOf(calls), reason).toEqual([]);
    expect(flowOf([giving, taking], { parent: value })).toEqual([]);
    expect(flowOf([giving, taking], { code: `mcp.x.y({ parent: "${value}" })` })).toEqual([]);
  });

  test('[VALUE-6] a value that was taken once does not count as known', () => {
    const calls = [
      { id: 'a', from: 0, to: 1, result: { id: 'rev-88123' } },
      { id: 'b', from: 2, to: 3, args: { path: '/x/rev-88123/template-file.md' } },
      { id: 'c', from: 4, to: 5, result: { id: 'rev-88123', name: 'template-file.md' } },
      { id: 'd', from: 6, to: 7, args: { id: 'rev-88123', name: 'template-file.md' } },
    ];
    expect(flowOf(calls)).toEqual(['a.id -> b.path', 'c.id -> d.id']);
  });

  test('[VALUE-7] passes between calls of one program: a capability gives and takes as a whole', () => {
    const id = 'customer-90417';
    const calls: Call[] = [
      { id: 'C', node: capability, from: 0, to: 5, result: { customer: id } },
      { id: 'x', parent: 'C', from: 1, to: 2, result: { rows: [{ id }] } },
      { id: 'y', parent: 'C', from: 3, to: 4, args: { id } },
      { id: 'D', node: capability, from: 6, to: 9, args: { who: id } },
      { id: 'z', parent: 'D', from: 7, to: 8, args: { id } },
    ];
    expect(flowOf(calls).sort()).toEqual(['C.customer -> D.who', 'x.rows[0].id -> y.id']);
  });

  test('[VALUE-8] counts only from successful calls, to calls that began after they ended', () => {
    const result = { id: 'rev-88123' };
    const taking = { id: 'b', from: 4, to: 5, args: result };
    expect(flowOf([{ id: 'a', from: 0, to: 4, result }, taking])).toEqual(['a.id -> b.id']);
    expect(flowOf([{ id: 'a', from: 0, to: 4.5, result }, taking])).toEqual([]);
    expect(flowOf([{ id: 'a', from: 0, to: 4, result, success: false }, taking])).toEqual([]);
  });

  test('[VALUE-9] common values prove nothing', () => {
    const common = [
      ...[
        'in progress',
        'pull_request',
        'application/json',
        '2026-11-15',
        '12:30:00',
        'sha256',
        '[redacted]',
      ],
      ...['configuration', 'README', 'Page 2', '--------', 'main', 'true', '1000000', '65536'],
      ...[true, null, 0, 42, 99999, 1048576, 2147483647, 0.5, 1e9],
    ];
    const calls = [
      { id: 'a', from: 0, to: 1, result: { common } },
      { id: 'b', from: 2, to: 3, args: { common } },
    ];
    expect(flowOf(calls)).toEqual([]);
  });
});

describe('whatever the values', () => {
  const moment = fc.integer({ min: 0, max: 20 });
  const values = ['src/index.ts', 'abc-12345', 'abc-12345/x.md', 7654321, 'ok', 3, 'a.b.c.d.e', 'x', true];
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(...values),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b c', 'd'), tie('value'), { maxKeys: 3 }),
    ),
  })).value;
  const call = fc.record({
    times: fc.tuple(moment, moment),
    parent: fc.constantFrom(null, 't0', 't1'),
    args: json,
    result: json,
    isText: fc.boolean(),
  });
  const runs = fc.array(call, { maxLength: 8 }).map((calls) =>
    calls.map(
      ({ times, parent, args, result, isText }, i): Call => ({
        id: `t${i}`,
        parent: parent === `t${i}` ? null : parent,
        from: Math.min(...times),
        to: Math.max(...times),
        args,
        result: isText ? text(JSON.stringify(result)) : result,
      }),
    ),
  );

  test('[VALUE-8] nothing flows back in time, to itself or between programs', () => {
    fc.assert(
      fc.property(runs, (calls) => {
        const events = eventsOf(...calls);
        const spans = callSpans(events);
        const orderOf = (id: string) => spans.findIndex(({ start }) => start.traceId === id);
        for (const { fromTraceId, toTraceId } of observedValueFlow(events)) {
          const [from, to] = [orderOf(fromTraceId), orderOf(toTraceId)];
          expect(from).toBeLessThan(to);
          expect(spans[from]!.endTs).toBeLessThanOrEqual(spans[to]!.startTs);
          expect(spans[from]!.start.parentTraceId).toBe(spans[to]!.start.parentTraceId);
        }
      }),
      { numRuns: proofRuns(3_000), seed: proofSeed() },
    );
  });

  test('[VALUE-1] a planted value is found among any others, at its paths', () => {
    const planted = fc.constantFrom('order-55-zulu', 918273645, '/var/lib/zulu.db', 'Zulu time is eight');
    fc.assert(
      fc.property(planted, json, json, json, fc.boolean(), (value, noise, other, args, isText) => {
        const result = { noise, deep: [{ value }], other };
        const calls: Call[] = [
          { id: 'a', from: 0, to: 1, args: noise, result: isText ? text(JSON.stringify(result)) : result },
          { id: 'b', from: 2, to: 3, args: { args, given: { here: value } } },
        ];
        expect(flowOf(calls)).toContain('a.deep[0].value -> b.given.here');
      }),
      { numRuns: proofRuns(2_000), seed: proofSeed() },
    );
  });

  test('[VALUE-1] what went into some calls is the same as among all', () => {
    const value = fc.constantFrom('record-4821', 'https://x.org/9', 'ticket 77 is open', 'Ada Lovelace');
    const given = fc.array(value, { maxLength: 3 });
    const family = fc.constantFrom(null, 'c0');
    fc.assert(
      fc.property(fc.array(fc.tuple(given, given, family), { maxLength: 8 }), fc.nat(255), (made, chosen) => {
        const calls = made.map(([args, result, parent], i) => {
          const id = `c${i}`;
          return { id, parent: i === 0 ? null : parent, from: 2 * i, to: 2 * i + 1, args: { args }, result };
        });
        const into = new Set(calls.filter((_, i) => chosen & (1 << i)).map(({ id }) => id));
        const all = observedValueFlow(eventsOf(...calls));
        const some = observedValueFlow(eventsOf(...calls), undefined, into);
        expect(some).toEqual(all.filter(({ toTraceId }) => into.has(toTraceId)));
      }),
      { numRuns: proofRuns(1_000), seed: proofSeed() },
    );
  });

  test('[VALUE-9] small numbers, words and booleans at random give nothing', () => {
    const word = fc.string({ unit: fc.constantFrom(...'abcdefghij'), maxLength: 12 });
    const small = fc.oneof(fc.integer({ min: -99_999, max: 99_999 }), fc.boolean(), fc.constant(null), word);
    const value = fc.array(small, { maxLength: 30 });
    fc.assert(
      fc.property(value, value, (result, args) => {
        expect(
          flowOf([
            { id: 'a', from: 0, to: 1, result: { result } },
            { id: 'b', from: 2, to: 3, args: { result, args } },
          ]),
        ).toEqual([]);
      }),
      { numRuns: proofRuns(1_000), seed: proofSeed() },
    );
  });
});

describe('how a value was taken', () => {
  const shapes = (calls: readonly Call[]) =>
    observedValueFlow(eventsOf(...calls)).map(
      ({ fromTraceId: _, toTraceId: __, from: ___, to: ____, ...shape }) => shape,
    );
  const listing = { content: '[FILE] a.txt\n[FILE] b.txt\n[DIR] old' };

  test('[VALUE-11] a file name in a listed folder is recognised by both, however short it is', () => {
    const calls: Call[] = [
      { id: 'a', node: list, from: 0, to: 1, args: { path: '/notes' }, result: listing },
      { id: 'b', node: read, from: 2, to: 3, args: { path: '/notes/a.txt' } },
      { id: 'c', node: read, from: 2, to: 3, args: { path: '/elsewhere/b.txt' } },
    ];
    expect(shapes(calls)).toEqual([{ fromPath: 'content', toPath: 'path', line: '[FILE] ', beside: 'path' }]);
  });

  test('[VALUE-11] parts of texts, and values inside longer arguments, are distinguished from whole values', () => {
    const said = 'Apples are picked in the northern orchard.';
    const calls: Call[] = [
      {
        id: 'a',
        from: 0,
        to: 1,
        result: { said, more: 'see https://x.org/9 or so', list: '- first-item-1\n- second-item-2' },
      },
      { id: 'b', node: comment, from: 2, to: 3, args: { whole: said, some: `Note: ${said} So there.` } },
      { id: 'c', node: comment, from: 4, to: 5, args: { link: 'https://x.org/9', item: 'second-item-2' } },
    ];
    expect(shapes(calls)).toEqual([
      { fromPath: 'said', toPath: 'whole' },
      { fromPath: 'said', toPath: 'some', isInside: true },
      { fromPath: 'more', toPath: 'link', isPart: true },
      { fromPath: 'list', toPath: 'item', line: '- ' },
    ]);
  });

  test("[VALUE-12] a value that a plan's code passes on is also traced to the tool before it", () => {
    const names = operationId('names');
    const calls: Call[] = [
      { id: 'a', node: list, from: 0, to: 1, args: { path: '/notes' }, result: listing },
      { id: 'b', node: names, from: 2, to: 3, args: {}, result: ['/notes/a.txt', '/notes/b.txt'] },
      { id: 'c', node: read, from: 4, to: 5, args: { path: '/notes/a.txt' } },
    ];
    expect(flowOf(calls)).toEqual(['b.[0] -> c.path', 'a.content -> c.path']);
  });
});

describe('[VALUE-10] of one run', () => {
  const chain = (length: number, body: string): Call[] =>
    Array.from({ length }, (_, i) => ({
      id: `t${i}`,
      from: i,
      to: i + 0.5,
      args: { id: `record-${i - 1}-of-many` },
      result: { id: `record-${i}-of-many`, body },
    }));

  test('a thousand observations are kept', () => {
    expect(flowOf(chain(1_500, ''))).toHaveLength(1_000);
  });

  test('half a million characters are searched, and 65,536 per result', () => {
    const looked = flowOf(chain(100, 'many words '.repeat(6_000)));
    expect(looked.slice(0, 3)).toEqual(['t0.id -> t1.id', 't1.id -> t2.id', 't2.id -> t3.id']);
    expect(looked).toHaveLength(7);
  });
});
