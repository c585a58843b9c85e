import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';

interface Hold {
  readonly isHeld: () => boolean;
  /** Lets news in until the pointer moves again. */
  readonly letIn: () => void;
  readonly box: Readonly<Record<string, unknown>>;
}

/** Whether somebody points into a box, or works in it where `byFocus`: asked of the page itself when news come. */
function useHold(byFocus: boolean): Hold {
  const ref = useRef<HTMLDivElement>(null);
  const isOpen = useRef(false);
  const [, lookAgain] = useState(0);
  // A frame later the page knows where pointer and focus are now.
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

/** Stands over the list rather than in it, so that it moves nothing either. */
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
 * Every list that follows events stands in one. While somebody points at it, its rows stay where they are: their
 * cells change, what is new is counted until one wants it or leaves, and what is gone stays until then. Another
 * `view`, such as another filter, begins again. An element with `data-row` that has the focus is not taken away.
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

/** The same for what is one whole, such as a ranking with the form for its first hit: it stays as it is. */
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
  // Nothing of it is left, so no position needs to be restored.
  if (last === -1) return { rows: next, held: 0 };
  const after = next.slice(last + 1);
  return {
    rows: [...shown.map((row) => fresh.get(keyOf(row)) ?? row), ...after],
    held: next.slice(0, last).filter((row) => !known.has(keyOf(row))).length,
  };
}
