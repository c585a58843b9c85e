import type { HrTime, Span, Tracer } from '@opentelemetry/api';
import { type CallSpan, callSpans } from '../../core/tracing/derive-trace.ts';
import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import { kindOf } from '../../core/vocabulary/ids.ts';
import type { Logger, ServedRequest, TraceExporter } from '../../engine/ports.ts';

type Variables = Readonly<Record<string, string | undefined>>;

const PACKAGES = [
  '@opentelemetry/api',
  '@opentelemetry/sdk-trace',
  '@opentelemetry/resources',
  '@opentelemetry/exporter-trace-otlp-http',
];

/** OpenTelemetry's packages; they are the user's to install. */
interface Otel {
  readonly api: typeof import('@opentelemetry/api');
  readonly sdk: typeof import('@opentelemetry/sdk-trace');
  readonly resources: typeof import('@opentelemetry/resources');
  readonly otlp: typeof import('@opentelemetry/exporter-trace-otlp-http');
}

const DEFAULTS = {
  /** Spans held back for sending; more are dropped. Three runs of ten thousand calls. */
  queue: 32_768,
  /** Spans sent at once. */
  batch: 512,
  /** How long a span may wait for others, in milliseconds. */
  delayMs: 1_000,
  /** Longest wait for the receiver, in milliseconds, unless the standard variables say otherwise. */
  timeoutMs: 3_000,
  /** Spans made in one go; others get a turn in between. */
  turn: 500,
  /** Least time between two complaints about the receiver, in milliseconds. */
  complaintMs: 60_000,
};

export interface OtelOptions {
  /** Of the process: OpenTelemetry's own packages read it as well. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly logger: Logger;
}

/**
 * Sends runs to where the standard variables point (OTLP over HTTP, JSON). Null when they do not, or
 * when the packages for it are not installed: then nothing is loaded and nothing sent.
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
  const provider = createProvider(otel, env, version);
  const tracer = provider.getTracer('pml', version);
  let isClosed = false;
  let work: Promise<void> = Promise.resolve();
  return {
    export(trace) {
      if (isClosed) return;
      work = work
        .then(() => addSpans(otel, tracer, trace))
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

function createProvider({ sdk, resources, otlp }: Otel, env: OtelOptions['env'], version: string) {
  const { resourceFromAttributes, defaultResource, detectResources } = resources;
  const { serviceNameEnvDetector, resourceAttributesEnvDetector } = resources;
  const isTimed = env.OTEL_EXPORTER_OTLP_TIMEOUT ?? env.OTEL_EXPORTER_OTLP_TRACES_TIMEOUT;
  const exporter = new otlp.OTLPTraceExporter(isTimed ? {} : { timeoutMillis: DEFAULTS.timeoutMs });
  return new sdk.TracerProvider({
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

/**
 * One span for the run, and in it one for each call, under the call that made it. Arguments, results,
 * intents and error texts stay here: they are other people's words.
 */
async function addSpans({ api }: Otel, tracer: Tracer, trace: ExecutionTrace): Promise<void> {
  const origin = trace.executedAt.getTime();
  const calls = callSpans(trace.events);
  const runEnd = calls.reduce((end, { endTs }) => Math.max(end, endTs), trace.durationMs);
  const run = tracer.startSpan(
    'pml run',
    {
      root: true,
      startTime: toHrTime(origin),
      attributes: {
        'pml.run_id': trace.runId,
        'pml.trace_id': trace.id,
        'pml.calls': calls.length,
        ...(trace.sessionId !== null && { 'session.id': trace.sessionId }),
        ...outcome(trace.success, trace.errorType),
      },
    },
    api.ROOT_CONTEXT,
  );
  if (!trace.success) run.setStatus({ code: api.SpanStatusCode.ERROR });

  const spans = new Map<string, Span>();
  for (const [index, call] of calls.entries()) {
    if (index % DEFAULTS.turn === DEFAULTS.turn - 1) await new Promise(setImmediate);
    const { node, traceId, parentTraceId } = call.start;
    const parent = spans.get(parentTraceId ?? '') ?? run;
    const span = tracer.startSpan(
      node,
      {
        kind: kindOf(node) === 'tool' ? api.SpanKind.CLIENT : api.SpanKind.INTERNAL,
        startTime: toHrTime(origin + call.startTs),
        attributes: attributesOf(call, trace.runId),
      },
      api.trace.setSpan(api.ROOT_CONTEXT, parent),
    );
    if (!call.end?.success) span.setStatus({ code: api.SpanStatusCode.ERROR });
    span.end(toHrTime(origin + call.endTs));
    spans.set(traceId, span);
  }
  run.end(toHrTime(origin + runEnd));
}

/** A span for one request, by the names that OpenTelemetry has for its parts. */
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

function outcome(success: boolean, errorType: string | null) {
  return { 'pml.success': success, ...(errorType !== null && { 'error.type': errorType }) };
}

/** As seconds and nanoseconds: a plain number could be taken for one of the process's own clock. */
function toHrTime(epochMs: number): HrTime {
  const seconds = Math.floor(epochMs / 1_000);
  return [seconds, Math.floor((epochMs - seconds * 1_000) * 1e6)];
}

/** A receiver that is down is worth a line now and then, not one for every batch. */
function createComplaints(logger: Logger): (message: string) => void {
  let quietUntil = Number.NEGATIVE_INFINITY;
  return (message) => {
    if (performance.now() < quietUntil) return;
    quietUntil = performance.now() + DEFAULTS.complaintMs;
    logger.log('warn', 'OpenTelemetry cannot send all spans', { error: message });
  };
}

/** Null, and a line that says what to do, when they are not installed. */
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
    logger.log('warn', "Runs are not exported: OpenTelemetry's packages cannot be loaded", {
      hint: `Install them beside PML: npm install ${PACKAGES.join(' ')}`,
      error: String(error),
    });
    return null;
  }
}

/** Whether the standard variables of OpenTelemetry ask for spans. */
function isOtelWanted(env: Variables, logger: Logger): boolean {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!endpoint?.trim() || env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return false;
  if (env.OTEL_TRACES_EXPORTER !== undefined && !/\botlp\b/.test(env.OTEL_TRACES_EXPORTER)) return false;
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL;
  if (protocol === 'grpc') {
    logger.log('warn', 'Runs are not exported: PML speaks OTLP over HTTP, not gRPC', {
      hint: 'Point OTEL_EXPORTER_OTLP_ENDPOINT at the HTTP port (4318) and leave out the protocol.',
    });
    return false;
  }
  return true;
}
