import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));

/** The bundle's files that are loaded with this one, itself included. */
function loadedWith(start: string): string[] {
  const files = new Set<string>();
  const visit = (file: string) => {
    if (files.has(file)) return;
    files.add(file);
    const text = readFileSync(file, 'utf8');
    for (const [, target = ''] of text.matchAll(/^(?:import|export)\b[^"'\n]*["'](\.[^"']+)["']/gm))
      visit(join(file, '..', target));
  };
  visit(start);
  return [...files];
}

test('[OAUTH-22] a gateway starts without loading the OAuth libraries', () => {
  const chunks = readdirSync(join(DIST, 'chunks')).map((name) => join(DIST, 'chunks', name));
  const holding = (mark: string, among: readonly string[]) =>
    among.filter((file) => readFileSync(file, 'utf8').includes(mark));
  const start = chunks.filter((file) => file.includes('/start-gateway-process-'));
  const atStart = [...start, join(DIST, 'main.js')].flatMap(loadedWith);
  expect(atStart.length).toBeGreaterThan(5);
  for (const mark of ['oidc-provider NOTICE', 'JWKSNoMatchingKey']) {
    expect(holding(mark, chunks), mark).not.toEqual([]);
    expect(holding(mark, atStart), mark).toEqual([]);
  }
});

test('[OAUTH-23] a gateway that serves OAuth does not warn about its bundled Node', () => {
  const chunks = readdirSync(join(DIST, 'chunks')).map((name) =>
    readFileSync(join(DIST, 'chunks', name), 'utf8'),
  );
  expect(chunks.filter((text) => text.includes('Unsupported runtime'))).toEqual([]);
});
