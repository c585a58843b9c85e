import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { kindOf } from '../../core/vocabulary/ids.ts';
import type { LoopFigures } from '../../engine/ports/process.ts';
import { ALERT_KINDS } from '../../engine/ports/settings.ts';
import type { GatewayEvent } from '../../engine/ports.ts';

const DEFAULTS = {
  /** Upper bounds in seconds: a local call takes a millisecond, one that waits for a person minutes. */
  buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300],
  /** Milliseconds for which counted figures are cached. */
  figuresMs: 10_000,
};

/** Figures that are read from the gateway; all others come from events. */
export interface Figures {
  readonly tools: number;
  readonly capabilities: number;
  readonly traces: number;
  readonly pendingApprovals: number;
  /** How many servers are in each state. */
  readonly servers: Readonly<Record<string, number>>;
}

export interface AnsweredRequest {
  readonly method: string;
  /** The route's pattern, `/api/traces/:id`, which bounds the number of labels. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
}

export interface Metrics {
  hear(told: { readonly event: GatewayEvent }): void;
  answered(request: AnsweredRequest): void;
  /** Prometheus' text format. */
  read(): Promise<{ readonly type: string; readonly text: string }>;
}

export interface MetricsOptions {
  readonly version: string;
  /** Milliseconds; only differences matter. */
  readonly now: () => number;
  readonly figures: () => Promise<Figures>;
  readonly loop: () => LoopFigures;
}

/** Metrics for Prometheus; docs/operate.md lists every name. */
export function createMetrics({ version, now, figures, loop }: MetricsOptions): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const common = { registers: [registry] };
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter({ ...common, name, help, labelNames: [...labelNames] });
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge({ ...common, name, help, labelNames: [...labelNames] });
  const histogram = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Histogram({ ...common, name, help, labelNames: [...labelNames], buckets: DEFAULTS.buckets });

  gauge('pml_info', 'Always 1; the version is a label', ['version']).set({ version }, 1);
  const runs = counter('pml_runs_total', 'Runs that ended, by status', ['status']);
  const runTimes = histogram('pml_run_duration_seconds', 'Time from start to end of a run');
  const openRuns = gauge('pml_runs_in_progress', 'Runs in progress');
  const calls = counter('pml_calls_total', 'Recorded tool calls', ['server', 'outcome']);
  const callTimes = histogram('pml_call_duration_seconds', 'Duration of a tool call', ['server']);
  const asked = counter('pml_approvals_requested_total', 'Approvals requested');
  const settled = counter('pml_approvals_settled_total', 'Approvals decided', ['decision']);
  const trainings = counter('pml_trainings_total', 'Trainings of the ranker');
  const gate = gauge('pml_ranker_serving', '1 while the learned ranker is in use, otherwise 0');
  const requests = counter('pml_http_requests_total', 'Answered HTTP requests', [
    'method',
    'route',
    'status',
  ]);
  const requestTimes = histogram(
    'pml_http_request_duration_seconds',
    'Time to the first byte of a response',
    ['route'],
  );
  const stalls = counter('pml_stalls_total', 'Event loop stalls of 250 ms or more');
  const stalled = counter('pml_stalled_seconds_total', 'Total time of event loop stalls');
  const longest = gauge('pml_longest_stall_seconds', 'Longest event loop stall');
  const tools = gauge('pml_tools', 'Tools in the catalogue');
  const capabilities = gauge('pml_capabilities', 'Capabilities');
  const traces = gauge('pml_traces', 'Traces in the store');
  const pending = gauge('pml_approvals_pending', 'Pending approvals');
  const alerts = gauge('pml_alerts', 'Alerts, by kind', ['kind']);
  for (const kind of ALERT_KINDS) alerts.set({ kind }, 0);
  const servers = gauge('pml_servers', 'Upstream servers, by state', ['state']);

  // By run id, so that a run whose end is reported twice is counted once.
  const underWay = new Set<string>();
  let readAt = Number.NEGATIVE_INFINITY;

  const count = async () => {
    if (now() - readAt < DEFAULTS.figuresMs) return;
    const current = await figures();
    readAt = now();
    tools.set(current.tools);
    capabilities.set(current.capabilities);
    traces.set(current.traces);
    pending.set(current.pendingApprovals);
    servers.reset();
    for (const [state, number] of Object.entries(current.servers)) servers.set({ state }, number);
  };

  let told = { stalls: 0, stalledMs: 0 };
  const tellStalls = () => {
    const current = loop();
    stalls.inc(current.stalls - told.stalls);
    stalled.inc((current.stalledMs - told.stalledMs) / 1_000);
    longest.set(current.longestMs / 1_000);
    told = current;
  };

  return {
    hear({ event }) {
      switch (event.type) {
        case 'run_started':
          underWay.add(event.run_id);
          openRuns.set(underWay.size);
          break;
        case 'run_finished':
          underWay.delete(event.run_id);
          openRuns.set(underWay.size);
          runs.inc({ status: event.status });
          runTimes.observe(event.duration_ms / 1_000);
          break;
        case 'trace_event': {
          const { node, success, duration_ms: ms = 0, type } = event.event;
          if (type !== 'tool_end' || kindOf(node) !== 'tool') break;
          const server = node.slice(0, node.indexOf(':'));
          calls.inc({ server, outcome: success ? 'success' : 'error' });
          callTimes.observe({ server }, ms / 1_000);
          break;
        }
        case 'approval_requested':
          asked.inc();
          break;
        case 'approval_settled':
          settled.inc({ decision: event.state });
          break;
        case 'ranker_trained':
          trainings.inc();
          break;
        case 'alerts_changed':
          for (const kind of ALERT_KINDS) alerts.set({ kind }, event.counts[kind] ?? 0);
          break;
        case 'gate_changed':
          gate.set(event.open ? 1 : 0);
          break;
      }
    },

    answered({ method, route, status, durationMs }) {
      requests.inc({ method, route, status });
      requestTimes.observe({ route }, durationMs / 1_000);
    },

    async read() {
      // The metrics from events are useful even when the store cannot be read.
      await count().catch(() => {});
      tellStalls();
      return { type: registry.contentType, text: await registry.metrics() };
    },
  };
}
