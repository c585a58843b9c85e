import type { ComponentChildren } from 'preact';
import type { CapabilitySummary } from '../../shared/api-types.ts';
import { shownLine } from '../format.ts';
import { Icon, type IconName } from './icon.tsx';

export type Tone = 'neutral' | 'good' | 'bad' | 'warn' | 'info' | 'accent';

/** A word about a state. The icon says it without colour. */
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

/** The state of a run, task, server, approval or capability, the same everywhere. */
export function StatusBadge({ status }: { status: string }) {
  const [tone, icon] = STATUS[status] ?? (['neutral', undefined] as const);
  return (
    <Badge tone={tone} {...(icon && { icon })}>
      {status.replaceAll('_', ' ')}
    </Badge>
  );
}

/** In a row of a table: what it is called, and below what it is for. */
export function CapabilityName({ slug, description }: Pick<CapabilitySummary, 'slug' | 'description'>) {
  return (
    <>
      <span class="strong mono">{shownLine(slug, 80)}</span>
      <span class="cell-note muted">{shownLine(description, 120)}</span>
    </>
  );
}
