import { useRef } from 'preact/hooks';

/**
 * Rows whose order stands still while somebody points at them or reads further down: cells change, nothing
 * moves, and what is new is counted. Another `view` begins anew.
 */
export function useSteadyRows<T extends { readonly key: string }>(
  rows: readonly T[],
  isHeld: boolean,
  view: string,
): { readonly rows: readonly T[]; readonly held: number } {
  const kept = useRef<{ view: string; keys: readonly string[] }>({ view: '', keys: [] });
  if (!isHeld || kept.current.view !== view || kept.current.keys.length === 0) {
    kept.current = { view, keys: rows.map(({ key }) => key) };
    return { rows, held: 0 };
  }
  const known = new Map(rows.map((row) => [row.key, row]));
  const steady = kept.current.keys.flatMap((key) => known.get(key) ?? []);
  return { rows: steady, held: rows.length - steady.length };
}
