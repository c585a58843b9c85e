import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type InitPlan, planInit } from '../../src/adapters/config/client-files/plan-init.ts';
import { planUndo } from '../../src/adapters/config/client-files/plan-undo.ts';
import { temporaryDir } from './temporary-dir.ts';

/** A person's home with a project, on any system; real files below a temporary folder. */
export async function initMachine(env: Record<string, string> = {}) {
  const home = await temporaryDir();
  const project = join(home, 'project');
  const data = join(home, '.pml');
  const target = join(data, 'pml.json');
  const journal = join(data, 'init-journal.json');
  await mkdir(project);
  const machine = { platform: 'linux', env, home, cwd: project } as const;
  const launch = { command: '/opt/node', args: ['/opt/pml/bin/pml.js', 'stdio'] };
  const options = {
    machine,
    target,
    launch,
    ofProject: (folder: string) => ({
      target: join(folder, '.pml', 'pml.json'),
      launch: { ...launch, args: [...launch.args, '--data', join(folder, '.pml')] },
    }),
    ports: [],
    journal,
    now: () => new Date('2026-11-15T10:20:30.456Z'),
  };
  return {
    home,
    project,
    target,
    options,
    async write(path: string, content: string | Buffer): Promise<string> {
      const file = join(home, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
      return file;
    },
    bytes: (path: string) => readFile(join(home, path)),
    json: async (path: string) => JSON.parse(await readFile(join(home, path), 'utf8')),
    plan: (from?: string) => planInit({ ...options, ...(from !== undefined && { from }) }),
    async init(from?: string): Promise<InitPlan> {
      const plan = await planInit({ ...options, ...(from !== undefined && { from }) });
      await plan.apply();
      return plan;
    },
    /** The same for the servers of the project. */
    async initProject(): Promise<InitPlan> {
      const plan = await planInit({ ...options, project: true });
      await plan.apply();
      return plan;
    },
    undo: (from?: string) => planUndo({ journal, ...(from !== undefined && { from }) }),
    /** Every file, with its content. */
    async snapshot(): Promise<Record<string, string>> {
      const names = await readdir(home, { recursive: true, withFileTypes: true });
      const files = names
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name));
      return Object.fromEntries(
        await Promise.all(
          files
            .sort()
            .map(async (file) => [file.slice(home.length + 1), await readFile(file, 'base64')] as const),
        ),
      );
    },
  };
}
