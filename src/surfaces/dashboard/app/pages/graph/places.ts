const KEY = 'pml-graph-places';
const DEFAULTS = {
  /** Nodes whose places are kept in the browser. */
  kept: 5_000,
};

/** Where a node stands; a lone one on the shelf of its server. */
export interface Place {
  readonly x: number;
  readonly y: number;
  readonly isLone: boolean;
}

export type Places = ReadonlyMap<string, Place>;

/** As they were left: what one has found once is there again. */
export function readPlaces(): Places {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Record<string, unknown>;
    return new Map(
      Object.entries(kept).flatMap(([id, place]) => {
        if (!Array.isArray(place) || !place.every(Number.isFinite)) return [];
        const [x = 0, y = 0, isLone = 0] = place as number[];
        return [[id, { x, y, isLone: isLone === 1 }] as const];
      }),
    );
  } catch {
    return new Map();
  }
}

export function keepPlaces(places: Places): void {
  const entries = [...places].slice(0, DEFAULTS.kept);
  const rounded = entries.map(([id, { x, y, isLone }]) => [
    id,
    [Math.round(x), Math.round(y), isLone ? 1 : 0],
  ]);
  try {
    localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(rounded)));
  } catch {
    // A browser that keeps nothing lays out again next time.
  }
}
