import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';

interface Hold {
  readonly isHeld: () => boolean;
  /** Shows held updates until the pointer moves again. */
  readonly letIn: () => void;
  readonly box: Readonly<Record<string, unknown>>;
}

/** Whether the pointer is over a box, or with `byFocus` the focus in it; checked when updates arrive. */
function useHold(byFocus: boolean): Hold {
  const ref = useRef<HTMLDivElement>(null);
  const isOpen = useRef(false);
  const [, lookAgain] = useState(0);
  // The browser updates pointer and focus state one frame later.
  const left = () => requestAnimationFrame(() => lookAgain((times) => times + 1));
  return {
    isHeld: () => {
      const box = ref.current;
      if (!box || isOpen.current) return false;
      return box.matches(':hover') || (byFocus && box.contains(document.activeElement));
    },
    letIn: () => {
      isOpen.current = true;
      lookAgain((times) => times + 1);
    },
    box: {
      ref,
      class: 'steady',
      onPointerMove: () => {
        isOpen.current = false;
      },
      onPointerLeave: left,
      ...(byFocus && { onFocusOut: left }),
    },
  };
}

/** Positioned over the list instead of in it, so that it moves nothing. */
function News({ text, onClick }: { text: string | null; onClick: () => void }) {
  return (
    <div class="steady-news" role="status">
      {text !== null && (
        <button type="button" class="more" onClick={onClick}>
          {text}
        </button>
      )}
    </div>
  );
}

/**
 * Wraps every list that follows events. While the pointer is over it, rows stay in place: their cells change,
 * new rows are counted until the user asks for them or leaves, and removed rows stay until then. Another
 * `view`, such as another filter, starts fresh. A focused element with `data-row` is never removed.
 */
export function SteadyRows<T>({
  rows,
  keyOf,
  view = '',
  newsOf = (count) => `Show ${count} new`,
  children,
}: {
  rows: readonly T[];
  keyOf: (row: T) => string;
  view?: string | undefined;
  newsOf?: ((count: number) => string) | undefined;
  children: (rows: readonly T[], isGone: (row: T) => boolean) => ComponentChildren;
}) {
  const hold = useHold(false);
  const kept = useRef<{ view: string; rows: readonly T[] }>({ view, rows: [] });
  const focused = document.activeElement?.closest<HTMLElement>('[data-row]')?.dataset.row;
  const isSameView = kept.current.view === view;
  const steady = steadyOrder(isSameView ? kept.current.rows : [], rows, keyOf, {
    isHeld: hold.isHeld(),
    isKept: (key) => key === focused,
  });
  kept.current = { view, rows: steady.rows };
  const there = new Set(rows.map(keyOf));
  return (
    <div {...hold.box}>
      <News text={steady.held > 0 ? newsOf(steady.held) : null} onClick={hold.letIn} />
      {children(steady.rows, (row) => !there.has(keyOf(row)))}
    </div>
  );
}

/** The same for a single block, such as a ranking with the form for its first hit: it stays unchanged. */
export function SteadyWhole<T>({
  of,
  view,
  news,
  children,
}: {
  of: T;
  view: string;
  news: string;
  children: (of: T) => ComponentChildren;
}) {
  const hold = useHold(true);
  const kept = useRef({ view, of });
  if (kept.current.view !== view || !hold.isHeld()) kept.current = { view, of };
  return (
    <div {...hold.box}>
      <News text={kept.current.of === of ? null : news} onClick={hold.letIn} />
      {children(kept.current.of)}
    </div>
  );
}

/**
 * The rows to show, given those shown already. While held, known rows keep their places, removed ones stay,
 * new rows after all others are appended, because that moves nothing, and other new rows are counted.
 * Otherwise `next`, plus rows that must stay.
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
  // No shown row is left, so there are no places to keep.
  if (last === -1) return { rows: next, held: 0 };
  const after = next.slice(last + 1);
  return {
    rows: [...shown.map((row) => fresh.get(keyOf(row)) ?? row), ...after],
    held: next.slice(0, last).filter((row) => !known.has(keyOf(row))).length,
  };
}
