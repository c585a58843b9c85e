/**
 * Two lists side by side: members that are the same in their longest common subsequence (Wagner and Fischer, 1974), and
 * each of the others alone, with null beside it.
 */
export function alignLists<T>(
  left: readonly T[],
  right: readonly T[],
  isSame: (a: T, b: T) => boolean,
): [T | null, T | null][] {
  const width = right.length + 1;
  // common[i, j]: length of the longest common subsequence of left[i..] and right[j..].
  const common = new Uint32Array((left.length + 1) * width);
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      common[i * width + j] = isSame(left[i]!, right[j]!)
        ? common[(i + 1) * width + j + 1]! + 1
        : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
    }
  }
  const pairs: [T | null, T | null][] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    const [a, b] = [left[i] ?? null, right[j] ?? null];
    if (a !== null && b !== null && isSame(a, b)) {
      pairs.push([a, b]);
      i += 1;
      j += 1;
    } else if (a !== null && (b === null || common[(i + 1) * width + j]! >= common[i * width + j + 1]!)) {
      pairs.push([a, null]);
      i += 1;
    } else {
      pairs.push([null, b]);
      j += 1;
    }
  }
  return pairs;
}
