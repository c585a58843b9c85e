import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { sourceFiles } from './source-file.ts';

/**
 * Type-checks the programs for code mode, each wrapped in an async function as the sandbox does: TypeScript rejects a
 * `return` outside a function, and would not check the returned value.
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
      // On the first line, so that line numbers of errors are those of the file.
      const program = name.endsWith('.d.ts') ? text : `export async function program() { ${text}\n}\n`;
      writeFileSync(join(dir, name), program);
    }
    return typesIn(dir).map((complaint) => complaint.replaceAll(/^(?=[\w-]+\.ts\()/gm, 'examples/'));
  } finally {
    rmSync(dir, { recursive: true });
  }
}
