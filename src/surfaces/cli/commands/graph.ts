import { EDGE_SOURCES, EDGE_TYPES } from '../../../core/vocabulary/edge.ts';
import type { GraphReport } from '../../../engine/graph/graph-report.ts';
import type { GraphSize } from '../../../engine/graph/graph-service.ts';
import { columns } from '../columns.ts';
import type { CommandModule } from '../command.ts';
import { countOf } from '../count-of.ts';
import type { GlobalOptions } from '../system.ts';
import { withGateway } from '../with-gateway.ts';
import { withProgress } from '../with-progress.ts';
import { addGraphExportCommand } from './graph-export.ts';

export const graphCommand: CommandModule = (program, context) => {
  const { terminal } = context;
  const graph = program
    .command('graph')
    .description('what runs have taught: which tools go together, and in which order');

  graph
    .command('stats', { isDefault: true })
    .description('count nodes and edges, by kind, type and source')
    .addHelpText('after', '\nExample:\n  $ pml graph stats')
    .action((options: GlobalOptions) =>
      withGateway(context, options, 'graph', async (gateway) => {
        const report = await gateway.graphStats();
        terminal.out(options.json ? `${JSON.stringify(report)}\n` : described(report));
      }),
    );

  addGraphExportCommand(graph, context);

  graph
    .command('rebuild')
    .description('learn everything again from the traces there are')
    .addHelpText('after', '\nExample:\n  $ pml trace forget --tool "mail:*"\n  $ pml graph rebuild')
    .action((options: GlobalOptions) =>
      withGateway(context, options, 'graph', async (gateway) => {
        const rebuilt = await withProgress(terminal, gateway.rebuildGraph(), async () => {
          const done = await gateway.rebuildingGraph();
          return done && `${done.traces.toLocaleString('en-US')} of ${countOf(done.of, 'trace')}`;
        });
        if (options.json) terminal.out(`${JSON.stringify(rebuilt)}\n`);
        else
          terminal.out(
            `Learned from ${countOf(rebuilt.traces, 'trace')}: ${sizeOf(rebuilt.before)} before, ${sizeOf(rebuilt.after)} now.\n`,
          );
      }),
    );
};

const NOTHING = 'Nothing is known yet: attach a server with "pml init" or "pml servers add".\n';

function described(report: GraphReport): string {
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
          `${capabilities.with_provides} of ${capabilities.total} learned programs (${percent(capabilities.share_with_provides)}) say which value goes where (provides).\n`,
        ]),
  ].join('');
}

function figure(count: number): string {
  return count === 0 ? '-' : count.toLocaleString('en-US');
}

function percent(share: number): string {
  return `${(100 * share).toLocaleString('en-US', { maximumFractionDigits: 1 })} %`;
}

function sizeOf({ nodes, edges }: GraphSize): string {
  return `${countOf(nodes, 'node')} and ${countOf(edges, 'edge')}`;
}
