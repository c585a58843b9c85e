import { useRef, useState } from 'preact/hooks';
import { Badge } from '../../components/badge.tsx';
import { duration, percent, plural } from '../../format.ts';
import { setQuery } from '../../router.ts';
import { NodeName } from './call-list.tsx';
import { type Call, type Flame, flamesOf } from './calls.ts';

const DEFAULTS = {
  /** Blocks that are drawn; the rest is too narrow to see. */
  blocks: 300,
  /** Pixels from one level to the next. */
  level: 30,
  hues: 4,
};

/** Calls of the same tool under the same callers as one block, as wide as they took together. */
export function FlameView({
  calls,
  now,
  nameOf,
}: {
  calls: readonly Call[];
  now: number;
  nameOf: (node: string) => string;
}) {
  const list = useRef<HTMLUListElement>(null);
  const [at, setAt] = useState<string | null>(null);
  const all = flamesOf(calls, now);
  const shown = all
    .toSorted((a, b) => b.width - a.width)
    .slice(0, DEFAULTS.blocks)
    .toSorted((a, b) => a.depth - b.depth || a.left - b.left);
  const current = shown.find(({ key }) => key === at) ?? shown[0];
  if (!current) return null;
  const whole = all.reduce((sum, { depth, ms }) => sum + (depth === 0 ? ms : 0), 0);
  const levels = 1 + Math.max(...shown.map(({ depth }) => depth));
  const nodes = [...new Set(all.map(({ node }) => node))];
  const hear = (event: KeyboardEvent) => {
    const next = neighbourOf(event.key, shown, current);
    if (!next) return;
    event.preventDefault();
    setAt(next.key);
    list.current?.querySelectorAll<HTMLElement>('button')[shown.indexOf(next)]?.focus();
  };
  return (
    <div class="flames">
      <p class="muted flames-lead">
        As wide as the calls took together. Calls at the same time count each; below a block is what it
        called.
      </p>
      <ul
        class="flames-blocks"
        aria-label="Where the time went"
        ref={list}
        style={{ height: `${levels * DEFAULTS.level}px` }}
      >
        {shown.map((flame) => (
          <li
            key={flame.key}
            style={{
              left: `${flame.left * 100}%`,
              width: `${flame.width * 100}%`,
              top: `${flame.depth * DEFAULTS.level}px`,
            }}
          >
            <button
              type="button"
              class={`flame chart-${(nodes.indexOf(flame.node) % DEFAULTS.hues) + 1}`}
              aria-pressed={flame === current}
              tabIndex={flame === current ? 0 : -1}
              aria-label={`${nameOf(flame.node)}, level ${flame.depth + 1}, ${duration(flame.ms)}`}
              title={`${nameOf(flame.node)}: ${duration(flame.ms)}`}
              onKeyDown={hear}
              onFocus={() => setAt(flame.key)}
              onClick={() => setAt(flame.key)}
            >
              {nameOf(flame.node)}
            </button>
          </li>
        ))}
      </ul>
      <FlameFacts flame={current} whole={whole} nameOf={nameOf} />
    </div>
  );
}

/** Sideways within a level; up and down to the block above or below. */
function neighbourOf(key: string, shown: readonly Flame[], { depth, left, width }: Flame): Flame | undefined {
  const level = shown.filter((flame) => flame.depth === depth);
  if (key === 'ArrowRight') return level.find((flame) => flame.left > left);
  if (key === 'ArrowLeft') return level.findLast((flame) => flame.left < left);
  if (key === 'ArrowUp')
    return shown.findLast((flame) => flame.depth === depth - 1 && flame.left <= left + 1e-9);
  if (key === 'ArrowDown')
    return shown.find(
      (flame) => flame.depth === depth + 1 && flame.left >= left - 1e-9 && flame.left < left + width,
    );
  return undefined;
}

function FlameFacts({
  flame: { node, calls, failed, ms, selfMs },
  whole,
  nameOf,
}: {
  flame: Flame;
  whole: number;
  nameOf: (node: string) => string;
}) {
  const lengthOf = ({ start, end }: Call) => (end ?? start) - start;
  const slowest = calls.reduce((a, b) => (lengthOf(b) > lengthOf(a) ? b : a));
  return (
    <div class="flames-facts" role="status">
      <p>
        <strong>
          <NodeName name={nameOf(node)} />
        </strong>{' '}
        {failed > 0 && (
          <Badge tone="bad" icon="cross">
            {plural(failed, 'call')} failed
          </Badge>
        )}
      </p>
      <p class="muted">
        {plural(calls.length, 'call')}, {duration(ms)} together
        {whole > 0 && `, ${percent(ms / whole)} of the time in calls`}
        {selfMs > 0 && selfMs < ms && `; ${duration(selfMs)} of it its own`}
      </p>
      <button type="button" class="more" onClick={() => setQuery({ tab: 'tree', call: slowest.id })}>
        Show the slowest in the tree ({duration(lengthOf(slowest))})
      </button>
    </div>
  );
}
