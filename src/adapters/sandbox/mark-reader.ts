import type { GuestMark, GuestProgram } from '../../engine/ports.ts';
import { monotonicNow, type WireMark } from './messages.ts';

export type MarkReader = (mark: WireMark, frames: ReadonlyMap<number, GuestProgram>) => GuestMark | null;

/**
 * Marks in the host's time. A child's clock is this machine's own, but its word is not trusted: no moment
 * lies before the run or after now. Null for a mark of no program, or of no site of its.
 */
export function createMarkReader(): MarkReader {
  // The host's clock is read second: a child's moment is never put before the host's own moments it followed.
  const monotonic = monotonicNow();
  const begin = performance.now();
  const toHost = (moment: number) =>
    Math.min(Math.max(begin + (moment - monotonic), begin), performance.now());
  return (mark, frames) => {
    const site = frames.get(mark[0])?.sites[mark[1]];
    if (!site) return null;
    if (mark.length === 4) {
      const [, number, at, taken] = mark;
      return site.kind === 'decision' ? { kind: 'decision', site: number, taken, at: toHost(at) } : null;
    }
    if (site.kind !== 'operation') return null;
    const [, number, started, ended, success] = mark;
    const startedAt = toHost(started);
    const endedAt = Math.max(startedAt, toHost(ended));
    return { kind: 'operation', site: number, startedAt, endedAt, success };
  };
}
