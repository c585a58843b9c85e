const compiled = new Map<string, RegExp>();

/** `*` stands for any characters, `?` for one; everything else for itself. The whole text must match. */
export function matchesGlob(glob: string, text: string): boolean {
  let pattern = compiled.get(glob);
  if (!pattern) {
    const source = glob
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.');
    pattern = new RegExp(`^${source}$`, 's');
    compiled.set(glob, pattern);
  }
  return pattern.test(text);
}

export function matchesAny(globs: readonly string[], text: string): boolean {
  return globs.some((glob) => matchesGlob(glob, text));
}
