import { NOT_OFFERED } from './not-offered.ts';
import type { Outcome, Outcomes, Requirements, Verdict } from './suite.ts';

/** One column of the table: the same scenarios, met in another way. */
export interface Column {
  readonly title: string;
  readonly outcomes: Outcomes;
}

export interface Share {
  readonly passed: number;
  readonly of: number;
}

const RANK: Readonly<Record<Verdict, number>> = { pass: 3, skip: 2, warn: 1, fail: 0 };
const NOT_RUN: Outcome = { verdict: 'fail', complaints: ['it was not run'] };

/** What passes in the first column must pass in the others; whatever is offered must pass in the first. */
export function problemsOf(requirements: Requirements, columns: readonly Column[]): string[] {
  const [first, ...others] = columns;
  if (!first) return [];
  return [
    ...scenariosOf(requirements).flatMap((scenario) => failing(scenario, first)),
    ...others.flatMap((other) => [...first.outcomes.keys()].flatMap((name) => lost(name, first, other))),
  ];
}

function failing(scenario: string, { title, outcomes }: Column): string[] {
  const { verdict, complaints } = outcomes.get(scenario) ?? NOT_RUN;
  if (!NOT_OFFERED.has(scenario)) {
    return verdict === 'pass' ? [] : [`${scenario}: ${verdict} ${title}: ${complaints.join('; ')}`];
  }
  return verdict === 'pass' ? [`${scenario}: passes ${title}, although it is not offered`] : [];
}

function lost(scenario: string, first: Column, other: Column): string[] {
  const before = first.outcomes.get(scenario) ?? NOT_RUN;
  const { verdict, complaints } = other.outcomes.get(scenario) ?? NOT_RUN;
  if (RANK[verdict] >= RANK[before.verdict]) return [];
  return [
    `${scenario}: ${before.verdict} ${first.title}, ${verdict} ${other.title}: ${complaints.join('; ')}`,
  ];
}

export function scoreOf({ required, optional }: Requirements, outcomes: Outcomes) {
  const share = (scenarios: readonly string[]): Share => ({
    passed: scenarios.filter((scenario) => outcomes.get(scenario)?.verdict === 'pass').length,
    of: scenarios.length,
  });
  return { required: share(required), optional: share([...optional.keys()]) };
}

/** A line per scenario, a column per way, and the scores below. */
export function table(heading: string, requirements: Requirements, columns: readonly Column[]): string {
  const scores = columns.map(({ outcomes }) => scoreOf(requirements, outcomes));
  const rows = [
    [heading, ...columns.map(({ title }) => title)],
    ...scenariosOf(requirements).map((scenario) => [
      `  ${scenario}${remark(requirements, scenario)}`,
      ...columns.map(({ outcomes }) => outcomes.get(scenario)?.verdict ?? '-'),
    ]),
    ['  Required', ...scores.map(({ required }) => `${required.passed}/${required.of}`)],
    ['  Not required', ...scores.map(({ optional }) => `${optional.passed}/${optional.of}`)],
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ');
  return rows.map((row) => line(row).trimEnd()).join('\n');
}

function remark({ optional }: Requirements, scenario: string): string {
  const reason = optional.get(scenario);
  if (reason === undefined) return '';
  return NOT_OFFERED.has(scenario) ? ` (${reason}, not offered)` : ` (${reason})`;
}

function scenariosOf({ required, optional }: Requirements): string[] {
  return [...required, ...optional.keys()];
}
