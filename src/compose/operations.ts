import { setTimeout } from 'node:timers/promises';
import { createMetrics } from '../adapters/telemetry/prometheus.ts';
import type { Gateway } from '../engine/gateway.ts';
import type { LoopWatch } from '../engine/ports/process.ts';
import type { Clock, TraceExporter } from '../engine/ports.ts';
import { type EventLog, watchRuns } from '../engine/traces/event-log.ts';
import { type AppOptions, createTraffic } from '../surfaces/http/create-app.ts';
import { createReadiness } from '../surfaces/http/readiness.ts';

const DEFAULTS = {
  /** Milliseconds that open runs and requests have to finish. */
  patienceMs: 5_000,
  lookMs: 20,
};

interface OperationsParts {
  readonly gateway: Gateway;
  readonly events: EventLog;
  readonly exporter: TraceExporter | null;
  readonly opening: Promise<unknown>;
  readonly version: string;
  readonly clock: Clock;
  readonly loop: LoopWatch;
}

/** Health, metrics and status for operators, and an orderly shutdown. */
export function createOperations(parts: OperationsParts) {
  const { gateway, events, exporter, opening, version, clock, loop } = parts;
  const metrics = createMetrics({
    version,
    now: clock.monotonic,
    figures: () => figuresOf(gateway),
    loop: loop.figures,
  });
  const unfollow = events.follow(metrics.hear);
  const runs = watchRuns(events);
  const traffic = createTraffic(
    exporter
      ? (answered) => {
          metrics.answered(answered);
          exporter.exportRequest(answered);
        }
      : metrics.answered,
  );
  const ready = createReadiness({
    opened: opening,
    isStopping: traffic.isStopping,
    ping: () => gateway.store.audit.list({ limit: 1 }),
    now: clock.monotonic,
  });
  const routes: Pick<AppOptions, 'traffic' | 'ready' | 'metrics'> = { traffic, ready, metrics: metrics.read };
  return {
    routes,
    /** Refuses new work, and waits a limited time for open work. */
    async quiet() {
      traffic.stop();
      const until = clock.monotonic() + DEFAULTS.patienceMs;
      while (runs.count() + traffic.waiting() > 0 && clock.monotonic() < until)
        await setTimeout(DEFAULTS.lookMs);
    },
    close() {
      unfollow();
      runs.close();
    },
  };
}

async function figuresOf(gateway: Gateway) {
  const [stats, reports] = await Promise.all([gateway.stats(), gateway.servers()]);
  const { tools, capabilities, traces, pendingApprovals } = stats;
  const servers: Record<string, number> = {};
  for (const { state } of reports) servers[state] = (servers[state] ?? 0) + 1;
  return { tools, capabilities, traces, pendingApprovals, servers };
}
