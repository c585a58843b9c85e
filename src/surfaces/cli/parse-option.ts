import { InvalidArgumentError } from 'commander';

export function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('It must be a positive number.');
  return count;
}

/** `NAME=value`, given as often as needed. */
export function parsePair(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Write it as NAME=value.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

/** `a:b,c:d` */
export function parseList(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
