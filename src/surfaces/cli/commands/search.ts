import {
  NOTHING_FITS,
  NOTHING_LEARNED_APPLIES,
  rankingInWords,
} from '../../../core/vocabulary/ranking-words.ts';
import { printable } from '../../../core/vocabulary/text.ts';
import type { Answer } from '../../../operations/operation-client.ts';
import type { CommandModule } from '../command.ts';
import { columns } from '../command.ts';
import { parseCount, parseList } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { withGateway } from '../with-gateway.ts';

type Hit = Answer<'search_tools'>['tools'][number];
type Reasons = NonNullable<Hit['reasons']>;

const DEFAULTS = {
  /** Strongest reasons to show. */
  shown: 5,
};

interface Options extends GlobalOptions {
  readonly limit: number;
  readonly server?: string;
  readonly context?: string[];
  readonly explain?: boolean;
  readonly signatures?: boolean;
}

/** Characters of a description to show on one line. */
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
      withGateway(context, options, 'search', async (pml) => {
        const { limit, server, context: contextTools, explain = false, signatures = false } = options;
        const found = await pml.searchTools({
          query,
          limit,
          include_related: explain || options.json === true,
          ...(server !== undefined && { server }),
          ...(contextTools && { context_tools: contextTools }),
          signatures,
          explain,
        });
        const hits = found.tools;
        if (options.json) terminal.out(`${JSON.stringify(found)}\n`);
        else if (hits.length === 0)
          terminal.out('No tool found. "pml servers ls" shows the attached servers.\n');
        else if (signatures) terminal.out(hits.map(signature).join('\n'));
        else if (explain) terminal.out([...howRanked(hits), ...hits.map(explained)].join('\n'));
        else terminal.out([...fitting(hits), columns(hits.map(row))].join(''));
        if (found.note !== undefined && !options.json) terminal.err(`${printable(found.note)}\n`);
      }),
    );
};

function row({ tool_id: id, final_score: final, description }: Hit): string[] {
  return [score(final), id, summaryOf(description)];
}

function fitting([first]: readonly Hit[]): string[] {
  return first?.fits === false ? [`${NOTHING_FITS}\n`] : [];
}

function howRanked([first]: readonly Hit[]): string[] {
  if (first?.fits === false) return fitting([first]);
  return first?.parts.learned_share === 0 ? [`${NOTHING_LEARNED_APPLIES}\n`] : [];
}

function explained({ parts, reasons, ...hit }: Hit): string {
  const text = [
    `whole query ${score(parts.whole)}`,
    `best clause ${score(parts.clause)}`,
    `words ${score(parts.lexical)}`,
    ...(parts.server === undefined ? [] : [`server ${score(parts.server)}`]),
    `name ${score(parts.name)}`,
  ];
  const lines = [
    `${score(hit.final_score)}  ${hit.tool_id}`,
    `    semantic ${score(hit.semantic_score)} (${text.join(', ')})`,
    ...(parts.learned === undefined
      ? []
      : [`    learned ${score(parts.learned)} replaces semantic, from past runs:`]),
    ...(reasons ? describeReasons(reasons).map((line) => `      ${line}`) : []),
    `    graph ${score(hit.graph_score)}, ${parts.learned === undefined ? 'semantic' : 'learned'} has weight ${score(parts.alpha)}`,
    `    ${summaryOf(hit.description)}`,
    ...hit.related_tools.map(
      (other) => `    ${other.relation.replaceAll('_', ' ')} ${other.tool_id} (${score(other.score)})`,
    ),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function signature({ tool_id: id, signature: text = id }: Hit): string {
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

/** Why a tool has its rank: the strongest features, and the most similar past runs that used it. */
function describeReasons({ parts, runs }: Reasons): string[] {
  const strongest = parts.filter(({ moved }) => Math.abs(moved) >= 0.005).slice(0, DEFAULTS.shown);
  return [
    ...strongest.map(
      ({ name, moved }) => `${moved < 0 ? '-' : '+'}${Math.abs(moved).toFixed(2)} ${rankingInWords(name)}`,
    ),
    ...runs.map(
      ({ intent, similarity }) => `used for "${printable(intent)}" (similarity ${similarity.toFixed(3)})`,
    ),
  ];
}
