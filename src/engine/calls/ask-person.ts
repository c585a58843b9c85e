import {
  callFingerprint,
  canonicalJson,
  type DefinitionChange,
  definitionChanges,
} from '../../core/policy/call-hash.ts';
import type { ToolId } from '../../core/vocabulary/ids.ts';
import { printable } from '../../core/vocabulary/text.ts';
import type { ToolDefinition } from '../../core/vocabulary/tool-definition.ts';
import type { Caller } from '../caller.ts';
import type { FlowPorts } from '../flow-ports.ts';
import { isOwn } from '../people/roles.ts';
import type { Approval, JsonObject, UpstreamClient } from '../ports.ts';
import type { Approvals, PendingCall } from './approvals.ts';

export interface Question {
  readonly runId: string;
  /** What would be called: a tool, or a plan's code with the hash of its text. */
  readonly tool: ToolDefinition | Pick<ToolDefinition, 'id' | 'definitionHash'>;
  readonly arguments: JsonObject;
  /** Of code and capabilities: what runs. */
  readonly program?: PendingCall['program'];
  /** The definition that a person has accepted, where `tool` is another one. */
  readonly accepted?: ToolDefinition;
  readonly reason: string;
  readonly waitMs: number;
  /** Whether the answer in the client's own dialogue counts as a person's. */
  readonly mayClientDecide: boolean;
  /** There is something new to know about the call: what was decided before does not count. */
  readonly mustAskAgain?: boolean;
}

export type Answer =
  | { readonly kind: 'approved'; readonly approval: Approval }
  | { readonly kind: 'rejected'; readonly approval: Approval }
  /** Nobody answered in time; the question stays open. */
  | { readonly kind: 'open'; readonly approval: Approval };

type AskPorts = Pick<FlowPorts, 'store' | 'crypto' | 'clock' | 'events' | 'redact' | 'sleep'>;

/**
 * Asks a person about one exact call: an approval given before for the very same call counts once;
 * else the client's own dialogue asks, if it has one; else the question waits for dashboard or CLI.
 * The agent has no way to answer.
 */
export async function askPerson(
  ports: AskPorts,
  approvals: Approvals,
  question: Question,
  caller: Caller,
): Promise<Answer> {
  const { tool } = question;
  const argumentsHash = exactCall(ports, tool, question.arguments);
  const given = question.mustAskAgain ? null : await findGiven(ports, tool.id, argumentsHash, caller);
  if (given) return { kind: 'approved', approval: given };

  const approval: Approval = {
    id: ports.crypto.randomUuid(),
    runId: question.runId,
    node: tool.id,
    argumentsHash,
    arguments: ports.redact(question.arguments),
    reason: question.reason,
    state: 'pending',
    requestedAt: ports.clock.now(),
    settledAt: null,
    settledBy: null,
  };
  const { program } = question;
  await approvals.ask(approval, { arguments: question.arguments, ...(program && { program }) });
  if (question.mayClientDecide && caller.client && canElicit(caller.client)) {
    void elicit(caller.client, question, caller.signal).then(
      (decision) => decision && approvals.settle(approval, decision, `client ${caller.client?.id}`),
      // A dialogue that fails or is closed leaves the question open for the others.
      () => {},
    );
  }
  const waitMs = caller.isAtTerminal ? 0 : question.waitMs;
  const decision = await approvals.decision(approval.id, waitMs, caller.signal);
  if (decision === null) return { kind: 'open', approval };
  if (decision === 'rejected') return { kind: 'rejected', approval };
  const isOurs = await ports.store.approvals.use(approval.id);
  return { kind: isOurs ? 'approved' : 'open', approval };
}

/** Names one exact call: this tool as it is defined now, with these arguments. */
export function exactCall(
  { crypto }: Pick<FlowPorts, 'crypto'>,
  tool: Pick<ToolDefinition, 'id' | 'definitionHash'>,
  args: JsonObject,
): string {
  return crypto.sha256(callFingerprint(tool.id, tool.definitionHash, args));
}

/** What an approval of code or of a capability binds to, beside the arguments. */
export function programHash(
  { crypto }: Pick<FlowPorts, 'crypto'>,
  { code, capability }: NonNullable<PendingCall['program']>,
): string {
  return crypto.sha256(canonicalJson([code ?? null, capability ?? null]));
}

async function findGiven(
  ports: AskPorts,
  node: ToolId,
  argumentsHash: string,
  caller: Caller,
): Promise<Approval | null> {
  for (const approval of await ports.store.approvals.list({ state: 'approved', node, argumentsHash })) {
    // What was approved for one user's run is not for another's. Of a run that is not written down yet nobody
    // can tell whose it is: the call that asked is still waiting, and takes it.
    const run = await ports.store.runs.get(approval.runId);
    if (!run || !isOwn(caller, run)) continue;
    if (await ports.store.approvals.use(approval.id)) return approval;
  }
  return null;
}

function canElicit(client: UpstreamClient): boolean {
  return client.capabilities.elicitation !== undefined;
}

async function elicit(
  client: UpstreamClient,
  question: Question,
  signal: AbortSignal = new AbortController().signal,
): Promise<'approved' | 'rejected' | null> {
  const reply = await client.ask(
    'elicitation/create',
    {
      mode: 'form',
      message: messageFor(question),
      requestedSchema: {
        type: 'object',
        properties: {
          decision: { type: 'string', title: 'Your decision', enum: ['approve', 'reject'] },
        },
        required: ['decision'],
      },
    },
    signal,
  );
  if (reply.action === 'decline') return 'rejected';
  if (reply.action !== 'accept') return null;
  return (reply.content as JsonObject | undefined)?.decision === 'approve' ? 'approved' : 'rejected';
}

/** Exactly what will run, in full: redaction is for what is stored, not for the person who decides. */
function messageFor({ tool, arguments: args, program, reason, accepted }: Question): string {
  const changes = accepted && 'inputSchema' in tool ? definitionChanges(accepted, tool) : [];
  return [
    `Allow ${printable(tool.id)} with ${exactText(args)}?`,
    ...Object.entries(program ?? {}).map(([kind, text]) => `${kind}: ${exactText(text)}`),
    `(${printable(reason)})`,
    ...changes.flatMap(describeChange),
  ].join('\n');
}

function describeChange({ field, before, after }: DefinitionChange): string[] {
  return [
    `${printable(field)} was: ${before === undefined ? 'not there' : exactText(before)}`,
    `${printable(field)} is now: ${after === undefined ? 'not there' : exactText(after)}`,
  ];
}

/** JSON in which nothing can hide, move or turn around what a person reads. */
function exactText(value: unknown): string {
  return printable(JSON.stringify(value));
}
