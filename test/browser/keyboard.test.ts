import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { PAGES } from '../../src/surfaces/dashboard/shared/routes.ts';
import { useDashboard } from '../support/browser.ts';

const dashboard = useDashboard({ servers: () => ({}) });

const focused = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement;
    return element?.getAttribute('aria-label') ?? element?.textContent ?? '';
  });

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.locator('input[role=combobox]:focus').waitFor();
}

test('[DASH-13] the palette opens pages and runs actions, by keyboard alone', async () => {
  const page = await dashboard.open('/');
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  // At once: a user who knows the shortcut does not wait until something is drawn.
  await Promise.all([page.keyboard.press('Control+k'), page.keyboard.type('learn')]);
  await page.getByRole('option', { name: 'Learning Page' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`${dashboard.url}/learning`);
  await openPalette(page);
  await page.keyboard.type('light and dark');
  await page.keyboard.press('Enter');
  await page.locator('html[data-theme=light]').waitFor();
  await openPalette(page);
  await page.keyboard.type('nothing is called that');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${dashboard.url}/search?q=nothing+is+called+that`);
  await page.goto(`${dashboard.url}/learning`);
  await page.locator('html[data-theme=light]').waitFor();
  await page.getByRole('heading', { name: 'Learning', level: 1 }).waitFor();
  await openPalette(page);
  await page.keyboard.press('ArrowDown');
  const second = page.getByRole('option').nth(1);
  await expect.poll(() => second.getAttribute('aria-selected')).toBe('true');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

test('[DASH-13] "?" lists the shortcuts, "/" opens search, and shortcuts are ignored while typing', async () => {
  const page = await dashboard.open('/');
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  await page.keyboard.press('?');
  await page.getByRole('heading', { name: 'Keyboard' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const field = page.getByLabel('Describe what you want to do');
  await field.waitFor();
  await page.keyboard.press('/');
  await page.locator('input:focus').waitFor();
  await page.keyboard.type('g r ?');
  await expect.poll(() => field.inputValue()).toBe('g r ?');
  expect(new URL(page.url()).pathname).toBe('/');
});

test('[DASH-13] the first Tab skips to the content, every stop is visible, and no page traps the focus', async () => {
  const page = await dashboard.open('/');
  for (const { path, title } of PAGES) {
    await page.goto(`${dashboard.url}${path}`);
    await page.getByRole('heading', { name: title, level: 1 }).waitFor();
    await page.keyboard.press('Tab');
    await expect.poll(() => focused(page)).toBe('Skip to content');
    await page.keyboard.press('Enter');
    await page.locator('main:focus').waitFor();
    const stops = new Set<string>();
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press('Tab');
      const stop = await page.evaluate(() => {
        const element = document.activeElement;
        if (!element || element === document.body) return null;
        const { outlineStyle, boxShadow, outlineWidth } = getComputedStyle(element);
        const isSeen = (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none';
        return `${isSeen ? 'seen' : 'UNSEEN'} ${element.tagName} ${element.outerHTML.slice(0, 80)}`;
      });
      if (stop === null) break;
      stops.add(stop);
    }
    expect(
      [...stops].filter((stop) => stop.startsWith('UNSEEN')),
      path,
    ).toEqual([]);
  }
});
