import type { HrTime, Span, Tracer } from '@opentelemetry/api';
import { type CallSpan, callSpans } from '../../core/tracing/derive-trace.ts';
import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import { kindOf, type NodeId, splitToolId, type ToolId } from '../../core/vocabulary/ids.ts';
import { parentSpanOf, spanIdOf, traceIdOf } from '../../core/vocabulary/trace-context.ts';
import type { Logger, ServedRequest, TraceExporter } from '../../engine/ports.ts';

type Variables = Readonly<Record<string, string | undefined>>;

const PACKAGES = [
  '@opentelemetry/api',
  '@opentelemetry/sdk-trace',
  '@opentelemetry/resources',
  '@opentelemetry/exporter-trace-otlp-http',
];

/** OpenTelemetry's packages, which the user installs. */
interface Otel {
  readonly api: typeof import('@opentelemetry/api');
  readonly sdk: typeof import('@opentelemetry/sdk-trace');
  readonly resources: typeof import('@opentelemetry/resources');
  readonly otlp: typeof import('@opentelemetry/exporter-trace-otlp-http');
}

const DEFAULTS = {
  /** Spans queued for sending, three runs of ten thousand calls; further spans are dropped. */
  queue: 32_768,
  /** Spans per request. */
  batch: 512,
  /** Milliseconds a span may wait for others. */
  delayMs: 1_000,
  /** Request timeout in milliseconds, unless the standard variables set it. */
  timeoutMs: 3_000,
  /** Spans created before yielding to the event loop. */
  turn: 500,
  /** Least time between two warnings about the receiver, in milliseconds. */
  complaintMs: 60_000,
};

export interface OtelOptions {
  /** The environment of the process, which OpenTelemetry's packages read too. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly logger: Logger;
}

/**
 * Sends runs to the endpoint in the standard variables (OTLP over HTTP, JSON). Null if they name none or the
 * packages are not installed; then nothing is loaded or sent.
 */
export async function createOtelExporter(
  options: OtelOptions,
  load: typeof loadOtel = loadOtel,
): Promise<TraceExporter | null> {
  const { env, version, logger } = options;
  if (!isOtelWanted(env, logger)) return null;
  const otel = await load(logger);
  if (otel === null) return null;
  const complain = createComplaints(logger);
  const diagnostics = { error: complain, warn: complain, info() {}, debug() {}, verbose() {} };
  otel.api.diag.setLogger(diagnostics, {
    logLevel: otel.api.DiagLogLevel.WARN,
    suppressOverrideMessage: true,
  });
  const ids = new ChosenIds(otel);
  const provider = createProvider(otel, env, version, ids);
  const tracer = provider.getTracer('pml', version);
  let isClosed = false;
  let work: Promise<void> = Promise.resolve();
  return {
    export(trace) {
      if (isClosed) return;
      work = work
        .then(() => addSpans(otel, tracer, ids, trace))
        .catch((error) =>
          logger.log('warn', `Trace ${trace.id} cannot be exported`, { error: String(error) }),
        );
    },
    exportRequest(request) {
      if (!isClosed) addRequest(otel, tracer, request);
    },
    async close() {
      isClosed = true;
      await work;
      await provider.shutdown().catch((error) => complain(String(error)));
      otel.api.diag.disable();
    },
  };
}

function createProvider(
  { sdk, resources, otlp }: Otel,
  env: OtelOptions['env'],
  version: string,
  idGenerator: ChosenIds,
) {
  const { resourceFromAttributes, defaultResource, detectResources } = resources;
  const { serviceNameEnvDetector, resourceAttributesEnvDetector } = resources;
  const isTimed = env.OTEL_EXPORTER_OTLP_TIMEOUT ?? env.OTEL_EXPORTER_OTLP_TRACES_TIMEOUT;
  const exporter = new otlp.OTLPTraceExporter(isTimed ? {} : { timeoutMillis: DEFAULTS.timeoutMs });
  return new sdk.TracerProvider({
    idGenerator,
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'pml', 'service.version': version }))
      .merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] })),
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter,
        maxQueueSize: DEFAULTS.queue,
        maxExportBatchSize: DEFAULTS.batch,
        scheduledDelayMillis: DEFAULTS.delayMs,
      }),
    ],
  });
}

/** A server has been told the id of the span that calls it, so that span must have this id. */
class ChosenIds {
  readonly #random: { generateTraceId(): string; generateSpanId(): string };
  #chosen: { readonly traceId?: string | null; readonly spanId?: string | null } = {};

  constructor({ sdk }: Pick<Otel, 'sdk'>) {
    this.#random = new sdk.RandomIdGenerator();
  }

  /** For the one span that is started meanwhile. */
  during<T>(
    chosen: { readonly traceId?: string | null; readonly spanId?: string | null },
    start: () => T,
  ): T {
    this.#chosen = chosen;
    try {
      return start();
    } finally {
      this.#chosen = {};
    }
  }

  readonly generateTraceId = () => this.#chosen.traceId ?? this.#random.generateTraceId();

  readonly generateSpanId = () => this.#chosen.spanId ?? this.#random.generateSpanId();
}

/**
 * One span for the run and one for each call, under the call that made it. Arguments, results, intents and
 * error texts are not exported, because they are user data.
 */
async function addSpans({ api }: Otel, tracer: Tracer, ids: ChosenIds, trace: ExecutionTrace): Promise<void> {
  const origin = trace.executedAt.getTime();
  const calls = callSpans(trace.events);
  const runEnd = calls.reduce((end, { endTs }) => Math.max(end, endTs), trace.durationMs);
  const outer = parentSpanOf(calls.find(({ start }) => start.traceparent !== undefined)?.start.traceparent);
  const around = outer
    ? api.trace.setSpanContext(api.ROOT_CONTEXT, {
        traceId: outer.traceId,
        spanId: outer.spanId,
        traceFlags: outer.flags,
        isRemote: true,
      })
    : api.ROOT_CONTEXT;
  const options = {
    root: outer === null,
    startTime: toHrTime(origin),
    attributes: {
      'pml.run_id': trace.runId,
      'pml.trace_id': trace.id,
      'pml.calls': calls.length,
      ...(trace.sessionId !== null && { 'session.id': trace.sessionId, 'mcp.session.id': trace.sessionId }),
      ...outcome(trace.success, trace.errorType),
    },
  };
  const run = ids.during({ traceId: traceIdOf(trace.runId) }, () =>
    tracer.startSpan('pml run', options, around),
  );
  if (!trace.success) run.setStatus({ code: api.SpanStatusCode.ERROR });

  const spans = new Map<string, Span>();
  for (const [index, call] of calls.entries()) {
    if (index % DEFAULTS.turn === DEFAULTS.turn - 1) await new Promise(setImmediate);
    const { node, traceId, parentTraceId } = call.start;
    const parent = spans.get(parentTraceId ?? '') ?? run;
    const isTool = kindOf(node) === 'tool';
    const made = {
      kind: isTool ? api.SpanKind.CLIENT : api.SpanKind.INTERNAL,
      startTime: toHrTime(origin + call.startTs),
      attributes: { ...attributesOf(call, trace.runId), ...(isTool && toolCallOf(node)) },
    };
    const name = isTool ? `${METHOD} ${splitToolId(node as ToolId).tool}` : node;
    const span = ids.during({ spanId: spanIdOf(traceId) }, () =>
      tracer.startSpan(name, made, api.trace.setSpan(api.ROOT_CONTEXT, parent)),
    );
    if (!call.end?.success) span.setStatus({ code: api.SpanStatusCode.ERROR });
    span.end(toHrTime(origin + call.endTs));
    spans.set(traceId, span);
  }
  run.end(toHrTime(origin + runEnd));
}

/** A span for one request, with OpenTelemetry's attribute names. */
function addRequest({ api }: Otel, tracer: Tracer, request: ServedRequest): void {
  const { method, route, status, startedAt, durationMs } = request;
  const span = tracer.startSpan(
    `${method} ${route}`,
    {
      root: true,
      kind: api.SpanKind.SERVER,
      startTime: toHrTime(startedAt.getTime()),
      attributes: {
        'http.request.method': method,
        'http.route': route,
        'http.response.status_code': status,
        ...(status >= 500 && { 'error.type': String(status) }),
      },
    },
    api.ROOT_CONTEXT,
  );
  if (status >= 500) span.setStatus({ code: api.SpanStatusCode.ERROR });
  span.end(toHrTime(startedAt.getTime() + durationMs));
}

function attributesOf({ start: { node, traceId }, end }: CallSpan, runId: string) {
  return {
    'pml.node': node,
    'pml.kind': kindOf(node),
    'pml.run_id': runId,
    'pml.call_id': traceId,
    ...outcome(end?.success ?? false, end?.errorType ?? null),
  };
}

const METHOD = 'tools/call';

/** By the names of OpenTelemetry's conventions for MCP. */
function toolCallOf(node: NodeId) {
  return {
    'mcp.method.name': METHOD,
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': splitToolId(node as ToolId).tool,
  };
}

function outcome(success: boolean, errorType: string | null) {
  return { 'pml.success': success, ...(errorType !== null && { 'error.type': errorType }) };
}

/** As seconds and nanoseconds: a plain number could be read as time of the process's own clock. */
function toHrTime(epochMs: number): HrTime {
  const seconds = Math.floor(epochMs / 1_000);
  return [seconds, Math.floor((epochMs - seconds * 1_000) * 1e6)];
}

/** Limits how often an unreachable receiver is logged. */
function createComplaints(logger: Logger): (message: string) => void {
  let quietUntil = Number.NEGATIVE_INFINITY;
  return (message) => {
    if (performance.now() < quietUntil) return;
    quietUntil = performance.now() + DEFAULTS.complaintMs;
    logger.log('warn', 'OpenTelemetry cannot send all spans', { error: message });
  };
}

/** Null, with a warning, if the packages are not installed. */
async function loadOtel(logger: Logger): Promise<Otel | null> {
  try {
    const [api, sdk, resources, otlp] = await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/exporter-trace-otlp-http'),
    ]);
    return { api, sdk, resources, otlp };
  } catch (error) {
    logger.log('warn', 'Runs are not exported: the OpenTelemetry packages cannot be loaded', {
      hint: `Install them next to PML: npm install ${PACKAGES.join(' ')}`,
      error: String(error),
    });
    return null;
  }
}

/** Whether OpenTelemetry's standard variables request spans. */
function isOtelWanted(env: Variables, logger: Logger): boolean {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!endpoint?.trim() || env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return false;
  if (env.OTEL_TRACES_EXPORTER !== undefined && !/\botlp\b/.test(env.OTEL_TRACES_EXPORTER)) return false;
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL;
  if (protocol === 'grpc') {
    logger.log('warn', 'Runs are not exported: PML supports OTLP over HTTP, not gRPC', {
      hint: 'Point OTEL_EXPORTER_OTLP_ENDPOINT at the HTTP port (4318) and remove the protocol variable.',
    });
    return false;
  }
  return true;
}
