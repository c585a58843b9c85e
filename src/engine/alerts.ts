import type { Background } from './background.ts';
import type { DriftReport } from './capabilities/quarantine-changed.ts';
import type { FlowPorts } from './flow-ports.ts';
import { limitsOf } from './people/roles.ts';
import type { AlertKind, Settings } from './ports.ts';

const DEFAULTS = {
  /** Milliseconds between two looks; who asks sees nothing older than `freshMs`. */
  everyMs: 30_000,
  freshMs: 1_000,
  /** Calls of a tool within the window that say something of it. */
  leastCalls: 10,
  /** Milliseconds after which a message that did not arrive is sent once more. */
  againMs: [1_000, 10_000, 60_000],
  /** Alerts at once. A gateway with more has one problem, and its first hundred alerts tell which. */
  most: 100,
};

export interface Alert {
  /** The same as long as the same thing is wrong. */
  readonly id: string;
  readonly kind: AlertKind;
  /** A tool, or the name of a key; null: the whole gateway. */
  readonly subject: string | null;
  /** What is wrong, as a sentence. */
  readonly words: string;
  /** When it was noticed. */
  readonly since: Date;
}

export interface AlertService {
  /** Those of now, the newest last. */
  current(): Promise<readonly Alert[]>;
}

export interface AlertParts {
  readonly ports: Pick<FlowPorts, 'store' | 'clock' | 'events' | 'logger' | 'sleep' | 'post' | 'trainerLock'>;
  readonly background: Background;
  readonly settings: () => Settings;
  readonly drift: () => readonly DriftReport[];
}

type Found = Omit<Alert, 'since'>;

/** Watches failures, latency, drift, budgets and waiting approvals, and tells when one passes its threshold. */
export function openAlerts(parts: AlertParts): AlertService & { watch(signal: AbortSignal): Promise<void> } {
  const { clock, events, logger, sleep } = parts.ports;
  let raised = new Map<string, Alert>();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | null = null;

  const look = async () => {
    const found = (await whatIsWrong(parts)).slice(0, DEFAULTS.most);
    const now = clock.now();
    const next = new Map(
      found.map((alert) => [alert.id, { ...alert, since: raised.get(alert.id)?.since ?? now }]),
    );
    const before = raised;
    raised = next;
    lookedAt = clock.monotonic();
    for (const alert of next.values()) if (!before.has(alert.id)) tell(parts, alert, 'raised');
    for (const alert of before.values()) if (!next.has(alert.id)) tell(parts, alert, 'resolved');
    if (next.size !== before.size || [...next.keys()].some((id) => !before.has(id)))
      events.emit({ type: 'alerts_changed', counts: countsOf(next.values()) });
  };
  // Those who ask at once share one look.
  const lookOnce = () => {
    looking ??= look().finally(() => {
      looking = null;
    });
    return looking;
  };

  return {
    async current() {
      if (clock.monotonic() - lookedAt > DEFAULTS.freshMs) await lookOnce();
      return [...raised.values()];
    },
    async watch(signal) {
      while (!signal.aborted) {
        // Rejects when told to stop.
        await sleep(DEFAULTS.everyMs, signal).catch(() => {});
        if (signal.aborted) return;
        await lookOnce().catch((error: unknown) =>
          logger.log('error', 'Alerts could not be checked', { error: String(error) }),
        );
      }
    },
  };
}

function countsOf(alerts: Iterable<Alert>): Partial<Record<AlertKind, number>> {
  const counts: Partial<Record<AlertKind, number>> = {};
  for (const { kind } of alerts) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** In the log; by webhook from one gateway of a team alone, since all of them see the same store. */
function tell({ ports, background, settings }: AlertParts, alert: Alert, state: 'raised' | 'resolved'): void {
  const { logger, sleep, post, trainerLock, clock } = ports;
  const words = state === 'raised' ? alert.words : `Over: ${alert.words}`;
  logger.log('warn', words, { alert: alert.id });
  const { webhook } = settings().alerts;
  if (webhook === null || !post || !trainerLock.isHeld()) return;
  const message = {
    // The field that chat services show.
    text: `PML: ${words}`,
    state,
    at: clock.now().toISOString(),
    alert: { ...alert, since: alert.since.toISOString() },
  };
  background.run('Sending an alert', async (signal) => {
    for (const pause of [...DEFAULTS.againMs, null]) {
      const problem = await post(webhook, message, signal).then(
        () => null,
        (error: unknown) => String(error),
      );
      if (problem === null || signal.aborted) return;
      if (pause === null) {
        // Without the address, which often is a secret.
        logger.log('error', 'The webhook did not accept an alert', { alert: alert.id, error: problem });
        return;
      }
      await sleep(pause, signal);
    }
  });
}

async function whatIsWrong({ ports, settings, drift }: AlertParts): Promise<Found[]> {
  const current = settings();
  return [
    ...(await slowOrFailing(ports, current)),
    ...(current.alerts.drift ? drift().map(driftAlert) : []),
    ...(await usedBudgets(ports, current)),
    ...(await waitingApprovals(ports, current)),
  ];
}

async function slowOrFailing({ store, clock }: AlertParts['ports'], { alerts }: Settings): Promise<Found[]> {
  const { failureRate, latencyMs, windowMs } = alerts;
  if (failureRate === null && latencyMs === null) return [];
  const since = new Date(clock.now().getTime() - windowMs);
  const { groups } = await store.calls.group({ since }, 'tool');
  const within = `in the last ${minutes(windowMs, '')}`;
  return groups.flatMap(({ key: tool, calls, failed, p95Ms }): Found[] => {
    if (tool === null || calls < DEFAULTS.leastCalls) return [];
    const isFailing = failureRate !== null && failed / calls >= failureRate;
    const isSlow = latencyMs !== null && p95Ms !== null && p95Ms >= latencyMs;
    return [
      ...(isFailing
        ? [
            {
              id: `failures ${tool}`,
              kind: 'failures' as const,
              subject: tool,
              words: `${tool} failed in ${failed} of ${calls} calls ${within}.`,
            },
          ]
        : []),
      ...(isSlow
        ? [
            {
              id: `latency ${tool}`,
              kind: 'latency' as const,
              subject: tool,
              words: `One in 20 calls of ${tool} took ${seconds(p95Ms)} or more ${within}.`,
            },
          ]
        : []),
    ];
  });
}

function driftAlert({ tool, of, changes }: DriftReport): Found {
  const what = changes[0]?.words ?? 'something';
  return {
    id: `drift ${of} ${tool}`,
    kind: 'drift',
    subject: tool,
    words: `The ${of === 'answers' ? 'answers' : 'definition'} of ${tool} changed: ${what}`,
  };
}

/** Limits per hour and per day; those per minute only pace. */
async function usedBudgets({ store, clock }: AlertParts['ports'], { alerts }: Settings): Promise<Found[]> {
  const { budget } = alerts;
  if (budget === null) return [];
  const found: Found[] = [];
  for (const { id, name, scope, revokedAt } of await store.keys.list()) {
    const limits = revokedAt === null ? limitsOf(scope).filter(({ per }) => per !== 'minute') : [];
    const windows = limits.length === 0 ? [] : await store.usage.read(id, clock.now());
    for (const { unit, per, most } of limits) {
      const used = windows.find((window) => window.per === per)?.[unit] ?? 0;
      if (most === 0 || used / most < budget) continue;
      found.push({
        id: `budget ${id} ${unit} ${per}`,
        kind: 'budget',
        subject: name,
        words: `The key ${name} has used ${Math.floor((100 * used) / most)} % of its ${most} ${unit} per ${per}.`,
      });
    }
  }
  return found;
}

async function waitingApprovals(
  { store, clock }: AlertParts['ports'],
  { alerts }: Settings,
): Promise<Found[]> {
  const { waitingMs } = alerts;
  if (waitingMs === null) return [];
  const pending = await store.approvals.list({ state: 'pending' });
  const longest = Math.max(
    ...pending.map(({ requestedAt }) => clock.now().getTime() - requestedAt.getTime()),
  );
  if (pending.length === 0 || longest < waitingMs) return [];
  const who = pending.length === 1 ? 'One call has' : `${pending.length} calls have`;
  const words = `${who} been waiting for a person${pending.length === 1 ? '' : ', the first'} for ${minutes(longest, 'a ')}.`;
  return [{ id: 'approvals', kind: 'approvals', subject: null, words }];
}

function minutes(ms: number, article: string): string {
  const count = Math.round(ms / 60_000);
  return count > 1 ? `${count} minutes` : `${article}minute${ms < 60_000 ? ' or less' : ''}`;
}

function seconds(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
