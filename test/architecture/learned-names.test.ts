import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { wordsOf } from '../../src/core/capabilities/public-words.ts';
import { isWellNamed } from '../../src/core/capabilities/slug.ts';

const ROW = /^\| `(?<slug>[a-z0-9_]+)` \| (?<intent>.*) \| `(?<tool>.*)` \| \w+ \|$/;

interface Row {
  readonly slug: string;
  readonly intent: string;
  readonly tool: string;
}

test('[CAP-12] none of the sixty names in docs has a word fragment, a stop word at an end, or a value', async () => {
  const page = await readFile(new URL('../../docs/learned-names.md', import.meta.url), 'utf8');
  const rows = page.split('\n').flatMap((line) => {
    const found = ROW.exec(line)?.groups as Row | undefined;
    return found ? [found] : [];
  });
  expect(rows).toHaveLength(60);
  expect(new Set(rows.map(({ slug }) => slug)).size).toBe(60);
  for (const { slug, intent, tool } of rows) {
    const name = slug.replace(/_\d+$/, '');
    expect(isWellNamed(name), slug).toBe(true);
    const parts = name.split('_');
    expect(parts.length, slug).toBeGreaterThan(1);
    const ofTool = wordsOf(tool);
    for (const value of valuesIn(intent)) {
      if (!ofTool.includes(value)) expect(parts, `${slug}: ${intent}`).not.toContain(value);
    }
  }
});

/** Quoted texts, what has digits, and names in the middle of a sentence. */
function valuesIn(intent: string): string[] {
  const whole = intent.replace(/^"|"$/g, '');
  const quoted = [...whole.matchAll(/"([^"]+)"|(?<!\p{L})'([^']+)'/gu)].flatMap(([text]) => wordsOf(text));
  const names = [...whole.matchAll(/(?<=[\p{Ll},] )\p{Lu}\p{Ll}+/gu)].flatMap(([text]) => wordsOf(text));
  const numbered = whole
    .split(/\s+/)
    .filter((piece) => /\d/.test(piece))
    .flatMap(wordsOf);
  return [...quoted, ...names, ...numbered];
}
