import { expect, test } from 'vitest';
import { type Column, problemsOf, scoreOf, table } from './report.ts';
import type { Requirements, Verdict } from './suite.ts';

const REQUIREMENTS: Requirements = {
  required: ['ping', 'tools-list'],
  optional: new Map([
    ['json-schema-2020-12', 'pending'],
    ['tasks-status-notifications', 'extension'],
  ]),
};

function column(title: string, verdicts: Readonly<Record<string, Verdict>>): Column {
  const outcomes = Object.entries({
    ping: 'pass',
    'tools-list': 'pass',
    'json-schema-2020-12': 'pass',
    'tasks-status-notifications': 'fail',
    ...verdicts,
  } as const).map(([scenario, verdict]) => [scenario, { verdict, complaints: ['because'] }] as const);
  return { title, outcomes: new Map(outcomes) };
}

test('[CNF-2] finds no problem where nothing is lost', () => {
  expect(problemsOf(REQUIREMENTS, [column('direct', {}), column('gateway', {})])).toEqual([]);
});

test('[CNF-2] reports whatever is worse through the gateway, with the reason', () => {
  const gateway = column('gateway', { ping: 'fail', 'tools-list': 'warn', 'json-schema-2020-12': 'skip' });
  expect(problemsOf(REQUIREMENTS, [column('direct', {}), gateway])).toEqual([
    'ping: pass direct, fail gateway: because',
    'tools-list: pass direct, warn gateway: because',
    'json-schema-2020-12: pass direct, skip gateway: because',
  ]);
});

test('[CNF-2] a scenario that was not run through the gateway is lost', () => {
  const gateway: Column = { title: 'gateway', outcomes: new Map() };
  expect(
    problemsOf(REQUIREMENTS, [column('direct', { 'tasks-status-notifications': 'fail' }), gateway]),
  ).toHaveLength(3);
});

test('[CNF-2] an offered feature must pass, and a passing one must not be listed as not offered', () => {
  const verdicts = {
    'tools-list': 'warn',
    'json-schema-2020-12': 'fail',
    'tasks-status-notifications': 'pass',
  } as const;
  expect(problemsOf(REQUIREMENTS, [column('direct', verdicts)])).toEqual([
    'tools-list: warn direct: because',
    'json-schema-2020-12: fail direct: because',
    'tasks-status-notifications: passes direct, although it is not offered',
  ]);
});

test('shows every scenario in every column, and the scores', () => {
  const columns = [column('direct', {}), column('gateway', { ping: 'fail' })];
  expect(scoreOf(REQUIREMENTS, columns[1]!.outcomes)).toEqual({
    required: { passed: 1, of: 2 },
    optional: { passed: 1, of: 2 },
  });
  expect(table('2026-07-28, server', REQUIREMENTS, columns).split('\n')).toEqual([
    '2026-07-28, server                                     direct  gateway',
    '  ping                                                 pass    fail',
    '  tools-list                                           pass    pass',
    '  json-schema-2020-12 (pending)                        pass    pass',
    '  tasks-status-notifications (extension, not offered)  fail    fail',
    '  Required                                             2/2     1/2',
    '  Not required                                         1/2     1/2',
  ]);
});
