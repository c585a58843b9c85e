import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openedGateway, runCommand } from '../../../../test/support/command-line.ts';
import { handMadeGateway } from '../../../../test/support/hand-made-gateway.ts';
import { sampleApproval, sampleResult } from '../../../../test/support/samples.ts';
import { temporaryDir } from '../../../../test/support/temporary-dir.ts';
import type { RunResult } from '../../../engine/runs/run.ts';
import type { CodeCall } from '../../../engine/runs/run-requests.ts';
import { codeFrame } from '../tell-run.ts';

const RUN = sampleResult({ result: { files: 2 } });

function running(gives: Partial<RunResult> = {}) {
  const asked: CodeCall[] = [];
  const gateway = handMadeGateway({
    async executeCode(call) {
      asked.push(call);
      return { ...RUN, ...gives };
    },
  });
  return { asked, system: { openGateway: async () => openedGateway(gateway) } };
}

async function program(code: string): Promise<string> {
  const file = join(await temporaryDir(), 'program.ts');
  await writeFile(file, code);
  return file;
}

test('[RUN-1] a file is run with arguments, intent and time limit; stdout has only its result', async () => {
  const { asked, system } = running({
    console: [
      { level: 'log', text: 'working' },
      { level: 'error', text: 'oh\u001b[2J' },
    ],
  });
  const file = await program('return 1;');
  const argv = ['run', file, '--intent', 'count', '--args', '{"n": 1}', '--timeout', '500'];
  expect(await runCommand(argv, system)).toMatchObject({
    code: 0,
    out: '{\n  "files": 2\n}\n',
    err: 'working\nerror: oh\\u001b[2J\n',
  });
  expect(asked).toEqual([{ code: 'return 1;', arguments: { n: 1 }, intent: 'count', timeoutMs: 500 }]);
});

test('[RUN-1] text is printed as it is, no result as nothing, and - is stdin', async () => {
  const { asked, system } = running({ result: 'two\nlines\u0007' });
  expect(await runCommand(['run', '-'], system, { input: 'return x' })).toMatchObject({
    code: 0,
    out: 'two\nlines\u0007\n',
  });
  expect(asked).toEqual([{ code: 'return x', arguments: {} }]);
  const seen = await runCommand(['run', '-'], system, { input: 'return x', isTty: true });
  expect(seen.out).toBe('two\nlines\\u0007\n');
  for (const result of [undefined, null]) {
    const told = await runCommand(['run', '-'], running({ result }).system, { input: 'return x' });
    expect(told).toMatchObject({ code: 0, out: '' });
  }
});

test('[RUN-1] --json prints the run as the API returns it', async () => {
  const { system } = running({ result: undefined });
  const { out } = await runCommand(['run', '-', '--json'], system, { input: 'return' });
  expect(JSON.parse(out)).toEqual({ status: 'success', run_id: 'run-1', trace_id: 'trace-1', result: null });
});

test('[RUN-2] an error is printed with file, line, column and the source line', async () => {
  const error = {
    code: 'code_failed',
    message: 'TypeError: x is not a function (line 2, column 8)',
    hint: 'Look at x.',
    line: 2,
    column: 8,
  } as const;
  const { system } = running({ status: 'error', result: undefined, error });
  const file = await program('const x = 1;\nreturn x();\n');
  const failed = await runCommand(['run', file], system);
  expect(failed).toMatchObject({ code: 1, out: '' });
  expect(failed.err).toBe(
    `pml: ${file}:2:8: TypeError: x is not a function\n  2 | return x();\n    |        ^\n  Look at x.\n`,
  );
  const json = await runCommand(['run', file, '--json'], system);
  expect(json.code).toBe(1);
  expect(JSON.parse(json.out)).toMatchObject({ status: 'error', error });
});

test('[RUN-2] a long line is shown only around the place; a missing line is not shown', () => {
  const long = `${'a'.repeat(500)}!${'b'.repeat(500)}`;
  const [line, caret] = codeFrame(`\n\t${long}`, 2, 502).split('\n');
  expect(line).toMatch(/^ {2}2 \| …a{60}!b{59}$/);
  expect(line?.[caret?.indexOf('^') ?? 0]).toBe('!');
  expect(codeFrame('\tx()\r\n', 1, 2)).toBe('  1 |   x()\n    |   ^\n');
  expect(codeFrame('x', 3, 1)).toBe('');
  expect(codeFrame('\u001b[2Jx', 1, 5)).toBe('  1 | \\u001b[2Jx\n    |          ^\n');
});

test('[RUN-3] a run that needs approval says how to approve it', async () => {
  const approval = sampleApproval({ runId: 'run-1', arguments: { path: '/srv' } });
  const { system } = running({ status: 'approval_required', result: undefined, approvals: [approval] });
  const asked = await runCommand(['run', '-'], system, { input: 'return x' });
  expect(asked).toMatchObject({ code: 1, out: '' });
  expect(asked.err).toContain(`${approval.node}  (pending; `);
  expect(asked.err).toContain('"path": "/srv"');
  expect(asked.err).toContain('"pml runs approve run-1", then resume it with "pml runs resume run-1"');
});

test('[RUN-4] an unreadable file and arguments that are not an object are errors', async () => {
  const { system, asked } = running();
  expect(await runCommand(['run', '/nowhere/x.ts'], system)).toMatchObject({
    code: 1,
    err: expect.stringContaining('Cannot read /nowhere/x.ts'),
  });
  for (const args of ['{', '[1]', '1', 'null']) {
    const wrong = await runCommand(['run', '-', '--args', args], system);
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('Must be a JSON object') });
  }
  expect(asked).toEqual([]);
});
