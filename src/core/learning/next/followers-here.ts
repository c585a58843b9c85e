/**
 * Share of the times the last call was made before in this very run that each came right after it, as if there
 * had been one more: what was just done is done again (a cache model: Kuhn & De Mori, 1990).
 */
export function followersHere(before: readonly number[]): Map<number, number> {
  const last = before.at(-1);
  const followers = before.slice(1).filter((_, i) => before[i] === last);
  const shares = new Map<number, number>();
  for (const place of followers) shares.set(place, (shares.get(place) ?? 0) + 1 / (followers.length + 1));
  return shares;
}
