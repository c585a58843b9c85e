import type { DrawnNode } from './drawing.ts';

const HUES = 8;
/** `s2` before `s10`. */
const inOrder = new Intl.Collator('en', { numeric: true }).compare;

/** Servers take colours from the front and capabilities from the back, each always its own. */
export function huesOf(nodes: readonly DrawnNode[]): {
  readonly servers: readonly string[];
  readonly hueOf: (id: string) => number;
} {
  const servers = [...new Set(nodes.flatMap(({ server }) => server ?? []))].sort(inOrder);
  const ofServer = new Map(servers.map((server, i) => [server, i]));
  let capabilities = 0;
  const hues = new Map(
    nodes.map(({ id, kind, server }) => {
      if (kind === 'capability') return [id, HUES - 1 - (capabilities++ % HUES)];
      return [id, server === null ? 0 : ofServer.get(server)!];
    }),
  );
  return { servers, hueOf: (id) => hues.get(id) ?? 0 };
}
