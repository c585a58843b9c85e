/**
 * What is shown of `next` where `shown` stands already. Held, known rows keep their places, what is gone stays, what
 * comes after all of them is added, as that moves nothing, and the rest is counted. Otherwise it is `next`, with the
 * rows that are kept in any case.
 */
export function steadyOrder<T>(
  shown: readonly T[],
  next: readonly T[],
  keyOf: (row: T) => string,
  { isHeld, isKept }: { isHeld: boolean; isKept: (key: string) => boolean },
): { readonly rows: readonly T[]; readonly held: number } {
  const fresh = new Map(next.map((row) => [keyOf(row), row]));
  if (!isHeld) {
    const lost = shown.findIndex((row) => isKept(keyOf(row)) && !fresh.has(keyOf(row)));
    return { rows: lost === -1 ? next : next.toSpliced(lost, 0, shown[lost]!), held: 0 };
  }
  const known = new Set(shown.map(keyOf));
  const last = next.findLastIndex((row) => known.has(keyOf(row)));
  // Nothing of it is left: there is no place to keep.
  if (last === -1) return { rows: next, held: 0 };
  const after = next.slice(last + 1);
  return {
    rows: [...shown.map((row) => fresh.get(keyOf(row)) ?? row), ...after],
    held: next.slice(0, last).filter((row) => !known.has(keyOf(row))).length,
  };
}
