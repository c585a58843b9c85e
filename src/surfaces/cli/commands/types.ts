import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { CommandModule } from '../command.ts';
import { countOf } from '../command.ts';
import type { GlobalOptions } from '../system.ts';
import { withGateway } from '../with-gateway.ts';

interface Options extends GlobalOptions {
  readonly out?: string;
}

export const typesCommand: CommandModule = (program, context) => {
  const { terminal } = context;
  program
    .command('types')
    .description('print TypeScript types of the attached tools, for editors')
    .option('--out <file>', 'write the types to this file')
    .addHelpText('after', '\nExample:\n  $ pml types --out pml.d.ts')
    .action((options: Options) =>
      withGateway(context, options, 'types', async (pml) => {
        const { out } = options;
        const { types, ...counts } = await pml.getTypes();
        if (counts.tools === 0) {
          terminal.err('No tools known yet. "pml servers ls" shows the attached servers.\n');
        }
        if (out !== undefined) await replace(out, types);
        if (options.json) {
          terminal.out(
            `${JSON.stringify(out === undefined ? { types, ...counts } : { file: out, ...counts })}\n`,
          );
        } else if (out === undefined) terminal.out(types);
        else {
          const learned = countOf(counts.capabilities, 'capability', 'capabilities');
          terminal.out(`Wrote ${countOf(counts.tools, 'tool')} and ${learned} to ${out}.\n`);
        }
      }),
    );
};

/** Overwrites only files that this command wrote, so that a mistyped name destroys nothing. */
async function replace(file: string, types: string): Promise<void> {
  const before = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (before !== null && firstLine(before) !== firstLine(types)) {
    throw new PmlError('store_conflict', `${file} was not written by "pml types"`, {
      hint: 'Choose another file, or delete this one first.',
    });
  }
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, types);
}

function firstLine(text: string): string | undefined {
  return text.split('\n', 1)[0];
}
