import { kindOf } from '../../core/vocabulary/ids.ts';
import { printable } from '../../core/vocabulary/text.ts';
import type { JsonObject } from '../../engine/ports.ts';
import type { Answer } from '../../operations/operation-client.ts';
import { columns, countOf } from './command.ts';

export type Capability = Answer<'get_capability'>;
type Summary = Answer<'list_capabilities'>['capabilities'][number];

export const NONE =
  'No capabilities yet: code that succeeds twice becomes a capability. See "pml run --help".\n';
export const HEAD = ['SLUG', 'STATE', 'SUCCESS', 'USES', 'TOOLS'];

export function row(capability: Summary): string[] {
  const { slug, state, uses } = capability;
  const tools = printable(calledBy(capability).join(', '));
  return [slug, state, uses === 0 ? '-' : percent(capability), String(uses), tools];
}

/** Everything a person wants to know before trusting the capability. */
export function describeCapability(capability: Capability): string {
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
  const hashes = cases.map(({ hash }) => hash.slice(0, 12)).join(', ');
  return [
    ...(failure === null ? [] : [`not active: ${failure}`]),
    ...(failure === null && cases.length === 0 ? ['not proven: none of its runs was recorded in full'] : []),
    ...(cases.length === 0 ? [] : [`proven on ${countOf(cases.length, 'recorded run')}, ${at}: ${hashes}`]),
    `${writes}${effects.hosts.length === 0 ? '' : `; reaches ${effects.hosts.join(', ')}`}; code ${code.slice(0, 12)}`,
  ];
}

function parameterRows(schema: unknown): string[][] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    readonly properties?: Readonly<Record<string, JsonObject>>;
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
export function lines(texts: readonly string[]): string {
  return texts
    .filter((text) => text !== '')
    .map((text) => `${printable(text).trimEnd()}\n`)
    .join('');
}
