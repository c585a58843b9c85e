import { printable } from '../../../core/vocabulary/text.ts';
import type { getStructure } from '../../../operations/get-structure.ts';
import type { OutputOf } from '../../../operations/operation.ts';
import type { CommandModule } from '../command.ts';
import { columns } from '../command.ts';
import { readInput } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { withGateway } from '../with-gateway.ts';

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
