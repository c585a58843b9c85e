import { withoutEnding } from '../vocabulary/without-ending.ts';
import type { LiteralSlot } from './template.ts';

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** Names every object answers to: as parameters they would seem given when they are not. */
const INHERITED = new Set(Object.getOwnPropertyNames(Object.prototype));

/**
 * A readable name that is not taken: the argument's (`path`), with its tool's in front where that is taken
 * (`write_file_path`), else what the code calls the value, else `value_1`.
 */
export function parameterName(slot: LiteralSlot, taken: ReadonlySet<string>): string {
  const { argument, hint, kind } = slot;
  const own = identifier(argument ? lastName(argument.name) : (hint ?? ''));
  if (own === '') return numbered('value', taken, 1);
  const name = kind === 'text' ? `${own}_part` : own;
  if (!taken.has(name)) return name;
  const tool = identifier(argument?.tool.split(/[:.]/).slice(1).join('_') ?? '');
  return numbered(tool === '' ? name : `${tool}_${name}`, taken);
}

/** Whether `args.<name>` can be written so and means what the caller gave. */
export function isParameterName(name: string): boolean {
  return IDENTIFIER.test(name) && !INHERITED.has(name);
}

/** `filter.items[0]` -> `items`. */
function lastName(path: string): string {
  return (
    path
      .split('.')
      .at(-1)
      ?.replace(/\[\d+\]/g, '') ?? ''
  );
}

/** `file-path` -> `file_path`; empty when nothing of it can name a parameter. */
function identifier(name: string): string {
  const text = IDENTIFIER.test(name)
    ? name
    : withoutEnding(name.replace(/[^A-Za-z0-9_$]+/g, '_').replace(/^[\d_]+/, ''), '_');
  return isParameterName(text) ? text : '';
}

function numbered(name: string, taken: ReadonlySet<string>, first = 2): string {
  if (first > 1 && !taken.has(name)) return name;
  let count = first;
  while (taken.has(`${name}_${count}`)) count++;
  return `${name}_${count}`;
}
