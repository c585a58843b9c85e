import { userInfo } from 'node:os';
import { expect, test } from 'vitest';
import { openedGateway, runCommand } from '../../../../test/support/command-line.ts';
import { handMadeGateway } from '../../../../test/support/hand-made-gateway.ts';
import { sampleApproval, sampleResult, sampleRun } from '../../../../test/support/samples.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import type { RunResult } from '../../../engine/runs/run.ts';

async function waiting(parts: Partial<Gateway> = {}) {
  const gateway = handMadeGateway(parts);
  const { store } = gateway;
  await store.runs.create(sampleRun({ id: 'run-1', status: 'paused', intentText: 'tidy up' }));
  const args = { path: '/srv/old.txt', force: true };
  await store.approvals.request(sampleApproval({ runId: 'run-1', arguments: args }));
  return { gateway, system: { openGateway: async () => openedGateway(gateway) } };
}

test('[RUNS-1] waiting calls are listed with exact arguments and the reason', async () => {
  const { system } = await waiting();
  const { code, out } = await runCommand(['runs'], system);
  expect(code).toBe(0);
  expect(out).toMatch(/^run-1 {2}paused {2}tidy up\n {2}filesystem:write_file {2}\(pending; .*destructive\)/);
  expect(out).toContain('"path": "/srv/old.txt",\n    "force": true');
  const json = JSON.parse((await runCommand(['runs', 'ls', '--json'], system)).out);
  expect(json.runs[0]).toMatchObject({ run_id: 'run-1', approvals: [{ arguments: { force: true } }] });
  expect(
    (await runCommand(['runs'], { openGateway: async () => openedGateway(handMadeGateway()) })).out,
  ).toBe('No runs are waiting for your decision.\n');
});

test('[RUNS-2] the person sees what will run before deciding, and only a yes approves it', async () => {
  const { gateway, system } = await waiting();
  const refused = await runCommand(['runs', 'approve', 'run-1'], system, { answer: false });
  expect(refused.asked).toEqual(['Approve it?']);
  expect(refused.err).toContain('"path": "/srv/old.txt"');
  expect(refused.out).toBe('');
  expect(await gateway.store.approvals.list({ state: 'pending' })).toHaveLength(1);

  const nobody = await runCommand(['runs', 'approve', 'run-1'], system, { answer: null });
  expect(nobody).toMatchObject({ code: 2, err: expect.stringContaining('--yes') });
  expect(await gateway.store.approvals.list({ state: 'pending' })).toHaveLength(1);

  const approved = await runCommand(['runs', 'approve', 'run-1'], system, { answer: true });
  expect(approved).toMatchObject({ code: 0, out: 'Run run-1 is approved.\n' });
  const [settled] = await gateway.store.approvals.list({ runId: 'run-1' });
  expect(settled).toMatchObject({ state: 'approved', settledBy: userInfo().username });
});

test('[RUNS-3] the first decision stands, and an unknown run is an error', async () => {
  const { system } = await waiting();
  expect((await runCommand(['runs', 'reject', 'run-1', '--yes'], system)).out).toBe(
    'Run run-1 is rejected.\n',
  );
  const late = await runCommand(['runs', 'approve', 'run-1', '--yes', '--json'], system);
  expect(late.code).toBe(1);
  expect(JSON.parse(late.out).error).toMatchObject({ code: 'store_conflict' });
  expect((await runCommand(['runs', 'show', 'run-1'], system)).out).toContain(
    `rejected by ${userInfo().username}`,
  );
  expect(await runCommand(['runs', 'show', 'none'], system)).toMatchObject({
    code: 1,
    err: expect.stringContaining('Run none not found'),
  });
  expect((await runCommand(['runs', 'ls', '--all'], system)).out).toContain('run-1');
});

test('[RUNS-4] nothing that an agent wrote can control the terminal or hide what will run', async () => {
  const gateway = handMadeGateway();
  const evil = 'rm -rf /\u001b[8m\u009b2K\r echo hi \u202egnp.exe';
  await gateway.store.runs.create(sampleRun({ id: 'run-1', intentText: `tidy\u001b[2A\nrun-2  ${evil}` }));
  await gateway.store.approvals.request(sampleApproval({ runId: 'run-1', arguments: { command: evil } }));
  const { out } = await runCommand(['runs'], { openGateway: async () => openedGateway(gateway) });
  expect(out).toContain('rm -rf /\\u001b[8m\\u009b2K\\r echo hi \\u202egnp.exe');
  expect(out).not.toMatch(/^run-2/m);
  expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test('[RUNS-5] an approved run continues and its value is printed; if it failed or still waits, the command fails', async () => {
  const gives: Partial<RunResult>[] = [
    { status: 'success', results: { call: { status: 'success', result: { done: 2 } } } },
    { status: 'error', error: { code: 'code_failed', message: 'Error: no', hint: 'Think.' } },
    { status: 'approval_required', approvals: [sampleApproval({ arguments: { n: 1 } })] },
  ];
  const { system } = await waiting({
    continueRun: async (runId) => sampleResult({ runId, ...gives.shift() }),
  });
  const resume = () => runCommand(['runs', 'resume', 'run-1'], system);
  expect(await resume()).toMatchObject({ code: 0, out: '{\n  "done": 2\n}\n' });
  expect(await resume()).toMatchObject({ code: 1, out: '', err: 'pml: Error: no\n  Think.\n' });
  expect(await resume()).toMatchObject({ code: 1, err: expect.stringContaining('"n": 1') });
});

test('[RUNS-6] a person aborts a waiting run; a finished run stays as it is', async () => {
  const actions: string[] = [];
  const { gateway, system } = await waiting({
    async continueRun(runId, action) {
      actions.push(action);
      return sampleResult({ status: 'aborted', runId });
    },
  });
  expect(await runCommand(['runs', 'abort', 'run-1'], system)).toMatchObject({
    code: 0,
    out: 'Run run-1 is aborted.\n',
  });
  expect(actions).toEqual(['abort']);
  const [settled] = await gateway.store.approvals.list({ runId: 'run-1' });
  expect(settled).toMatchObject({ state: 'rejected', settledBy: userInfo().username });
  await gateway.store.runs.create(sampleRun({ id: 'run-2', status: 'success' }));
  for (const command of ['resume', 'abort']) {
    expect(await runCommand(['runs', command, 'run-2'], system)).toMatchObject({
      code: 1,
      err: expect.stringContaining('is no longer waiting: its status is success'),
    });
  }
  expect(actions).toEqual(['abort']);
});
