import type { Logger } from '../../engine/ports.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** Whether the standard variables of OpenTelemetry ask for spans. */
export function isOtelWanted(env: Variables, logger: Logger): boolean {
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
