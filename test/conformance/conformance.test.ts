import { expect, test } from 'vitest';
import { temporaryDir } from '../support/temporary-dir.ts';
import { problemsOf } from './report.ts';
import { testFixture } from './server-side.ts';
import { judge, REVISIONS, requirementsOf } from './suite.ts';

test('[CNF-1] the fixture passes all it offers in the official suite, in both revisions', async () => {
  const columns = await testFixture(REVISIONS, await temporaryDir(), false);
  for (const revision of REVISIONS) {
    expect(problemsOf(requirementsOf(revision, 'server'), columns.get(revision)!)).toEqual([]);
  }
});

test.each([
  { statuses: ['SUCCESS', 'INFO', 'SKIPPED'], verdict: 'pass' },
  { statuses: ['SUCCESS', 'WARNING'], verdict: 'warn' },
  { statuses: ['SUCCESS', 'WARNING', 'FAILURE'], verdict: 'fail' },
  { statuses: ['SKIPPED', 'INFO'], verdict: 'skip' },
  { statuses: [], verdict: 'fail' },
] as const)('judges a scenario by its worst check: $statuses is $verdict', ({ statuses, verdict }) => {
  const checks = statuses.map((status, index) => ({ id: `check-${index}`, description: 'It works', status }));
  expect(judge(checks).verdict).toBe(verdict);
});
