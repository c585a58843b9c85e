import type { LearnedSlot } from './learned-slots.ts';

const NAME_CHARACTER = /[\p{ID_Continue}$]/u;

/** The source with `args.<parameter>` where its parameters' literals stood; all else stays as it was written. */
export function parameterise(source: string, slots: readonly LearnedSlot[]): string {
  let code = '';
  let at = 0;
  for (const { parameter, kind, start, end } of slots.toSorted((a, b) => a.start - b.start)) {
    if (parameter === null) continue;
    code += source.slice(at, start);
    if (kind === 'text') code += `\${args.${parameter}}`;
    else {
      const use = kind === 'bigint' ? `BigInt(args.${parameter})` : `args.${parameter}`;
      // Quotes need no space around them, names do: `case"a":`, `"a"in b`.
      code += `${isName(source[start - 1]) ? ' ' : ''}${use}${isName(source[end]) ? ' ' : ''}`;
    }
    at = end;
  }
  return code + source.slice(at);
}

function isName(character: string | undefined): boolean {
  return character !== undefined && NAME_CHARACTER.test(character);
}
