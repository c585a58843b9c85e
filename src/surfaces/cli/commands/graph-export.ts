import { extname } from 'node:path';
import { type Command, Option } from 'commander';
import { GRAPH_FORMATS, type GraphFormat } from '../../../engine/graph/graph-formats.ts';
import type { CommandContext } from '../command.ts';
import { countOf } from '../count-of.ts';
import { openTarget, refuseExisting } from '../open-target.ts';
import type { GlobalOptions } from '../system.ts';
import { withGateway } from '../with-gateway.ts';

interface Options extends GlobalOptions {
  readonly format?: GraphFormat;
  readonly force?: boolean;
}

const BY_ENDING: Readonly<Record<string, GraphFormat>> = {
  '.graphml': 'graphml',
  '.dot': 'dot',
  '.gv': 'dot',
};

const EXAMPLES = `
Example:
  $ pml graph export graph.graphml            # for Gephi, yEd
  $ pml graph export --format dot | dot -Tsvg > graph.svg`;

/** `pml graph export`: the graph as other programs read it. */
export function addGraphExportCommand(graph: Command, context: CommandContext): void {
  const { terminal } = context;
  graph
    .command('export')
    .argument('[file]', 'file to write; - is stdout', '-')
    .description('write the graph as JSON, GraphML or DOT')
    .addOption(
      new Option('--format <format>', 'default: by the ending of the file, else json').choices(
        Object.keys(GRAPH_FORMATS),
      ),
    )
    .option('--force', 'replace the file if it is there')
    .addHelpText('after', EXAMPLES)
    .action(async (file: string, { format, force, ...options }: Options) => {
      if (!force) await refuseExisting(file);
      const chosen = format ?? BY_ENDING[extname(file).toLowerCase()] ?? 'json';
      const view = await withGateway(context, options, 'graph', (gateway) => gateway.viewGraph());
      const target = await openTarget(terminal, file);
      try {
        await target.write(GRAPH_FORMATS[chosen](view));
        await target.finish();
      } finally {
        await target.giveUp();
      }
      if (file === '-') return;
      const [nodes, edges] = [view.nodes.length, view.edges.length];
      if (options.json) terminal.out(`${JSON.stringify({ file, format: chosen, nodes, edges })}\n`);
      else terminal.out(`Wrote ${countOf(nodes, 'node')} and ${countOf(edges, 'edge')} to ${file}.\n`);
    });
}
