import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { llmsText, readPages } from './build-site.ts';
import { SECTIONS } from './navigation.ts';
import { benchmarkPlots } from './plots.ts';
import { referencePages } from './reference.ts';

/** Files of `docs/` that follow from the code and from other pages, by name. */
function generatedFiles(root: string): Readonly<Record<string, string>> {
  const reference = referencePages();
  return { ...reference, ...benchmarkPlots(root), 'docs/llms.txt': llmsText(readPages(root, reference)) };
}

/** Those that are missing or say something else than they should, with what they should say. */
function staleFiles(root: string): { readonly name: string; readonly text: string }[] {
  return Object.entries(generatedFiles(root)).flatMap(([name, text]) => {
    const file = join(root, name);
    return existsSync(file) && readFileSync(file, 'utf8') === text ? [] : [{ name, text }];
  });
}

/** Writes those that are not current; returns their names. */
export function writeGenerated(root: string): string[] {
  if (!existsSync(join(root, 'docs/README.md'))) return [];
  return staleFiles(root).map(({ name, text }) => {
    writeFileSync(join(root, name), text);
    return name;
  });
}

/** What the documentation as a whole has wrong; none in a tree without one. */
export function problemsOfDocs(root: string): string[] {
  if (!existsSync(join(root, 'docs/README.md'))) return [];
  const listed = new Set(SECTIONS.flatMap(({ pages }) => pages));
  const pages = globSync(['docs/*.md', 'docs/reference/*.md'], { cwd: root });
  return [
    ...staleFiles(root).map(({ name }) => `${name} is not current: run "npm run docs"`),
    ...pages
      .filter((file) => !listed.has(file))
      .map((file) => `${file} is missing in scripts/docs/navigation.ts`),
    ...[...listed]
      .filter((file) => !existsSync(join(root, file)))
      .map((file) => `scripts/docs/navigation.ts lists ${file}, which does not exist`),
  ];
}
