import type { ComponentChildren } from 'preact';
import type { CapabilitySummary } from '../../shared/api-types.ts';
import { shownLine } from '../format.ts';

export type Tone = 'neutral' | 'good' | 'bad' | 'warn' | 'info' | 'accent';

/** A state in one word; the icon shows it without colour. */
export function Badge({
  tone = 'neutral',
  icon,
  children,
}: {
  tone?: Tone;
  icon?: IconName;
  children: ComponentChildren;
}) {
  return (
    <span class={`badge badge-${tone}`}>
      {icon && <Icon name={icon} size={13} />}
      {children}
    </span>
  );
}

const STATUS: Readonly<Record<string, readonly [Tone, IconName]>> = {
  success: ['good', 'check'],
  ready: ['good', 'check'],
  active: ['good', 'check'],
  approved: ['good', 'check'],
  error: ['bad', 'cross'],
  failed: ['bad', 'cross'],
  rejected: ['bad', 'cross'],
  aborted: ['bad', 'cross'],
  quarantined: ['bad', 'alert'],
  running: ['info', 'play'],
  starting: ['info', 'clock'],
  paused: ['warn', 'hand'],
  waiting: ['warn', 'hand'],
  pending: ['warn', 'clock'],
  approval_required: ['warn', 'hand'],
  backoff: ['warn', 'alert'],
  unknown: ['warn', 'alert'],
};

/** The state of a run, task, server, approval or capability, with the same look everywhere. */
export function StatusBadge({ status }: { status: string }) {
  const [tone, icon] = STATUS[status] ?? (['neutral', undefined] as const);
  return (
    <Badge tone={tone} {...(icon && { icon })}>
      {status.replaceAll('_', ' ')}
    </Badge>
  );
}

/** Table cell: the capability's name, and its description below. */
export function CapabilityName({ slug, description }: Pick<CapabilitySummary, 'slug' | 'description'>) {
  return (
    <>
      <span class="strong mono">{shownLine(slug, 80)}</span>
      <span class="cell-note muted">{shownLine(description, 120)}</span>
    </>
  );
}

/** 24 x 24, stroked in the current text colour. */
const PATHS = {
  home: 'M4 11.5 12 5l8 6.5M6.5 10v9h11v-9M10 19v-5h4v5',
  graph:
    'M12 8.5V11m-1.6 2L7.5 16M13.6 13l2.9 3M12 3.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5ZM12 11a1 1 0 1 0 0 2 1 1 0 0 0 0-2ZM6 15.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5ZM18 15.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5Z',
  runs: 'M4 6h7M8 12h9M13 18h7',
  calls: 'M4 6h3M10 6h10M4 12h3M10 12h10M4 18h3M10 18h10',
  approvals: 'M4 5.5h16v13H4zM4 13h4.5l1.5 2.500h4l1.5-2.500H20M9 9l2 2 4-4',
  workflows: 'M4 5h5v5H4zM15 14h5v5h-5zM6.5 10v4a2.5 2.5 0 0 0 2.5 2.5h6',
  capabilities: 'M12 3.5 20 8v8l-8 4.5L4 16V8zM4 8l8 4.5L20 8M12 12.5v8',
  search: 'M11 4.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM16 16l4 4',
  learning: 'M4 19.5h16M4.5 15.5l4.5-5 3.5 3L19.5 6M15 6h4.5v4.5',
  keys: 'M8 11.500a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM11 12.500l8.500-8.500M16 7.500l3 3',
  server: 'M4 5h16v6H4zM4 13h16v6H4zM7.5 8h.01M7.5 16h.01',
  check: 'm5 12.5 4.5 4.5L19 7.5',
  cross: 'M6 6l12 12M18 6 6 18',
  alert: 'M12 4 2.8 19.5h18.400zM12 10v4.5M12 17h.01',
  info: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17ZM12 11v5M12 8h.01',
  clock: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17ZM12 7.5V12l3 2',
  hand: 'M8 12V6.5a1.5 1.5 0 0 1 3 0V11m0-.5v-5a1.5 1.5 0 0 1 3 0V11m0-3.5a1.5 1.5 0 0 1 3 0v6a6.5 6.5 0 0 1-6.5 6.5c-2.5 0-4-1.300-5-3l-2-3.5a1.5 1.5 0 0 1 2.5-1.600L8 14',
  play: 'M7 5v14l12-7z',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM12 2.5v2M12 19.5v2M4.5 4.5 6 6M18 18l1.5 1.5M2.5 12h2M19.5 12h2M4.5 19.5 6 18M18 6l1.5-1.5',
  moon: 'M19.5 14A8 8 0 0 1 10 4.5 8 8 0 1 0 19.5 14Z',
  keyboard: 'M3 6.5h18v11H3zM6.5 10h.01M10 10h.01M13.5 10h.01M17 10h.01M8 14h8',
  chevron: 'm9 6 6 6-6 6',
  external: 'M13.5 4.5h6v6M19 5l-8 8M10 5H4.5v14.5H19V14',
  refresh: 'M19.5 12a7.5 7.5 0 1 1-2.300-5.400L19.5 9M19.5 4.5V9H15',
  spark: 'M12 3.5 13.8 10l6.700 2-6.700 2L12 20.5 10.200 14l-6.700-2 6.700-2z',
  download: 'M12 4v11m-4.5-4.5L12 15l4.5-4.5M4.5 19.5h15',
  up: 'M7 10.5v9H4v-9zM7 10.5 11 3.5a2 2 0 0 1 2.500 2.300L12.800 9.500H18a2 2 0 0 1 2 2.400l-1.200 6a2 2 0 0 1-2 1.600H7',
  down: 'M7 13.5v-9H4v9zM7 13.5l4 7a2 2 0 0 0 2.500-2.300l-.7-3.700H18a2 2 0 0 0 2-2.400l-1.200-6a2 2 0 0 0-2-1.600H7',
  bell: 'M6 16.5V11a6 6 0 0 1 12 0v5.5l1.5 2h-15zM10 20.5h4',
  more: 'M6 12h.01M12 12h.01M18 12h.01',
} as const;

export type IconName = keyof typeof PATHS;

/** Hidden from screen readers: the text beside it, or its button's `aria-label`, is read instead. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
