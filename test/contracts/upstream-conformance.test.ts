import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const CLIENT = fileURLToPath(import.meta.resolve('../fixtures/servers/conformance-client.ts'));
const SUITE = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')),
  'dist/index.js',
);

/** One of each kind; `npm run conformance` runs them all. */
test.each([
  ['initialize', '2025-11-25'],
  ['tools_call', '2025-11-25'],
  ['tools_call', '2026-07-28'],
  ['sep-2322-client-request-state', '2026-07-28'],
  ['auth/scope-step-up', '2026-07-28'],
  ['auth/enterprise-managed-authorization', '2026-07-28'],
  ['auth/dpop-nonce', '2025-11-25'],
])('[UP-45] passes the official suite as a client: %s, %s', async (scenario, version) => {
  const args = ['client', '--command', `"${process.execPath}" "${CLIENT}"`];
  const run = promisify(execFile)(process.execPath, [
    SUITE,
    ...args,
    '--scenario',
    scenario,
    '--spec-version',
    version,
    // Scenarios of extensions belong to no revision.
    '--force',
  ]);
  const { stdout, stderr } = await run.catch((error) => error);
  expect(`${stdout}${stderr}`).toContain('OVERALL: PASSED');
});
