import sparticuz from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';

export const WIDE = { width: 1280, height: 860 };
export const NARROW = { width: 390, height: 844 };

/** Those that come with it end the browser with its first window, and switch off protections that are tested here. */
const ARGS = ['--no-sandbox', '--font-render-hinting=none', '--use-gl=angle', '--use-angle=swiftshader'];

/** `CHROMIUM` names a browser of the system; without it the one that comes with the tests is used. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? (await sparticuz.executablePath());
  return await chromium.launch({ executablePath, args: ARGS });
}
