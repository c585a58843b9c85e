import { createHash } from 'node:crypto';
import { basename, dirname } from 'node:path';
import type { Command } from 'commander';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { printable } from '../../../core/vocabulary/text.ts';
import { SKILL_FILES, verifySkill } from '../../../engine/capabilities/manage-capabilities.ts';
import type { Answer } from '../../../operations/operation-client.ts';
import { type CommandContext, countOf } from '../command.ts';
import { lines, NONE } from '../describe-capability.ts';
import type { GlobalOptions } from '../system.ts';
import { differenceLines } from '../tell-run.ts';
import { withGateway } from '../with-gateway.ts';
import { readFolder } from './capability-files.ts';

interface VerifyOptions extends GlobalOptions {
  readonly digest?: string;
}

interface TestOptions extends GlobalOptions {
  readonly all?: boolean;
}

const TEST_EXAMPLES = `
Example:
  $ pml capability test count_lines
  $ pml capability test --all --json

Exits with 1 if one of them behaves differently, or if a tool no longer accepts the recorded arguments.`;

/** Whether capabilities do again what they did. */
export function addCapabilityTestCommand(capability: Command, context: CommandContext): void {
  const { terminal } = context;

  capability
    .command('test')
    .argument('[slug]', 'slug of the capability')
    .description('replay the recorded runs of a capability with their recorded answers; no tool is called')
    .option('--all', 'test every capability')
    .addHelpText('after', TEST_EXAMPLES)
    .action((slug: string | undefined, { all, ...options }: TestOptions) => {
      if ((slug === undefined) === (all !== true))
        throw new PmlError('usage', 'Name a capability, or add --all to test every one');
      return withGateway(context, options, 'capability', async (pml) => {
        const report = await pml.testCapabilities(slug === undefined ? {} : { slug });
        if (!report.passed) context.fail();
        terminal.out(options.json ? `${JSON.stringify(report)}\n` : describeTests(report));
      });
    });
}

function describeTests({ capabilities }: Answer<'test_capabilities'>): string {
  if (capabilities.length === 0) return NONE;
  const told = { passed: '✓', failed: '✗', no_cases: '-' };
  return lines(
    capabilities.flatMap(({ slug, status, cases, problems }) => {
      const equal = cases.filter((one) => one.equal).length;
      const what =
        status === 'no_cases'
          ? 'none of its runs was recorded in full'
          : `${equal} of ${countOf(cases.length, 'case')} equal`;
      const differing = cases.flatMap(({ difference, trace_ids: [trace] }) =>
        difference ? [`trace ${trace}`, ...differenceLines(difference)] : [],
      );
      return [
        `${told[status]} ${slug}  ${what}`,
        ...[...problems, ...differing].map((line) => `    ${line}`),
      ];
    }),
  );
}

/** Refuses a copy that is not as it was exported; needs no gateway. */
export function addCapabilityVerifyCommand(capability: Command, { terminal }: CommandContext): void {
  capability
    .command('verify')
    .argument('<file>', 'folder written by "pml capability export", or a file in it')
    .description('check the evidence of an exported capability, and reject a changed copy')
    .option('--digest <hex>', 'also compare it with the digest published by its exporter')
    .addHelpText('after', '\nExample:\n  $ pml capability verify ./skills/count-lines')
    .action(async (file: string, { digest, ...options }: VerifyOptions) => {
      const isFolder = !SKILL_FILES.includes(basename(file));
      const found = verifySkill(await readFolder(isFolder ? file : dirname(file)), sha256);
      if (!found.ok)
        throw new PmlError(found.error.code, found.error.message, { hint: found.error.hint ?? '' });
      const verified = found.value;
      if (digest !== undefined && digest !== verified.digest)
        throw new PmlError('invalid_argument', `This copy has a different digest: ${verified.digest}`);
      const { slug, evidence } = verified;
      const { cases, effects } = evidence;
      if (options.json) terminal.out(`${JSON.stringify(verified)}\n`);
      else
        terminal.out(
          [
            `${slug} is unchanged since its export; it reproduced ${countOf(cases.length, 'recorded run')}.`,
            `  tools   ${effects.tools.join(', ')}`,
            `  writes  ${effects.writes.join(', ') || 'none'}`,
            `  hosts   ${effects.hosts.join(', ') || 'none known'}`,
            `  digest  ${verified.digest}`,
          ]
            .map((line) => `${printable(line)}\n`)
            .join(''),
        );
    });
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
