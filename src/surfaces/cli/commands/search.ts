import { NOTHING_LEARNED_APPLIES, rankingInWords } from '../../../core/vocabulary/ranking-words.ts';
import { printable } from '../../../core/vocabulary/text.ts';
import type { SearchHit } from '../../../engine/gateway.ts';
import { hitToWire } from '../../../operations/shapes/search-hit.ts';
import type { CommandModule } from '../command.ts';
import { columns } from '../command.ts';
import { parseCount, parseList } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { withGateway } from '../with-gateway.ts';

type Reasons = NonNullable<SearchHit['reasons']>;

const DEFAULTS = {
  /** Reasons that are told, the strongest. */
  shown: 5,
};

interface Options extends GlobalOptions {
  readonly limit: number;
  readonly server?: string;
  readonly context?: string[];
  readonly explain?: boolean;
  readonly signatures?: boolean;
}

/** Columns of a description that are shown on one line. */
const SUMMARY_WIDTH = 80;

export const searchCommand: CommandModule = (program, context) => {
  const { terminal } = context;
  program
    .command('search')
    .argument('<query>', 'what you want to do')
    .description('find tools by what they do')
    .option('--limit <number>', 'maximum number of results', parseCount, 5)
    .option('--server <name>', 'only tools of this server')
    .option('--context <tools>', 'tools used just before, for example a:b,c:d', parseList)
    .option('--explain', 'explain each score')
    .option('--signatures', 'show how to call each tool from code')
    .addHelpText('after', '\nExample:\n  $ pml search "read a text file" --limit 3 --explain')
    .action((query: string, options: Options) =>
      withGateway(context, options, 'search', async (gateway) => {
        const { limit, server, context: contextTools, explain, signatures } = options;
        const hits = await gateway.searchTools({
          query,
          limit,
          includeRelated: explain === true || options.json === true,
          ...(server !== undefined && { server }),
          ...(contextTools && { contextTools }),
          ...(signatures && { signatures }),
          ...(explain && { explain }),
        });
        if (options.json) terminal.out(`${JSON.stringify({ tools: hits.map(hitToWire) })}\n`);
        else if (hits.length === 0)
          terminal.out('No tool was found. "pml servers ls" shows the attached servers.\n');
        else if (signatures) terminal.out(hits.map(signature).join('\n'));
        else if (explain) terminal.out([...howRanked(hits), ...hits.map(explained)].join('\n'));
        else terminal.out(columns(hits.map(row)));
      }),
    );
};

function row({ tool, finalScore }: SearchHit): string[] {
  return [score(finalScore), tool.id, summaryOf(tool.description)];
}

function howRanked([first]: readonly SearchHit[]): string[] {
  return first?.parts.learnedShare === 0 ? [`${NOTHING_LEARNED_APPLIES}\n`] : [];
}

function explained({ tool, related, parts, reasons, ...scores }: SearchHit): string {
  const text = [
    `whole query ${score(parts.whole)}`,
    `best clause ${score(parts.clause)}`,
    `words ${score(parts.lexical)}`,
    `name ${score(parts.name)}`,
  ];
  const lines = [
    `${score(scores.finalScore)}  ${tool.id}`,
    `    semantic ${score(scores.semanticScore)} (${text.join(', ')})`,
    ...(parts.learned === undefined
      ? []
      : [`    learned ${score(parts.learned)} instead of semantic, from past runs:`]),
    ...(reasons ? describeReasons(reasons).map((line) => `      ${line}`) : []),
    `    graph ${score(scores.graphScore)}, ${parts.learned === undefined ? 'semantic' : 'learned'} counts ${score(parts.alpha)} of 1`,
    `    ${summaryOf(tool.description)}`,
    ...related.map(
      (other) => `    ${other.relation.replaceAll('_', ' ')} ${other.toolId} (${score(other.score)})`,
    ),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function signature({ tool, signature: text = tool.id }: SearchHit): string {
  return text
    .split('\n')
    .map((line) => `${printable(line)}\n`)
    .join('');
}

function score(value: number): string {
  return value.toFixed(3);
}

function summaryOf(description: string): string {
  const line = printable(description.trim().replace(/\s+/g, ' '));
  return line.length <= SUMMARY_WIDTH ? line : `${line.slice(0, SUMMARY_WIDTH - 1)}…`;
}

/** Why a tool stands where it does: what moved it most, and the past runs most like this that used it. */
function describeReasons({ parts, runs }: Reasons): string[] {
  const strongest = parts.filter(({ moved }) => Math.abs(moved) >= 0.005).slice(0, DEFAULTS.shown);
  return [
    ...strongest.map(
      ({ name, moved }) => `${moved < 0 ? '-' : '+'}${Math.abs(moved).toFixed(2)} ${rankingInWords(name)}`,
    ),
    ...runs.map(
      ({ intent, similarity }) => `used for "${printable(intent)}" (${similarity.toFixed(3)} alike)`,
    ),
  ];
}
