import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Learning } from '../../src/surfaces/dashboard/shared/api-types.ts';
import { axe, useDashboard } from '../support/browser.ts';
import { NARROW } from '../support/launch-browser.ts';

const dashboard = useDashboard();

const WORK = [
  ['memory:read_graph', {}, 'water the roses on the balcony'],
  ['everything:echo', { message: 'x' }, 'tune the old piano <img src=x onerror="alert(1)">'],
  ['filesystem:list_allowed_directories', {}, 'pay the electricity bill'],
] as const;

/** Makes this many runs, alternating kinds of work; done when all are evaluated, with the trainings that they cause. */
async function work(from: number, to: number, trainings = 0): Promise<Learning> {
  for (let nth = from; nth < to; nth++) {
    const [tool, args, says] = WORK[nth % WORK.length]!;
    await dashboard.api('/execute', { tool, arguments: args, intent: `${says}, week ${nth}` });
  }
  for (;;) {
    const report = await dashboard.api<Learning>('/learning');
    if (report.runs >= to && !report.training && report.history.length >= trainings) return report;
    await new Promise((done) => setTimeout(done, 100));
  }
}

const panel = (page: Page, name: string | RegExp) => page.getByRole('region', { name });

test('[DASH-72] a user without runs sees what is missing, and cannot train', async () => {
  const page = await dashboard.open('/learning');
  await page.getByText('No runs to learn from yet.').waitFor();
  await panel(page, 'Serving?').getByText('No: nothing has been trained yet.').waitFor();
  expect(await page.getByRole('button', { name: 'Train now' }).isDisabled()).toBe(true);
  expect(await page.getByRole('button', { name: 'Roll back…' }).count()).toBe(0);
  expect(await axe(page)).toEqual([]);
  const bar = page.getByRole('progressbar', { name: 'Runs to learn from' });
  await work(0, 3);
  await page.getByText('There are 3 runs to learn from.').waitFor();
  await expect.poll(() => bar.getAttribute('aria-valuenow')).toBe('3');
});

test('[DASH-74] the ablation table equals that of the documentation', async () => {
  const page = await dashboard.open('/learning');
  const row = page.getByRole('table', { name: 'Ablations' }).getByRole('row', { name: 'without heads' });
  await row.getByText('−0.030').waitFor();
  await row.getByText('worse').first().waitFor();
  await row.getByText('no effect shown').waitFor();
});

test('[DASH-75] a user trains, sees the progress, and then what was learned and whether it ranks', async () => {
  // The twentieth run is followed by a training.
  await work(3, 30, 1);
  const page = await dashboard.open('/learning');
  const before = (await dashboard.api<Learning>('/learning')).history.length;
  // Every step of it is sent to open pages.
  const stream = await page.evaluateHandle(async () => {
    const authorization = `Bearer ${localStorage.getItem('pml-session')}`;
    const { body } = await fetch('/api/events', { headers: { authorization } });
    return body!.pipeThrough(new TextDecoderStream());
  });
  const told = stream.evaluate(async (texts) => {
    let all = '';
    for await (const text of texts) {
      all += text;
      if (all.includes('event: ranker_trained')) break;
    }
    return all.split('event: training_progress').length - 1;
  });
  await page.getByRole('button', { name: 'Train now' }).click();
  await page.getByText(/Trained on 30 runs in/).waitFor();
  expect(await told).toBeGreaterThan(0);
  const report = await dashboard.api<Learning>('/learning');
  expect(report.history.length).toBe(before + 1);

  await page.getByRole('progressbar', { name: 'Training' }).waitFor({ state: 'detached' });
  await work(30, 45);
  await panel(page, 'Serving?').getByText('gate open').waitFor();
  await panel(page, 'Serving?')
    .getByText(/Yes: on the newest runs/)
    .waitFor();
  for (const chart of [/^nDCG@10 of the trained ranker/, /^Loss by step/, /^Mean absolute TD error/])
    await page.getByRole('img', { name: chart }).waitFor();
  await page
    .getByRole('table', { name: 'Importance of features' })
    .getByRole('row', { name: /runs used it/ })
    .first()
    .waitFor();
  await panel(page, 'Bilinear heads (8)').getByText('Head 8').waitFor();
  await page.getByRole('table', { name: 'Steps by how often they are replayed' }).waitFor();
  await page.getByRole('table', { name: 'Trainings' }).getByText('in use').waitFor();
  await page.getByText('Success rate').waitFor();
  expect(await page.locator('main img').count()).toBe(0);
  expect(await axe(page)).toEqual([]);

  const narrow = await dashboard.open('/learning', { size: NARROW, theme: 'light' });
  await panel(narrow, 'Bilinear heads (8)').waitFor();
  expect(await axe(narrow)).toEqual([]);
  expect(await narrow.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
});

test('[DASH-77] what was learned is judged separately on familiar runs and on foreign questions', async () => {
  const { gate } = await dashboard.api<Learning>('/learning');
  expect(gate.far.n).toBeGreaterThan(0);
  const page = await dashboard.open('/learning');
  const shown = (title: string) =>
    panel(page, 'Serving?').locator('dt', { hasText: title }).locator('xpath=following-sibling::dd');
  const signed = (value: number) =>
    `${Math.abs(value) < 0.0005 ? '±' : value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;
  const told = ({ gain, ci95: [low, high] }: Learning['gate']['far']) =>
    `${signed(gain)} (95 % interval ${signed(low)} to ${signed(high)})`;
  // It is judged again with each evaluated run.
  const isShown = async (title: string, text: (gate: Learning['gate']) => string) => {
    const { gate: now } = await dashboard.api<Learning>('/learning');
    return (await shown(title).textContent())?.includes(text(now));
  };
  await expect
    .poll(() => isShown('Familiar questions', (now) => `${told(now)} on ${now.n} newest runs`))
    .toBe(true);
  await expect
    .poll(() =>
      isShown('Unseen questions', ({ far }) => `${told(far)} on ${far.n} questions (must not be worse)`),
    )
    .toBe(true);
  await page
    .getByRole('table', { name: 'Trainings' })
    .getByRole('columnheader', { name: 'Unseen questions' })
    .waitFor();

  // A gate that foreign questions keep closed says so.
  const harmful = { ...gate, open: false, gain: 0.12, ci95: [0.05, 0.2], far: { ...gate.far, gain: -0.1 } };
  const lost = await dashboard.open('/');
  await lost.route('**/api/learning', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), gate: harmful } });
  });
  await lost.getByRole('link', { name: 'Learning', exact: true }).first().click();
  await panel(lost, 'Serving?')
    .getByText(/better on familiar questions but worse on unseen ones/)
    .waitFor();
});

test('[DASH-76] a training is rolled back after confirmation', async () => {
  const { history } = await dashboard.api<Learning>('/learning');
  const page = await dashboard.open('/learning');
  await page.getByRole('button', { name: 'Roll back…' }).click();
  await page.getByText(/This deletes the newest training/).waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole('button', { name: 'Keep it' }).click();
  expect((await dashboard.api<Learning>('/learning')).history).toHaveLength(history.length);
  await page.getByRole('button', { name: 'Roll back…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Roll back', exact: true }).click();
  await page.getByText('Rolled back').waitFor();
  expect((await dashboard.api<Learning>('/learning')).history).toHaveLength(history.length - 1);
});
