import { kindOf } from '../../../core/vocabulary/ids.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { printable } from '../../../core/vocabulary/text.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import type { Answer } from '../../../operations/operation-client.ts';
import type { CommandModule } from '../command.ts';
import { columns, countOf } from '../command.ts';
import { confirmed, parseCount, parseObject } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { differenceLines, type Execution, tellRun } from '../tell-run.ts';
import { withGateway } from '../with-gateway.ts';
import { addCapabilityFileCommands } from './capability-files.ts';

type Capability = Answer<'get_capability'>;
type Summary = Answer<'list_capabilities'>['capabilities'][number];

interface Parameter {
  readonly type?: unknown;
  readonly description?: unknown;
  readonly default?: unknown;
}

interface RunOptions extends GlobalOptions {
  readonly args?: JsonObject;
  readonly intent?: string;
  readonly timeout?: number;
}

interface QuarantineOptions extends GlobalOptions {
  readonly reason: string;
  readonly lift?: boolean;
}

interface KeepPrivateOptions extends GlobalOptions {
  readonly user?: string;
}

interface ForgetOptions extends GlobalOptions {
  readonly yes?: boolean;
}

interface TestOptions extends GlobalOptions {
  readonly all?: boolean;
}

const TEST_EXAMPLES = `
Example:
  $ pml capability test count_lines
  $ pml capability test --all --json

Exits with 1 if one of them does not do again what it did, or if a tool no longer takes the recorded arguments.`;

export const capabilityCommand: CommandModule = (program, context) => {
  const { terminal } = context;
  const capability = program
    .command('capability')
    .description('manage and run the capabilities learned from runs');

  capability
    .command('ls', { isDefault: true })
    .description('list capabilities with their success rate and the tools they use')
    .addHelpText('after', '\nExample:\n  $ pml capability ls')
    .action((options: GlobalOptions) =>
      withGateway(context, options, 'capability', async (pml) => {
        const found = await pml.listCapabilities();
        const all = found.capabilities;
        if (options.json) terminal.out(`${JSON.stringify(found)}\n`);
        else terminal.out(all.length === 0 ? NONE : columns([HEAD, ...all.map(row)]));
      }),
    );

  capability
    .command('show')
    .argument('<slug>', 'slug of the capability')
    .description('show the signature, code and run history of a capability')
    .addHelpText('after', '\nExample:\n  $ pml capability show count_lines')
    .action((slug: string, options: GlobalOptions) =>
      withGateway(context, options, 'capability', async (pml) => {
        const found = await pml.getCapability({ slug });
        terminal.out(options.json ? `${JSON.stringify(found)}\n` : describeCapability(found));
      }),
    );

  capability
    .command('run')
    .argument('<slug>', 'slug of the capability')
    .description('run a capability')
    .option('--args <json>', 'arguments, as JSON', parseObject)
    .option('--intent <text>', 'what this run is for')
    .option('--timeout <ms>', 'timeout in milliseconds', parseCount)
    .addHelpText('after', '\nExample:\n  $ pml capability run count_lines --args \'{"path": "notes/a.md"}\'')
    .action((slug: string, { args, intent, timeout, ...options }: RunOptions) =>
      withGateway(context, options, 'capability', async (pml) => {
        const call = {
          capability: slug,
          arguments: args ?? {},
          ...(intent !== undefined && { intent }),
          ...(timeout !== undefined && { timeout_ms: timeout }),
        };
        tellRun(context, (await pml.execute(call)) as Execution, options);
      }),
    );

  capability
    .command('rename')
    .argument('<slug>', 'slug of the capability')
    .argument('<to>', 'new name of the capability')
    .description('rename a capability; the old name keeps working')
    .addHelpText('after', '\nExample:\n  $ pml capability rename count_lines lines_of')
    .action((slug: string, to: string, options: GlobalOptions) =>
      withGateway(context, options, 'capability', async (pml) => {
        const renamed = await pml.renameCapability({ slug, to });
        tell(renamed, `${slug} is now called ${renamed.slug}; the name ${slug} keeps working.`, options);
      }),
    );

  capability
    .command('share')
    .argument('<slug>', 'slug of the capability')
    .description('share a private capability, so that everybody can see and call it')
    .addHelpText('after', '\nExample:\n  $ pml capability share count_lines')
    .action((slug: string, options: GlobalOptions) =>
      withGateway(context, options, 'capability', async (pml) => {
        const changed = await pml.shareCapability({ slug });
        tell(changed, `Everybody can now see and call ${changed.slug}.`, options);
      }),
    );

  capability
    .command('keep-private')
    .argument('<slug>', 'slug of the capability')
    .description('make a capability visible only to its owner and to operators')
    .option('--user <name>', 'the owner (default: the user whose run it was first learned from)')
    .addHelpText('after', '\nExample:\n  $ pml capability keep-private count_lines --user ada')
    .action((slug: string, { user, ...options }: KeepPrivateOptions) =>
      withGateway(context, options, 'capability', async (pml) => {
        const changed = await pml.keepCapabilityPrivate({ slug, ...(user !== undefined && { user }) });
        tell(changed, `${changed.slug} is now private to ${changed.owner}.`, options);
      }),
    );

  capability
    .command('quarantine')
    .argument('<slug>', 'slug of the capability')
    .description('prevent a capability from being called or suggested')
    .option('--reason <text>', 'reason to record', 'by a person')
    .option('--lift', 'allow calls again')
    .addHelpText(
      'after',
      '\nExample:\n  $ pml capability quarantine count_lines --reason "counts twice"\n  $ pml capability quarantine count_lines --lift',
    )
    .action((slug: string, { reason, lift, ...options }: QuarantineOptions) =>
      withGateway(context, options, 'capability', async (pml) => {
        const changed = await pml.quarantineCapability({ slug, reason, lift: lift ?? false });
        tell(changed, `${changed.slug} ${lift ? 'can be called again' : 'is quarantined'}.`, options);
      }),
    );

  capability
    .command('forget')
    .argument('<slug>', 'slug of the capability')
    .description('delete a capability; the runs it was learned from are kept')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText('after', '\nExample:\n  $ pml capability forget count_lines')
    .action((slug: string, options: ForgetOptions) =>
      withGateway(context, options, 'capability', async (pml) => {
        const found = await pml.getCapability({ slug });
        // On stderr, so that a pipe only gets the result.
        terminal.err(`${found.slug}: ${printable(found.description)}\n`);
        if (!(await confirmed(terminal, `Delete ${found.slug}?`, options))) {
          terminal.err('Nothing was deleted.\n');
          return;
        }
        const answer = await pml.forgetCapability({ slug: found.slug });
        const { forgotten } = answer;
        if (options.json) terminal.out(`${JSON.stringify(answer)}\n`);
        else terminal.out(forgotten ? `Deleted ${found.slug}.\n` : `${found.slug} was already deleted.\n`);
      }),
    );

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

  addCapabilityFileCommands(capability, context);

  function tell(changed: Capability, sentence: string, options: GlobalOptions): void {
    terminal.out(options.json ? `${JSON.stringify(changed)}\n` : `${sentence}\n`);
  }
};

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

const NONE = 'No capabilities yet: code that succeeds twice becomes a capability. See "pml run --help".\n';
const HEAD = ['SLUG', 'STATE', 'SUCCESS', 'USES', 'TOOLS'];

function row(capability: Summary): string[] {
  const { slug, state, uses } = capability;
  const tools = printable(calledBy(capability).join(', '));
  return [slug, state, uses === 0 ? '-' : percent(capability), String(uses), tools];
}

/** Everything a person wants to know before trusting the capability. */
function describeCapability(capability: Capability): string {
  const { slug, state, intent, aliases, code, parameters, signature, owner, visibility } = capability;
  const reason = capability.quarantined_because;
  const because = reason === null ? '' : `: ${reason}`;
  return [
    lines([`${slug}  (${state}${because}${visibility === 'private' ? `, private to ${owner}` : ''})`]),
    indented(signature),
    section('Parameters', columns(parameterRows(parameters))),
    section('Evidence', lines(evidenceOf(capability))),
    section('Learned for', lines([intent ?? ''])),
    section('Also called', lines([aliases.join(', ')])),
    section('Tools', lines(calledBy(capability))),
    section('Code', code),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

/** Percentage of its runs that succeeded. */
function percent({ success_rate: rate }: Summary): string {
  return `${Math.round(100 * rate)} %`;
}

/** Tools and capabilities only; data processing in between is in the code. */
function calledBy({ tools_used: tools }: Summary): readonly string[] {
  return tools.filter((node) => kindOf(node) !== 'operation');
}

function evidenceOf(capability: Capability): string[] {
  const { uses, success_rate: rate, reliability, evidence } = capability;
  const latest = evidence.recent.map((success) => (success ? '✓' : '✗')).join(' ');
  return [
    uses === 0
      ? 'never run'
      : `${Math.round(rate * uses)} of ${uses} runs succeeded (${percent(capability)}); reliability ${reliability.toFixed(2)}`,
    ...(latest === '' ? [] : [`latest, newest last: ${latest}`]),
    ...(evidence.run_ids.length === 0 ? [] : [`learned from runs ${evidence.run_ids.join(', ')}`]),
    ...proofLines(evidence.proof),
  ];
}

function proofLines(proof: Capability['evidence']['proof']): string[] {
  if (!proof) return ['not proven yet'];
  const { cases, effects, failure, code_hash: code, proven_at: at } = proof;
  const writes = effects.writes.length === 0 ? 'writes nothing' : `may write by ${effects.writes.join(', ')}`;
  return [
    ...(failure === null ? [] : [`not active: ${failure}`]),
    ...(failure === null && cases.length === 0 ? ['not proven: none of its runs was recorded in full'] : []),
    ...(cases.length === 0
      ? []
      : [
          `proven on ${countOf(cases.length, 'recorded run')}, ${at}: ${cases.map(({ hash }) => hash.slice(0, 12)).join(', ')}`,
        ]),
    `${writes}${effects.hosts.length === 0 ? '' : `; reaches ${effects.hosts.join(', ')}`}; code ${code.slice(0, 12)}`,
  ];
}

function parameterRows(schema: unknown): string[][] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    readonly properties?: Readonly<Record<string, Parameter>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { type, description, default: usual }]) => {
    const need = required.includes(name)
      ? 'required'
      : usual === undefined
        ? 'optional'
        : `default ${JSON.stringify(usual)}`;
    return [name, String(type ?? 'any'), need, String(description ?? '')].map(printable);
  });
}

function section(title: string, body: string): string {
  return body.trim() === '' ? '' : `${title}\n${indented(body)}`;
}

function indented(text: string): string {
  return lines(
    text
      .trimEnd()
      .split('\n')
      .map((line) => `  ${line}`),
  );
}

/** Strips control sequences: code and descriptions come from agents and servers. */
function lines(texts: readonly string[]): string {
  return texts
    .filter((text) => text !== '')
    .map((text) => `${printable(text).trimEnd()}\n`)
    .join('');
}
