const compiled = new Map<string, RegExp>();

/** `*` stands for any characters, `?` for one; everything else for itself. The whole text must match. */
export function matchesGlob(glob: string, text: string): boolean {
  return patternOf(glob, 'su').test(text);
}

/** The same whether letters are large or small, for what restricts: many servers do not tell them apart either. */
export function matchesAnyCase(glob: string, text: string): boolean {
  return patternOf(glob, 'isu').test(text);
}

function patternOf(glob: string, flags: string): RegExp {
  const key = `${flags} ${glob}`;
  const known = compiled.get(key);
  if (known) return known;
  const source = glob
    .replace(/[.+^${}()|[\]\\/]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  const pattern = new RegExp(`^${source}$`, flags);
  compiled.set(key, pattern);
  return pattern;
}

export function matchesAny(globs: readonly string[], text: string): boolean {
  return globs.some((glob) => matchesGlob(glob, text));
}
