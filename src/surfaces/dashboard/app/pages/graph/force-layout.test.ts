import { expect, test } from 'vitest';
import { forceLayout, type LayoutTask } from './force-layout.ts';

/** Two rings of ten with one edge between them, and a third group of five that nothing links to them. */
function task(known: Readonly<Record<number, readonly [number, number]>> = {}): LayoutTask {
  const size = 25;
  const groups = Int32Array.from({ length: size }, (_, i) => Math.floor(i / 10));
  const ring = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => [from + i, from + ((i + 1) % count)]);
  const pairs = [...ring(0, 10), ...ring(10, 10), [0, 10], ...ring(20, 5)];
  const places = new Float32Array(2 * size).fill(Number.NaN);
  for (const [node, place] of Object.entries(known)) places.set(place, 2 * Number(node));
  return {
    groups,
    edges: Int32Array.from(pairs.flat()),
    weights: new Float32Array(pairs.length).fill(0.5),
    known: places,
  };
}

const placesIn = (positions: Float32Array) =>
  Array.from({ length: positions.length / 2 }, (_, i) => ({
    x: positions[2 * i]!,
    y: positions[2 * i + 1]!,
  }));

function distance(a: { x: number; y: number }, b: { x: number; y: number }): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

test('[DASH-33] neighbours are close to each other, and no two nodes share a position', () => {
  const { edges } = task();
  const places = placesIn(forceLayout(task()));
  const linked: number[] = [];
  for (let e = 0; e < edges.length; e += 2) linked.push(distance(places[edges[e]!]!, places[edges[e + 1]!]!));
  const all = places.flatMap((a, i) => places.slice(i + 1).map((b) => distance(a, b)));
  expect(mean(linked)).toBeLessThan(mean(all) / 2);
  expect(Math.min(...all)).toBeGreaterThan(30);
});

test('[DASH-33] the same graph always gets the same layout', () => {
  expect(forceLayout(task())).toEqual(forceLayout(task()));
});

test('[DASH-33] placed nodes keep their position to the pixel, and new ones appear near their neighbours', () => {
  const first = forceLayout(task());
  const places = placesIn(first);
  const known = Object.fromEntries(places.map(({ x, y }, i) => [i, [x, y] as const]).slice(0, 24));
  const second = placesIn(forceLayout(task(known)));
  for (let i = 0; i < 24; i++) expect(second[i]).toEqual(places[i]);
  expect(distance(second[24]!, places[23]!)).toBeLessThan(400);
  expect(forceLayout(task(Object.fromEntries(places.map(({ x, y }, i) => [i, [x, y]]))))).toEqual(first);
});

test('[DASH-33] no nodes, one node and a thousand in one position get a layout without NaN', () => {
  const empty = {
    groups: new Int32Array(),
    edges: new Int32Array(),
    weights: new Float32Array(),
    known: new Float32Array(),
  };
  expect(forceLayout(empty)).toEqual(new Float32Array());
  const one = { ...empty, groups: new Int32Array(1), known: new Float32Array(2).fill(Number.NaN) };
  expect(forceLayout(one).every(Number.isFinite)).toBe(true);
  const many = { ...empty, groups: new Int32Array(1_000), known: new Float32Array(2_000).fill(Number.NaN) };
  many.known.fill(0, 0, 1_000);
  expect(forceLayout(many).every(Number.isFinite)).toBe(true);
});
