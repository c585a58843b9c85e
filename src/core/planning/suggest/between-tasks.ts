import type { Task } from '../../vocabulary/plan.ts';

/** Paths come from results of servers: only plain names are followed, and only as data. */
const PLAIN = /^[\w$]+(?:\.[\w$]+)*$/;

const LINES = `return args.text
  .split('\\n')
  .map((line) => line.trim())
  .filter((line) => line !== args.bullet.trim() && line.startsWith(args.bullet))
  .map((line) => line.slice(args.bullet.length));`;

const JOINED = `return args.results
  .map((result) => args.path.reduce((value, name) => value[name], result))
  .join('\\n');`;

/** What stands between two tasks when a value does not fit as it is: code, the same for all plans. */
export interface BetweenTask {
  readonly name: 'lines' | 'joined';
  readonly code: string;
  readonly arguments: Task['arguments'];
  readonly reason: string;
}

/** A text's lines that begin with a bullet, without it: `[FILE] a.txt` as `a.txt`. */
export function linesOf(text: string, bullet: string): BetweenTask {
  const which = bullet === '' ? 'its lines' : `its lines that begin with "${bullet.trim()}"`;
  return {
    name: 'lines',
    code: LINES,
    arguments: { text, bullet },
    reason: `past runs went through ${which}`,
  };
}

/** What each result of a list has at a path, below one another. Null where the path is too odd to follow. */
export function joinedFrom(list: string, path: string): BetweenTask | null {
  if (path !== '' && !PLAIN.test(path)) return null;
  return {
    name: 'joined',
    code: JOINED,
    arguments: { results: list, path: path === '' ? [] : path.split('.') },
    reason: 'past runs put several of its results into one text',
  };
}
