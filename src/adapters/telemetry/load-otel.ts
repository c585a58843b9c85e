import type { Logger } from '../../engine/ports.ts';

const PACKAGES = [
  '@opentelemetry/api',
  '@opentelemetry/sdk-trace',
  '@opentelemetry/resources',
  '@opentelemetry/exporter-trace-otlp-http',
];

/** OpenTelemetry's packages; they are the user's to install. */
export interface Otel {
  readonly api: typeof import('@opentelemetry/api');
  readonly sdk: typeof import('@opentelemetry/sdk-trace');
  readonly resources: typeof import('@opentelemetry/resources');
  readonly otlp: typeof import('@opentelemetry/exporter-trace-otlp-http');
}

/** Null, and a line that says what to do, when they are not installed. */
export async function loadOtel(logger: Logger): Promise<Otel | null> {
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
