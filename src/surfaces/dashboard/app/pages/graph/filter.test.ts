import { expect, test } from 'vitest';
import { nested } from './drawing.ts';
import { filtered, filterFrom, filterToQuery } from './filter.ts';

const read = (text: string) => filterFrom(new URLSearchParams(text));

test('[DASH-21] a filter survives the address, which omits defaults', () => {
  expect(filterToQuery(read(''))).toEqual({});
  const chosen = { types: 'contains', sources: 'none', kinds: 'tool', servers: 'fs,mail', lone: 'none' };
  expect(filterToQuery(read(String(new URLSearchParams(chosen))))).toEqual(chosen);
  expect([...read('types=contains,nonsense').types]).toEqual(['contains']);
  expect([...read('servers=none').servers!]).toEqual([]);
});

test('[DASH-21] edges are hidden with their nodes, hulls with their capabilities', () => {
  const node = { label: '', server: null, community: 0, cluster: null, size: 1, isLone: false };
  const drawing = {
    nodes: [
      { ...node, id: 'fs:read', kind: 'tool' as const, server: 'fs' },
      { ...node, id: 'mail:send', kind: 'tool' as const, server: 'mail' },
      { ...node, id: 'capability:x', kind: 'capability' as const },
    ],
    edges: [
      {
        id: 'e',
        source: 'fs:read',
        target: 'mail:send',
        type: 'sequence' as const,
        origin: 'observed' as const,
        weight: 1,
        runs: 3,
        calls: 3,
      },
    ],
    members: new Map([['capability:x', new Set(['fs:read', 'mail:send'])]]),
  };
  const withoutMail = filtered(drawing, read('servers=fs'));
  expect(withoutMail.nodes.map(({ id }) => id)).toEqual(['fs:read', 'capability:x']);
  expect(withoutMail.edges).toEqual([]);
  expect(withoutMail.members).toEqual(new Map([['capability:x', new Set(['fs:read'])]]));
  expect(filtered(drawing, read('kinds=tool')).members.size).toBe(0);
  expect(filtered(drawing, read('sources=template')).edges).toEqual([]);
});

test('[DASH-23] a capability includes what the capabilities it calls include, and a cycle ends', () => {
  const direct = new Map([
    ['outer', new Set(['inner', 'a'])],
    ['inner', new Set(['b', 'outer'])],
  ]);
  expect(nested(direct)).toEqual(
    new Map([
      ['outer', new Set(['inner', 'a', 'b'])],
      ['inner', new Set(['b', 'outer', 'a'])],
    ]),
  );
});
