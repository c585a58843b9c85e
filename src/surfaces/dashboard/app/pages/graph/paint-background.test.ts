import fc from 'fast-check';
import { expect, test } from 'vitest';
import { convexHull, type Point, roundedHull } from './paint-background.ts';

const PADDING = 30;

/** The outline as the canvas draws it: arcs of the padding, joined by lines. */
function outlineOf(points: readonly Point[]): Point[] {
  return roundedHull(points).flatMap(({ x, y, from, to }) => {
    const turn = to < from ? to + 2 * Math.PI - from : to - from;
    return Array.from({ length: 13 }, (_, i) => ({
      x: x + PADDING * Math.cos(from + (turn * i) / 12),
      y: y + PADDING * Math.sin(from + (turn * i) / 12),
    }));
  });
}

/** Even-odd rule. */
function isInside({ x, y }: Point, outline: readonly Point[]): boolean {
  let inside = false;
  for (const [i, a] of outline.entries()) {
    const b = outline.at(i - 1)!;
    if (a.y > y !== b.y > y && x < ((b.x - a.x) * (y - a.y)) / (b.y - a.y) + a.x) inside = !inside;
  }
  return inside;
}

test('[DASH-23] the hull of a square omits its centre, that of a line keeps its ends', () => {
  const square = [
    { x: 0, y: 0 },
    { x: 10, y: 0 },
    { x: 10, y: 10 },
    { x: 0, y: 10 },
  ];
  expect(convexHull([...square, { x: 5, y: 5 }])).toEqual(square);
  expect(convexHull([0, 5, 2, 9].map((x) => ({ x, y: x })))).toEqual([
    { x: 0, y: 0 },
    { x: 9, y: 9 },
  ]);
});

test('[DASH-23] the outline contains every point, of one, two or many, and never a distant one', () => {
  const point = fc.record({ x: fc.integer({ min: -500, max: 500 }), y: fc.integer({ min: -500, max: 500 }) });
  fc.assert(
    fc.property(
      fc.uniqueArray(point, { minLength: 1, maxLength: 12, selector: ({ x, y }) => `${x} ${y}` }),
      (points) => {
        const outline = outlineOf(points);
        for (const each of points) expect(isInside(each, outline)).toBe(true);
        expect(isInside({ x: 700, y: 0 }, outline)).toBe(false);
      },
    ),
    { seed: 1 },
  );
});
