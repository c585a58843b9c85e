import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { printable } from '../../../core/vocabulary/text.ts';
import type { getStructure } from '../../../operations/get-structure.ts';
import type { OutputOf } from '../../../operations/operation.ts';
import { type CommandModule, columns, countOf } from '../command.ts';
import { readInput } from '../parse-option.ts';
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

type Structure = OutputOf<typeof getStructure>;

const DEFAULTS = {
  /** Levels that are indented; deeper steps use the last one. */
  depth: 20,
};

export const structureCommand: CommandModule = (program, context) => {
  const { terminal } = context;
  program
    .command('structure')
    .argument('<file>', 'TypeScript or JavaScript; - for stdin')
    .description('show what a program can do, without running it')
    .addHelpText('after', '\nExample:\n  $ pml structure report.ts')
    .action(async (file: string, options: GlobalOptions) => {
      const { text: code } = await readInput(file, terminal, 'TypeScript');
      const structure = await withGateway(context, options, 'structure', (pml) => pml.getStructure({ code }));
      terminal.out(options.json ? `${JSON.stringify(structure)}\n` : outline(structure));
    });
};

function outline({ nodes, unresolved }: Structure): string {
  const steps = nodes.map(({ id, type, name, at, depth, branch, arguments: given }) => {
    const indent = '  '.repeat(Math.min(depth, DEFAULTS.depth));
    const values = Object.entries(given).map(([argument, value]) => `${argument} = ${value}`);
    const told = `${indent}${branch === null ? '' : `[${branch}] `}${type} ${name}`;
    return [`  ${at.line}:${at.column}`, id, printable(told), printable(values.join(', '))];
  });
  const unknown = unresolved.map(({ text, at, reason }) => [
    `  ${at.line}:${at.column}`,
    printable(text),
    printable(reason),
  ]);
  if (steps.length + unknown.length === 0) return 'The program makes no calls.\n';
  return [
    columns(steps),
    ...(unknown.length === 0 ? [] : ['\nKnown only at run time\n', columns(unknown)]),
  ].join('');
}
