import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Outcome, type Outcomes, type Revision, requirementsOf, testClient } from './suite.ts';

const DRIVER = fileURLToPath(new URL('../fixtures/servers/conformance-client.ts', import.meta.url));
/** Each scenario is two processes, and some measure time. */
const AT_ONCE = 2;

/** Everything the revision knows, required or not, against the upstream side. */
export async function testUpstreamSide(revision: Revision, outputDir: string): Promise<Outcomes> {
  const { required, optional } = requirementsOf(revision, 'client');
  const waiting = [...required, ...optional.keys()];
  const outcomes = new Map<string, Outcome | null>(waiting.map((scenario) => [scenario, null]));
  const work = async () => {
    for (let scenario = waiting.shift(); scenario !== undefined; scenario = waiting.shift()) {
      const command = `${process.execPath} ${DRIVER}`;
      outcomes.set(scenario, await testClient(command, scenario, revision, join(outputDir, scenario)));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return outcomes as Outcomes;
}
