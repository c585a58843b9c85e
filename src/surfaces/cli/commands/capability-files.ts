import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { SKILL_FILES } from '../../../engine/capabilities/manage-capabilities.ts';
import type { CommandContext } from '../command.ts';
import type { GlobalOptions } from '../system.ts';
import { withGateway } from '../with-gateway.ts';

const DEFAULTS = {
  /** Bytes of one file; a capability is a page of code, not an archive. */
  maxFileBytes: 4 * 1024 * 1024,
};

interface ExportOptions extends GlobalOptions {
  readonly force?: boolean;
}

/** Capabilities as folders that other agents can read and another PML can import. */
export function addCapabilityFileCommands(capability: Command, context: CommandContext): void {
  const { terminal } = context;

  capability
    .command('export')
    .argument('<slug>', 'slug of the capability')
    .argument('[dir]', 'folder to write, created if missing (default: ./<slug>)')
    .description('export a capability to a folder with SKILL.md, code.ts, schema.json and capability.json')
    .option('--force', 'overwrite existing files')
    .addHelpText('after', '\nExample:\n  $ pml capability export count_lines ./skills/count-lines')
    .action((slug: string, dir: string | undefined, { force, ...options }: ExportOptions) =>
      withGateway(context, options, 'capability', async (pml) => {
        const { files, ...skill } = await pml.exportCapability({ slug });
        const folder = dir ?? skill.folder;
        await writeFolder(folder, files, force === true);
        const names = Object.keys(files);
        if (options.json) terminal.out(`${JSON.stringify({ dir: folder, files: names })}\n`);
        else terminal.out(`Wrote ${names.join(', ')} to ${folder}.\n`);
      }),
    );

  capability
    .command('import')
    .argument('<dir>', 'folder written by "pml capability export"')
    .description('import a capability from a folder')
    .addHelpText('after', '\nExample:\n  $ pml capability import ./skills/count-lines')
    .action(async (dir: string, options: GlobalOptions) => {
      const files = await readFolder(dir);
      await withGateway(context, options, 'capability', async (pml) => {
        const taken = await pml.importCapability({ files });
        if (options.json) terminal.out(`${JSON.stringify(taken)}\n`);
        else terminal.out(`Imported ${taken.slug}; its state is ${taken.state}.\n`);
      });
    });
}

async function writeFolder(
  dir: string,
  files: Readonly<Record<string, string>>,
  force: boolean,
): Promise<void> {
  await mkdir(dir, { recursive: true });
  const present = await readdir(dir);
  const taken = Object.keys(files).filter((name) => present.includes(name));
  if (taken.length > 0 && !force) {
    throw new PmlError('store_conflict', `${dir} already has ${taken.join(', ')}`, {
      hint: 'Choose another folder, or overwrite the files with --force.',
    });
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
}

export async function readFolder(dir: string): Promise<Readonly<Record<string, string>>> {
  try {
    const present = (await readdir(dir)).filter((name) => SKILL_FILES.includes(name));
    const files = await Promise.all(
      present.map(async (name) => [name, await readText(join(dir, name))] as const),
    );
    return Object.fromEntries(files);
  } catch (cause) {
    if (cause instanceof PmlError) throw cause;
    throw new PmlError('not_found', `Cannot read ${dir}: ${(cause as Error).message}`, {
      hint: 'Give a folder written by "pml capability export".',
      cause,
    });
  }
}

async function readText(file: string): Promise<string> {
  const bytes = await readFile(file);
  if (bytes.length <= DEFAULTS.maxFileBytes) return bytes.toString('utf8');
  throw new PmlError('too_large', `${file} has more than ${DEFAULTS.maxFileBytes} bytes`);
}
