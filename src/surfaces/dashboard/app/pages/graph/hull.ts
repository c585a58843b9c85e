export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A corner of a rounded outline: an arc around a point, from one angle to the other, clockwise on the screen. */
export interface Corner extends Point {
  readonly from: number;
  readonly to: number;
}

/** Corners in order around; of points on one line only the ends. Andrew, "Another efficient algorithm for convex hulls" (1979). */
export function convexHull(points: readonly Point[]): Point[] {
  const sorted = [...points].sort((a, b) => a.x - b.x || a.y - b.y);
  if (sorted.length < 3) return sorted;
  const half = (all: readonly Point[]) => {
    const chain: Point[] = [];
    for (const point of all) {
      while (chain.length >= 2 && cross(chain.at(-2)!, chain.at(-1)!, point) <= 0) chain.pop();
      chain.push(point);
    }
    return chain.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.toReversed())];
}

function cross(origin: Point, a: Point, b: Point): number {
  return (a.x - origin.x) * (b.y - origin.y) - (a.y - origin.y) * (b.x - origin.x);
}

/** The hull pushed outwards: joining the arcs, each with the padding as radius, by straight lines draws it. */
export function roundedHull(points: readonly Point[]): Corner[] {
  const hull = convexHull(points);
  if (hull.length === 1) return [{ ...hull[0]!, from: 0, to: 2 * Math.PI }];
  return hull.map((corner, i) => {
    const [before, after] = [hull.at(i - 1)!, hull[(i + 1) % hull.length]!];
    return { ...corner, from: normal(before, corner), to: normal(corner, after) };
  });
}

/** The angle of what points outwards from a side of the hull. */
function normal(from: Point, to: Point): number {
  return Math.atan2(from.x - to.x, to.y - from.y);
}
