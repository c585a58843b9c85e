import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { sourceFiles } from './source-file.ts';

/**
 * The compiler on the programs for code mode, each as what the sandbox makes of it: an async function. TypeScript
 * takes no `return` outside of one, and would not look at what it returns.
 */
export function checkExamples(root: string, typesIn: (project: string) => readonly string[]): string[] {
  const config = join(root, 'examples', 'tsconfig.json');
  if (!existsSync(config)) return [];
  const { exclude = [] } = JSON.parse(readFileSync(config, 'utf8')) as { exclude?: readonly string[] };
  const dir = mkdtempSync(join(tmpdir(), 'pml-examples-'));
  try {
    writeFileSync(join(dir, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({ extends: config, include: ['*.ts'] }));
    for (const { path, text } of sourceFiles(root, ['examples/*.ts'])) {
      const name = basename(path);
      if (exclude.includes(name)) continue;
      // On its first line, so that the lines of complaints are those of the file.
      const program = name.endsWith('.d.ts') ? text : `export async function program() { ${text}\n}\n`;
      writeFileSync(join(dir, name), program);
    }
    return typesIn(dir).map((complaint) => complaint.replaceAll(/^(?=[\w-]+\.ts\()/gm, 'examples/'));
  } finally {
    rmSync(dir, { recursive: true });
  }
}
