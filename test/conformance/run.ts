/**
 * `npm run conformance [-- --only direct|gateway|client]... [--json] [--results DIR]`: the official suite
 * against the fixture server directly, against the same server behind the gateway, and against the
 * gateway's client side. Fails when the gateway loses something, or something that is offered fails.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { testUpstreamSide } from './client-side.ts';
import { type Column, problemsOf, scoreOf, table } from './report.ts';
import { testDirectly, testThroughGateway } from './server-side.ts';
import { REVISIONS, type Revision, requirementsOf, type Side, SUITE_VERSION } from './suite.ts';

const PARTS = ['direct', 'gateway', 'client'];

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: PARTS },
    json: { type: 'boolean', default: false },
    results: { type: 'string' },
  },
});
const unknown = values.only.filter((part) => !PARTS.includes(part));
if (unknown.length > 0) {
  process.stderr.write(`conformance: no such part: ${unknown.join(', ')}; there are ${PARTS.join(', ')}\n`);
  process.exit(2);
}

interface Section {
  readonly side: Side;
  readonly revision: Revision;
  readonly columns: readonly Column[];
}

async function measure(dir: string): Promise<Section[]> {
  const sections: Section[] = [];
  const throughGateway = values.only.includes('gateway');
  if (throughGateway || values.only.includes('direct')) {
    const direct = await testDirectly(dir);
    const behind = throughGateway ? await testThroughGateway(dir) : null;
    for (const revision of REVISIONS) {
      const columns = [...direct.get(revision)!, ...(behind?.get(revision) ?? [])];
      sections.push({ side: 'server', revision, columns });
    }
  }
  if (values.only.includes('client')) {
    for (const revision of REVISIONS) {
      const outcomes = await testUpstreamSide(revision, join(dir, `client-${revision}`));
      sections.push({ side: 'client', revision, columns: [{ title: 'upstream side', outcomes }] });
    }
  }
  return sections;
}

function toJson({ side, revision, columns }: Section) {
  const requirements = requirementsOf(revision, side);
  return {
    side,
    revision,
    ways: columns.map(({ title, outcomes }) => ({
      way: title,
      ...scoreOf(requirements, outcomes),
      scenarios: Object.fromEntries([...outcomes].map(([scenario, { verdict }]) => [scenario, verdict])),
    })),
  };
}

const dir =
  values.results === undefined ? mkdtempSync(join(tmpdir(), 'pml-conformance-')) : resolve(values.results);
mkdirSync(dir, { recursive: true });
try {
  const sections = await measure(dir);
  const problems = sections.flatMap(({ side, revision, columns }) =>
    problemsOf(requirementsOf(revision, side), columns).map((problem) => `${revision} ${problem}`),
  );
  if (values.json) {
    const report = { suite: SUITE_VERSION, node: process.version, sections: sections.map(toJson), problems };
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  } else {
    for (const { side, revision, columns } of sections) {
      process.stdout.write(`${table(`${revision}, ${side}`, requirementsOf(revision, side), columns)}\n\n`);
    }
    const verdict = problems.length === 0 ? 'No problems.' : `Problems:\n  ${problems.join('\n  ')}`;
    process.stdout.write(`${verdict}\n`);
  }
  if (problems.length > 0) process.exitCode = 1;
} finally {
  if (values.results === undefined) rmSync(dir, { recursive: true, force: true });
}
