import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Settings } from '../../engine/ports.ts';
import { loadSettings } from './load-settings.ts';

const require = createRequire(import.meta.url);

/** What the example programs find in the scratch folder. */
const FILES: Readonly<Record<string, string>> = {
  'people.json': `${JSON.stringify(
    [
      { name: 'Ada', role: 'engineer', years: 12 },
      { name: 'Grace', role: 'admiral', years: 40 },
      { name: 'Linus', role: 'engineer', years: 33 },
    ],
    null,
    2,
  )}\n`,
  'notes/monday.md': '# Monday\n\nMoved the search index to the new machine. Two tests still flicker.\n',
  'notes/tuesday.md': '# Tuesday\n\nThe flicker was a clock: tests now bring their own.\n',
};

/** Attaches the four reference servers to a scratch folder, by a real configuration file that can be read. */
export async function prepareDemo(dataDir: string): Promise<Settings> {
  const scratch = join(dataDir, 'files');
  for (const [name, content] of Object.entries(FILES)) {
    await mkdir(dirname(join(scratch, name)), { recursive: true });
    await writeFile(join(scratch, name), content);
  }
  const file = join(dataDir, 'pml.json');
  const mcpServers = {
    filesystem: { ...(await server('filesystem', [scratch])), cwd: scratch },
    memory: { ...(await server('memory')), env: { MEMORY_FILE_PATH: join(dataDir, 'memory.jsonl') } },
    everything: await server('everything'),
    thinking: await server('sequential-thinking'),
  };
  // Its folder is scratch: writing there needs nobody's consent.
  const pml = { permissions: { allow: ['filesystem:write_file'] } };
  await writeFile(file, `${JSON.stringify({ mcpServers, pml }, null, 2)}\n`);
  return await loadSettings({ file, env: {}, cwd: dataDir });
}

/** By the path of its program: the servers come with PML, nothing is fetched. */
async function server(name: string, args: readonly string[] = []) {
  const manifest = require.resolve(`@modelcontextprotocol/server-${name}/package.json`);
  const { bin } = JSON.parse(await readFile(manifest, 'utf8')) as { bin: Record<string, string> };
  const program = Object.values(bin)[0] ?? '';
  return { command: process.execPath, args: [join(dirname(manifest), program), ...args] };
}
