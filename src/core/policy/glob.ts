/**
 * `*` stands for any characters, `?` for one; everything else for itself. The whole text must match. When what
 * follows a `*` does not fit, only the last `*` takes one character more, so that no pattern takes longer than
 * the product of the two lengths.
 */
export function matchesGlob(glob: string, text: string): boolean {
  return matches([...glob], [...text]);
}

/** The same whether letters are large or small, for what restricts: many servers do not tell them apart either. */
export function matchesAnyCase(glob: string, text: string): boolean {
  return matches(Array.from(glob, folded), Array.from(text, folded));
}

export function matchesAny(globs: readonly string[], text: string): boolean {
  return globs.some((glob) => matchesGlob(glob, text));
}

function matches(wanted: readonly string[], given: readonly string[]): boolean {
  let at = 0;
  let star = -1;
  let taken = 0;
  for (let i = 0; i < given.length; ) {
    if (wanted[at] === '*') {
      star = at++;
      taken = i;
    } else if (at < wanted.length && (wanted[at] === '?' || wanted[at] === given[i])) {
      at++;
      i++;
    } else if (star !== -1) {
      at = star + 1;
      i = ++taken;
    } else return false;
  }
  return wanted.slice(at).every((char) => char === '*');
}

/** Both ways: some letters have two small forms, as `s` has in `ſ`. */
function folded(char: string): string {
  return char.toUpperCase().toLowerCase();
}
