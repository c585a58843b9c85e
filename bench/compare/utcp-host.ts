/** `@utcp/code-mode` in its own process, as an agent that uses the library would run it. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MESSAGE, type Setting } from './contender.ts';

interface UtcpClient {
  registerManual(manual: object): Promise<{ success: boolean; errors?: readonly string[] }>;
  callTool(name: string, args: object): Promise<unknown>;
  callToolChain(code: string, timeoutMs?: number): Promise<{ result: unknown }>;
}

const [peers, servers] = [process.argv[2]!, JSON.parse(process.argv[3]!) as Setting['servers']];
// It logs every call; writing that log is excluded from the comparison.
console.log = () => {};
console.warn = () => {};

const { resolve } = createRequire(join(peers, 'package.json'));
const load = (name: string) => import(pathToFileURL(resolve(name)).href) as Promise<Record<string, unknown>>;
const codeMode = await load('@utcp/code-mode');
await load('@utcp/mcp');
const { CodeModeUtcpClient } = codeMode as { CodeModeUtcpClient: { create(): Promise<UtcpClient> } };
const client = await CodeModeUtcpClient.create();
for (const [name, [command, ...args]] of Object.entries(servers)) {
  const template = { transport: 'stdio', command, args };
  const { success, errors } = await client.registerManual({
    name,
    call_template_type: 'mcp',
    config: { mcpServers: { main: template } },
  });
  if (!success) throw new Error(`${name}: ${errors?.join(', ')}`);
}

async function answer(question: { call?: string; callTimes?: number }): Promise<unknown> {
  if (question.call !== undefined) return client.callTool(`${question.call}.main.echo`, { message: MESSAGE });
  const code = `let n = 0;
    for (let i = 0; i < ${question.callTimes}; i++) { server0.main_echo({ message: ${JSON.stringify(MESSAGE)} }); n++; }
    return n;`;
  return (await client.callToolChain(code, 120_000)).result;
}

process.on('message', async (question: { call?: string; callTimes?: number }) => {
  try {
    process.send!({ ok: true, value: await answer(question) });
  } catch (error) {
    process.send!({ ok: false, value: String(error) });
  }
});
process.send!({ ok: true, value: 'ready' });
