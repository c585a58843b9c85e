import { extname } from 'node:path';
import { type Command, Option } from 'commander';
import { EDGE_SOURCES, EDGE_TYPES } from '../../../core/vocabulary/edge.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { printable } from '../../../core/vocabulary/text.ts';
import { GRAPH_FORMATS, type GraphFormat } from '../../../engine/graph/graph-formats.ts';
import type { GraphView } from '../../../engine/graph/graph-view.ts';
import type { Answer } from '../../../operations/operation-client.ts';
import type { CommandContext, CommandModule } from '../command.ts';
import { columns, countOf, withProgress } from '../command.ts';
import type { GlobalOptions } from '../system.ts';
import { openTarget, refuseExisting, withGateway } from '../with-gateway.ts';

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

const PATH_EXAMPLES = `
Example:
  $ pml graph path filesystem:list_directory filesystem:write_file
  $ pml graph path filesystem:read_text_file memory:search_nodes look_up_notes`;

export const graphCommand: CommandModule = (program, context) => {
  const { terminal } = context;
  const graph = program
    .command('graph')
    .description('inspect and export the graph of tools that are used together');

  graph
    .command('stats', { isDefault: true })
    .description('count nodes and edges by kind, type and source')
    .addHelpText('after', '\nExample:\n  $ pml graph stats')
    .action((options: GlobalOptions) =>
      withGateway(context, options, 'graph', async (pml) => {
        const report = await pml.getGraphReport();
        terminal.out(options.json ? `${JSON.stringify(report)}\n` : described(report));
      }),
    );

  addGraphExportCommand(graph, context);

  graph
    .command('path')
    .argument('<nodes...>', 'one or more start nodes, then the end node: tools, capabilities, operations')
    .usage('[options] <from...> <to>')
    .description(
      'explain the shortest path between nodes; with several start nodes, a capability is reached through all the tools it uses',
    )
    .addHelpText('after', PATH_EXAMPLES)
    .action(async (nodes: readonly string[], options: GlobalOptions) => {
      const [to, ...from] = [...nodes].reverse();
      if (to === undefined || from.length === 0)
        throw new PmlError('usage', 'Give a start node and an end node');
      const path = await withGateway(context, options, 'graph', (pml) =>
        pml.findPath({ from: from.length === 1 ? from[0]! : from.reverse(), to }),
      );
      terminal.out(options.json ? `${JSON.stringify(path)}\n` : `${printable(path.explanation)}\n`);
    });

  graph
    .command('rebuild')
    .description('rebuild the graph from all stored traces')
    .addHelpText('after', '\nExample:\n  $ pml trace forget --tool "mail:*"\n  $ pml graph rebuild')
    .action((options: GlobalOptions) =>
      withGateway(context, options, 'graph', async (pml) => {
        const rebuilt = await withProgress(terminal, pml.rebuildGraph(), async () => {
          const { graph_rebuild: done } = await pml.getProgress();
          return done && `${done.traces.toLocaleString('en-US')} of ${countOf(done.of, 'trace')}`;
        });
        if (options.json) terminal.out(`${JSON.stringify(rebuilt)}\n`);
        else
          terminal.out(
            `Rebuilt from ${countOf(rebuilt.traces, 'trace')}: ${sizeOf(rebuilt.before)} before, ${sizeOf(rebuilt.after)} now.\n`,
          );
      }),
    );
};

const NOTHING = 'The graph is empty. Attach a server with "pml init" or "pml servers add".\n';

function described(report: Answer<'get_graph_report'>): string {
  const { nodes, edges, density, communities, traces, capabilities } = report;
  const counts = [
    countOf(nodes.tool, 'tool'),
    countOf(nodes.capability, 'capability', 'capabilities'),
    countOf(nodes.operation, 'operation'),
  ];
  if (nodes.tool + nodes.capability + nodes.operation === 0) return NOTHING;
  const total = (source: (typeof EDGE_SOURCES)[number]) =>
    EDGE_TYPES.reduce((sum, type) => sum + edges[type][source], 0);
  const rows = [
    ['EDGES', ...EDGE_SOURCES.map((source) => source.toUpperCase())],
    ...EDGE_TYPES.map((type) => [type, ...EDGE_SOURCES.map((source) => figure(edges[type][source]))]),
    ['all', ...EDGE_SOURCES.map((source) => figure(total(source)))],
  ];
  const groups = countOf(communities, 'community', 'communities');
  return [
    `${counts.join(', ')}, in ${groups}; ${countOf(traces, 'trace')} stored\n`,
    '\n',
    columns(rows),
    '\n',
    `Density ${density.toPrecision(2)}: edges seen in runs per possible pair of nodes.\n`,
    ...(capabilities.share_with_provides === null
      ? []
      : [
          `${capabilities.with_provides} of ${capabilities.total} learned programs (${percent(capabilities.share_with_provides)}) have data-flow edges (provides).\n`,
        ]),
  ].join('');
}

function figure(count: number): string {
  return count === 0 ? '-' : count.toLocaleString('en-US');
}

function percent(share: number): string {
  return `${(100 * share).toLocaleString('en-US', { maximumFractionDigits: 1 })} %`;
}

function sizeOf({ nodes, edges }: Answer<'rebuild_graph'>['after']): string {
  return `${countOf(nodes, 'node')} and ${countOf(edges, 'edge')}`;
}

/** `pml graph export`: the graph in formats of other programs. */
function addGraphExportCommand(graph: Command, context: CommandContext): void {
  const { terminal } = context;
  graph
    .command('export')
    .argument('[file]', 'file to write; - is stdout', '-')
    .description('write the graph as JSON, GraphML or DOT')
    .addOption(
      new Option('--format <format>', 'default: by the file extension, otherwise json').choices(
        Object.keys(GRAPH_FORMATS),
      ),
    )
    .option('--force', 'overwrite an existing file')
    .addHelpText('after', EXAMPLES)
    .action(async (file: string, { format, force, ...options }: Options) => {
      if (!force) await refuseExisting(file);
      const chosen = format ?? BY_ENDING[extname(file).toLowerCase()] ?? 'json';
      const view = await withGateway(context, options, 'graph', (pml) => pml.getGraph());
      const target = await openTarget(terminal, file);
      try {
        await target.write(GRAPH_FORMATS[chosen](view as GraphView));
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
