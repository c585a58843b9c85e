import { expect, test } from 'vitest';
import { sampleTrace } from '../../../test/support/samples.ts';
import { createMemoryTraceExporter } from './trace-exporter.ts';

test('[OTEL-6] the twin keeps traces in order until it is closed, like the real one', async () => {
  const exporter = createMemoryTraceExporter();
  const [first, second, late] = [sampleTrace(), sampleTrace(), sampleTrace()];
  exporter.export(first);
  exporter.export(second);
  await exporter.close();
  exporter.export(late);
  expect(exporter.traces).toEqual([first, second]);
});
