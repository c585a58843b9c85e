import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { temporaryDir } from '../support/temporary-dir.ts';

/** A folder with these files, gone when the test is over. */
export async function treeOf(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await temporaryDir();
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return root;
}
