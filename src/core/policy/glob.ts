/**
 * `*` stands for any characters, `?` for one; everything else for itself. The whole text must match. When what
 * follows a `*` does not fit, only the last `*` takes one character more, so that no pattern takes longer than
 * the product of the two lengths.
 */
export function matchesGlob(glob: string, text: string): boolean {
  const wanted = [...glob];
  const given = [...text];
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

export function matchesAny(globs: readonly string[], text: string): boolean {
  return globs.some((glob) => matchesGlob(glob, text));
}
