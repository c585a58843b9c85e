import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type BuiltFile, bundle, isStale } from './bundle.ts';

/** The page, the documentation, and temporary files of another build. */
const NOT_OURS = /^(?:(?:dashboard|docs|docs\.tar\.gz)$|\.)/;

/**
 * Replaces the files one by one, each atomically, and leaves unchanged files alone: processes may be running from
 * there, and two builds of the same sources may run at once.
 */
export function writeBundle(root: string, files: readonly BuiltFile[]): void {
  const dist = join(root, 'dist');
  for (const [path, content] of files) {
    const file = join(dist, path);
    if (contentOf(file)?.equals(Buffer.from(content))) continue;
    mkdirSync(dirname(file), { recursive: true });
    const fresh = join(dist, `.bundle-${process.pid}`);
    writeFileSync(fresh, content);
    renameSync(fresh, file);
  }
  removeOthers(dist, new Set(files.map(([path]) => join(dist, path))));
}

/** Builds the bundle if it is not that of the current sources. */
export async function ensureBundle(root: string): Promise<void> {
  if (isStale(root)) writeBundle(root, await bundle(root));
}

function contentOf(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch {
    return null;
  }
}

/** Returns whether anything is left. */
function removeOthers(folder: string, wanted: ReadonlySet<string>, isTop = true): boolean {
  let isEmpty = true;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const stays =
      (isTop && NOT_OURS.test(entry.name)) ||
      wanted.has(path) ||
      (entry.isDirectory() && removeOthers(path, wanted, false));
    if (stays) isEmpty = false;
    else rmSync(path, { recursive: true, force: true });
  }
  return !isEmpty;
}
