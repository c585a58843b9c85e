import type { Call } from './calls.ts';

/** The same place of two runs; null where only one of them has it. */
export interface CallPair {
  readonly key: string;
  readonly depth: number;
  readonly left: Call | null;
  readonly right: Call | null;
}

/**
 * Two forests of calls side by side: siblings that call the same, in the longest order both have (longest common
 * subsequence; Wagner and Fischer, 1974), each with its own calls below it.
 */
export function alignCalls(left: readonly Call[], right: readonly Call[]): CallPair[] {
  return pairsOf(left, right).flatMap(([a, b]) => [
    pair(a, b),
    ...alignCalls(a?.children ?? [], b?.children ?? []),
  ]);
}

function pair(left: Call | null, right: Call | null): CallPair {
  return { key: `${left?.id ?? ''}|${right?.id ?? ''}`, depth: (left ?? right)?.depth ?? 0, left, right };
}

function pairsOf(left: readonly Call[], right: readonly Call[]): [Call | null, Call | null][] {
  const width = right.length + 1;
  // common[i, j]: how long the common order of left[i..] and right[j..] is.
  const common = new Uint32Array((left.length + 1) * width);
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      common[i * width + j] =
        left[i]!.node === right[j]!.node
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
    }
  }
  const pairs: [Call | null, Call | null][] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    const [a, b] = [left[i] ?? null, right[j] ?? null];
    if (a && b && a.node === b.node) {
      pairs.push([a, b]);
      i += 1;
      j += 1;
    } else if (a && (!b || common[(i + 1) * width + j]! >= common[i * width + j + 1]!)) {
      pairs.push([a, null]);
      i += 1;
    } else {
      pairs.push([null, b]);
      j += 1;
    }
  }
  return pairs;
}

/** What differs between the two, in words; empty where nothing does. */
export function differencesOf({ left, right }: CallPair): string[] {
  if (!left) return ['only in the second'];
  if (!right) return ['only in the first'];
  const differs = (a: unknown, b: unknown) => JSON.stringify(a) !== JSON.stringify(b);
  return [
    ...(left.status === right.status ? [] : [`${left.status} became ${right.status}`]),
    ...(differs(left.args, right.args) ? ['other arguments'] : []),
    ...(left.status === 'success' && right.status === 'success' && differs(left.result, right.result)
      ? ['another result']
      : []),
    ...(left.status === 'error' && right.status === 'error' && left.error !== right.error
      ? ['another error']
      : []),
  ];
}
