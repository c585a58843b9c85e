import type { Problem } from './problem.ts';
import { sourceFiles } from './source-file.ts';

const DEFAULTS = {
  /** Lines; a longer file contains a second idea. */
  maxLines: 500,
};

export function checkFileSizes(root: string): Problem[] {
  return sourceFiles(root, ['{src,test,bench,scripts}/**/*.{ts,tsx}']).flatMap(({ path, text }) => {
    const lines = text.replace(/\n$/, '').split('\n').length;
    if (lines <= DEFAULTS.maxLines) return [];
    const message = `has ${lines} lines; the maximum is ${DEFAULTS.maxLines}: move its second idea to another file`;
    return [{ file: path, message }];
  });
}
