import { posix } from 'node:path';
import { TABLE } from '../operations/operation-table.ts';
import type { Problem } from './problem.ts';
import { referencesOf } from './references.ts';
import { parseFile, sourceFiles } from './source-file.ts';

/** Limits that keep the tree easy to navigate: few files, mostly short, without fragments. */
const DEFAULTS = {
  maxFiles: 700,
  /** Lines: half of the files have at most so many. */
  maxMedian: 110,
  /** A fragment is a file of at most `fragmentLines` lines that only one file, a neighbour, imports. */
  maxFragments: 30,
  fragmentLines: 60,
  /** The engine consists of services, one folder each; only the files that assemble them are outside. */
  maxEngineFiles: 12,
};

/** Counts the files of the product, without tests. */
export function checkFigures(root: string): Problem[] {
  const files = sourceFiles(root, ['src/**/*.{ts,tsx}']).filter(({ path }) => !/\.test\.tsx?$/.test(path));
  const importers = new Map(files.map(({ path }) => [path, new Set<string>()]));
  for (const file of files) {
    for (const { specifier } of referencesOf(parseFile(file))) {
      if (specifier?.startsWith('.')) importers.get(resolve(file.path, specifier))?.add(file.path);
    }
  }
  const fragments = files.filter(({ path, text }) => {
    const [only, ...others] = importers.get(path)!;
    // An operation has a file of its own, whatever its length: the table only lists it.
    const isNeighbour = only !== undefined && only !== TABLE && posix.dirname(only) === posix.dirname(path);
    return isNeighbour && others.length === 0 && lineCount(text) <= DEFAULTS.fragmentLines;
  });
  const engine = files.filter(({ path }) => posix.dirname(path) === 'src/engine');
  return [
    ...tooMany('src', files.length, DEFAULTS.maxFiles, 'files: merge what belongs together'),
    ...tooMany(
      'src',
      median(files.map(({ text }) => lineCount(text))),
      DEFAULTS.maxMedian,
      'lines in its median file: move second ideas of longer files elsewhere, or write less',
    ),
    ...tooMany(
      'src',
      fragments.length,
      DEFAULTS.maxFragments,
      `fragments: move some into the one file that imports them (${fragments.map(({ path }) => path).join(', ')})`,
    ),
    ...tooMany(
      'src/engine',
      engine.length,
      DEFAULTS.maxEngineFiles,
      'files beside its folders: move some into the service they belong to',
    ),
  ];
}

function tooMany(file: string, count: number, most: number, what: string): Problem[] {
  return count <= most ? [] : [{ file, message: `has ${count}, at most ${most}, ${what}` }];
}

function resolve(from: string, specifier: string): string {
  return posix.join(posix.dirname(from), specifier);
}

/** 0 for none. */
function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const [low = 0, high = low] = sorted.slice(Math.floor((sorted.length - 1) / 2));
  return sorted.length % 2 === 1 ? low : (low + high) / 2;
}

function lineCount(text: string): number {
  return text.replace(/\n$/, '').split('\n').length;
}
