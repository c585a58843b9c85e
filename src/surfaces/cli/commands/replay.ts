import { Option } from 'commander';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { printable } from '../../../core/vocabulary/text.ts';
import type { Answer } from '../../../operations/operation-client.ts';
import { type CommandModule, countOf } from '../command.ts';
import { parseList } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { differenceLines } from '../tell-run.ts';
import { known, withGateway } from '../with-gateway.ts';

interface ReplayOptions extends GlobalOptions {
  readonly against: 'cassette' | 'live';
  readonly ignore: readonly string[];
}

const REPLAY_EXAMPLES = `
Example:
  $ pml replay ab3e9bfd-7eb4-4d4a-8e6b-b315a74776f6
  $ pml replay ab3e9bfd-7eb4-4d4a-8e6b-b315a74776f6 --against live --ignore updated_at

Against the cassette, recorded calls stand in for the servers, and nothing is called. Live, the servers are asked
again, if every tool is marked read-only. Exits with 1 if the run differs, and says where it first does.`;

export const replayCommand: CommandModule = (program, context) => {
  const { terminal } = context;
  program
    .command('replay')
    .argument('<trace>', 'id of the trace')
    .description('replay a recorded run and report the first difference')
    .addOption(
      new Option('--against <what>', 'what answers the calls: the recording or the servers')
        .choices(['cassette', 'live'])
        .default('cassette'),
    )
    .option(
      '--ignore <fields>',
      'fields that may differ, by name or path, separated by commas',
      parseList,
      [],
    )
    .addHelpText('after', REPLAY_EXAMPLES)
    .action(async (trace: string, { against, ignore, ...options }: ReplayOptions) => {
      const report = await withGateway(context, options, 'replay', (pml) =>
        known(pml.replayTrace({ trace_id: trace, against, ignore }), 'See "pml trace ls".'),
      );
      if (!report.equal) context.fail();
      if (options.json) terminal.out(`${JSON.stringify(report)}\n`);
      else terminal.out(describeReplay(report));
    });
};

function describeReplay({ equal, difference, calls, not_whole: notWhole }: Answer<'replay_trace'>): string {
  const lines = difference ? differenceLines(difference) : [];
  const caution = notWhole.length > 0 && !equal;
  return [
    equal ? `Equal: ${countOf(calls, 'call')} and the result.` : `Not equal. First difference: ${lines[0]}`,
    ...lines.slice(1).map((line) => `  ${line}`),
    ...(caution
      ? [
          `The results of ${printable(notWhole.join(', '))} were stored redacted or cut, which may be the reason.`,
        ]
      : []),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

export function missing(): never {
  throw new PmlError('usage', 'Nothing to run: give a file, or an intent with --intent');
}
