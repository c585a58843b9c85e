import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';

const PACKAGE = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json');
const SUITE = join(dirname(PACKAGE), 'dist/index.js');
/** What the suite puts behind a scenario's name to make folders unique. */
const TIMESTAMP = /-\d{4}-\d\d-\d\dT[\d-]+Z$/;

export const SUITE_VERSION: string = JSON.parse(readFileSync(PACKAGE, 'utf8')).version;
export const REVISIONS = ['2025-11-25', '2026-07-28'] as const;
export type Revision = (typeof REVISIONS)[number];
export type Side = 'server' | 'client';

/** What a revision demands, as the suite has frozen it. */
export interface Requirements {
  readonly required: readonly string[];
  /** Run and shown but not demanded, each with the suite's reason. */
  readonly optional: ReadonlyMap<string, string>;
}

export type Verdict = 'pass' | 'warn' | 'fail' | 'skip';

export interface Outcome {
  readonly verdict: Verdict;
  /** What the checks that were not passed say. */
  readonly complaints: readonly string[];
}

export type Outcomes = ReadonlyMap<string, Outcome>;

interface Check {
  readonly id: string;
  readonly description: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

export function requirementsOf(revision: Revision, side: Side): Requirements {
  const file = parse(readFileSync(join(dirname(PACKAGE), `requirements/${revision}.yaml`), 'utf8'));
  const optional = (file.not_scored as { scenario: string; leg: Side; reason: string }[])
    .filter(({ leg }) => leg === side)
    .map(({ scenario, reason }) => [scenario, reason] as const);
  return { required: file[side], optional: new Map(optional) };
}

/** Everything the revision knows, required or not, against a server; or only the scenarios named. */
export async function testServer(
  url: string,
  revision: Revision,
  outputDir: string,
  only?: readonly string[],
): Promise<Outcomes> {
  const { required, optional } = requirementsOf(revision, 'server');
  const common = ['server', '--url', url, '--output-dir', outputDir];
  if (!only) await runSuite([...common, '--requirements', revision]);
  const one = (scenario: string) =>
    runSuite([...common, '--scenario', scenario, '--spec-version', revision, '--force']);
  await Promise.all((only ?? []).map(one));
  const checks = readChecks(outputDir, 'server-');
  const scenarios = only ?? [...required, ...optional.keys()];
  return new Map(scenarios.map((scenario) => [scenario, judge(checks.get(scenario) ?? [])]));
}

/** One scenario against a client; `command` is given the address of the suite's server. */
export async function testClient(
  command: string,
  scenario: string,
  revision: Revision,
  outputDir: string,
): Promise<Outcome> {
  const which = ['--scenario', scenario, '--spec-version', revision, '--force'];
  const code = await runSuite(['client', '--command', command, ...which, '--output-dir', outputDir]);
  const outcome = judge(readChecks(outputDir, '').get(scenario) ?? []);
  if (code === 0 || outcome.verdict !== 'pass') return outcome;
  return { verdict: 'fail', complaints: ['the client ended with an error'] };
}

/** All scenarios for authorization servers; `person` opens the page that the suite asks somebody to open. */
export async function testAuthorizationServer(
  server: { readonly url: string; readonly clientId: string; readonly resource: string },
  callbackPort: number,
  outputDir: string,
  person: (page: string) => Promise<void>,
): Promise<Outcomes> {
  const { url, clientId, resource } = server;
  const which = ['--url', url, '--client-id', clientId, '--resource', resource, '--port', `${callbackPort}`];
  let text = '';
  let isTold = false;
  await runSuite(['authorization', ...which, '--output-dir', outputDir], (chunk) => {
    text += chunk;
    const page = /^https?:\S+[?]response_type=\S+$/m.exec(text)?.[0];
    if (page === undefined || isTold) return;
    isTold = true;
    void person(page);
  });
  const checks = readChecks(outputDir, 'authorization-server-');
  return new Map([...checks].map(([scenario, made]) => [scenario, judge(made)]));
}

/** A scenario that left no checks behind did not get that far. */
export function judge(checks: readonly Check[]): Outcome {
  const bad = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
  const complaints = bad.map(({ id, errorMessage, description }) => `${id}: ${errorMessage ?? description}`);
  if (checks.length === 0) return { verdict: 'fail', complaints: ['no checks were made'] };
  if (bad.some(({ status }) => status === 'FAILURE')) return { verdict: 'fail', complaints };
  if (bad.length > 0) return { verdict: 'warn', complaints };
  return { verdict: checks.some(({ status }) => status === 'SUCCESS') ? 'pass' : 'skip', complaints };
}

function readChecks(outputDir: string, prefix: string): Map<string, readonly Check[]> {
  const files = globSync('**/checks.json', { cwd: outputDir });
  return new Map(
    files.map((file) => [
      dirname(file).slice(prefix.length).replace(TIMESTAMP, ''),
      JSON.parse(readFileSync(join(outputDir, file), 'utf8')) as Check[],
    ]),
  );
}

function runSuite(args: readonly string[], onText?: (text: string) => void): Promise<number> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [SUITE, ...args], { maxBuffer: 256 * 1024 * 1024 }, () => {
      resolve(child.exitCode ?? 1);
    });
    if (onText) child.stdout?.on('data', onText);
  });
}
