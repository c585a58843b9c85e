import { kindOf } from '../../core/vocabulary/ids.ts';
import { printable } from '../../core/vocabulary/text.ts';
import { capabilityToWire } from '../../engine/gateway-wire.ts';
import type { Capability } from '../../engine/ports.ts';
import { columns } from './columns.ts';

/** Everything a person wants to know before trusting it. */
export function describeCapability(capability: Capability): string {
  const { slug, state, evidence, intentText, aliases, code, parametersSchema, owner, visibility } =
    capability;
  const { signature } = capabilityToWire(capability);
  const because = evidence.quarantinedBecause === null ? '' : `: ${evidence.quarantinedBecause}`;
  return [
    lines([`${slug}  (${state}${because}${visibility === 'private' ? `, private to ${owner}` : ''})`]),
    indented(signature),
    section('Parameters', columns(parameterRows(parametersSchema))),
    section('Evidence', lines(evidenceOf(capability))),
    section('Learned for', lines([intentText])),
    section('Also called', lines([aliases.join(', ')])),
    section('Tools', lines(calledBy(capability))),
    section('Code', code),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

/** Whole percent of its runs that succeeded. */
export function percent({ uses, successes }: Capability): string {
  return `${Math.round((100 * successes) / Math.max(1, uses))} %`;
}

/** Tools and capabilities; what it does with the data in between is in the code. */
export function calledBy({ toolsUsed }: Capability): readonly string[] {
  return toolsUsed.filter((node) => kindOf(node) !== 'operation');
}

function evidenceOf(capability: Capability): string[] {
  const { uses, successes, evidence } = capability;
  const { reliability } = capabilityToWire(capability);
  const latest = evidence.recent.map((success) => (success ? '✓' : '✗')).join(' ');
  return [
    uses === 0
      ? 'it was not run yet'
      : `${successes} of ${uses} runs succeeded (${percent(capability)}); reliability ${reliability.toFixed(2)}`,
    ...(latest === '' ? [] : [`latest, newest last: ${latest}`]),
    ...(evidence.runIds.length === 0 ? [] : [`learned from runs ${evidence.runIds.join(', ')}`]),
  ];
}

interface Parameter {
  readonly type?: unknown;
  readonly description?: unknown;
  readonly default?: unknown;
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

/** None of them can steer the terminal: code and descriptions come from agents and servers. */
function lines(texts: readonly string[]): string {
  return texts
    .filter((text) => text !== '')
    .map((text) => `${printable(text).trimEnd()}\n`)
    .join('');
}
