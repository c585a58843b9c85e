/** A difference of nDCG@10 to what serves with its 95 % interval, a value of its own, or null where nothing was measured. */
export type AblationCell =
  | { readonly gain: number; readonly ci95: readonly [number, number] }
  | { readonly value: number }
  | null;

/** What each part of the ranker is worth, as docs/ablation.md has it; the build puts it into the page. */
export interface Ablation {
  readonly sets: readonly string[];
  readonly rows: readonly { readonly variant: string; readonly cells: readonly AblationCell[] }[];
}
