/** A host whose guest never yields; reports that on stdout, and waits to be killed. */
import { createSandbox } from '../../src/adapters/sandbox/create-sandbox.ts';
import { options, program, tableHost } from '../contracts/sandbox-support.ts';

const host = tableHost({
  'a:begun': () => void setTimeout(() => process.stdout.write('looping\n'), 50),
});
await createSandbox().run(program('await mcp.a.begun(); for (;;);'), host, options({ cpuMs: 60_000 }));
