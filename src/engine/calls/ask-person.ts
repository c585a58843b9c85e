import {
  callFingerprint,
  canonicalJson,
  type DefinitionChange,
  definitionChanges,
  diffLines,
} from '../../core/policy/call-hash.ts';
import type { ToolId } from '../../core/vocabulary/ids.ts';
import type { TaskBody } from '../../core/vocabulary/plan.ts';
import { printable } from '../../core/vocabulary/text.ts';
import type { ToolDefinition } from '../../core/vocabulary/tool-definition.ts';
import type { Caller } from '../caller.ts';
import type { FlowPorts } from '../flow-ports.ts';
import { isOwn } from '../people/roles.ts';
import {
  type Asker,
  allowAlways,
  isAllowedAlways,
  type StandingScope,
} from '../people/standing-approvals.ts';
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
  /** Names what the whole run does; absent in workflows, each of which is its own. */
  readonly work?: string;
}

export type Answer =
  | { readonly kind: 'approved'; readonly argumentsHash: string }
  | { readonly kind: 'rejected'; readonly approval: Approval }
  /** Nobody answered in time; the question stays open. */
  | { readonly kind: 'open'; readonly approval: Approval };

type AskPorts = Pick<FlowPorts, 'store' | 'crypto' | 'clock' | 'events' | 'redact' | 'sleep'>;

/**
 * Asks a person about one exact call: an approval given before for the very same call counts once, one that stands
 * counts until it is revoked; else the client's own dialogue asks, if it has one; else the question waits for dashboard
 * or CLI. Where nobody would see it, nobody is waited for. The agent has no way to answer.
 */
export async function askPerson(
  ports: AskPorts,
  approvals: Approvals,
  question: Question,
  caller: Caller,
): Promise<Answer> {
  const { tool } = question;
  const argumentsHash = exactCall(ports, tool, question.arguments);
  const asker = askerOf(caller);
  if (!question.mustAskAgain) {
    const call = { node: tool.id, argumentsHash, definitionHash: tool.definitionHash, asker };
    const given = await findGiven(ports, tool.id, argumentsHash, caller);
    if (given || (await isAllowedAlways(ports, call))) return { kind: 'approved', argumentsHash };
  }
  const approval = await approvals.inTurn(argumentsHash, async () => {
    const open = await findOpen(ports, approvals, question, argumentsHash, asker);
    return open ?? (await put(ports, approvals, question, argumentsHash, asker));
  });
  const { waitMs, signal } = await whileAsked(ports, approvals, approval, question, caller);
  const decision = await approvals.decision(approval.id, waitMs, signal, waitingTeller(approval, caller));
  if (decision === null) return { kind: 'open', approval };
  if (decision === 'rejected') return { kind: 'rejected', approval };
  if (await ports.store.approvals.use(approval.id)) return { kind: 'approved', argumentsHash };
  // One approval is good for one call: of two that waited for it, the other asks again.
  const mayBeShared = question.work !== undefined;
  return mayBeShared ? await askPerson(ports, approvals, question, caller) : { kind: 'open', approval };
}

async function put(
  ports: AskPorts,
  approvals: Approvals,
  question: Question,
  argumentsHash: string,
  asker: Asker,
): Promise<Approval> {
  const approval: Approval = {
    id: ports.crypto.randomUuid(),
    runId: question.runId,
    node: question.tool.id,
    argumentsHash,
    arguments: ports.redact(question.arguments),
    reason: question.reason,
    state: 'pending',
    requestedAt: ports.clock.now(),
    settledAt: null,
    settledBy: null,
  };
  const { program, work } = question;
  await approvals.ask(approval, {
    arguments: question.arguments,
    ...(program && { program }),
    ...(work !== undefined && { work }),
    asker,
  });
  return approval;
}

function askerOf({ who, sessionId }: Caller): Asker {
  return { user: who?.user ?? null, sessionId };
}

/** The open question about the same call of the same work: an agent that repeats a call does not ask twice. */
async function findOpen(
  { store, crypto }: AskPorts,
  approvals: Approvals,
  { tool, work }: Question,
  argumentsHash: string,
  { user }: Asker,
): Promise<Approval | null> {
  if (work === undefined) return null;
  for (const approval of await store.approvals.list({ state: 'pending', node: tool.id, argumentsHash })) {
    const kept = approvals.calls.get(approval.id);
    if (kept?.asker) {
      if (kept.work === work && kept.asker.user === user) return approval;
      continue;
    }
    // Asked before this gateway began.
    const run = await store.runs.get(approval.runId);
    const task = run?.kind === 'call' && run.owner === user ? run.plan?.tasks[0] : undefined;
    if (task && workHash({ crypto }, task) === work) return approval;
  }
  return null;
}

/** Asks the client, if it may decide; returns how long to wait for an answer and what ends the wait. */
async function whileAsked(
  ports: AskPorts,
  approvals: Approvals,
  approval: Approval,
  question: Question,
  caller: Caller,
): Promise<{ waitMs: number; signal: AbortSignal }> {
  const { client } = caller;
  const closed = new AbortController();
  const signal = AbortSignal.any([closed.signal, ...(caller.signal ? [caller.signal] : [])]);
  const mayAsk = question.mayClientDecide && client !== undefined && canElicit(client);
  if (mayAsk && !approvals.inDialogue.has(approval.id)) {
    approvals.inDialogue.add(approval.id);
    void elicit(client, question, askerOf(caller), signal)
      .then(async (choice) => {
        if (choice) await settleChoice(ports, approvals, approval, question, choice, caller);
      })
      // A dialogue that fails or is closed leaves the question open for the others, if there are any.
      .catch(() => {})
      .finally(() => {
        approvals.inDialogue.delete(approval.id);
        if (!approvals.isAttended()) closed.abort();
      });
  }
  const isSeen = mayAsk || approvals.isAttended();
  return { waitMs: caller.isAtTerminal || !isSeen ? 0 : question.waitMs, signal };
}

async function settleChoice(
  ports: AskPorts,
  approvals: Approvals,
  approval: Approval,
  { tool }: Question,
  choice: Choice,
  caller: Caller,
): Promise<void> {
  const by = `client ${caller.client?.id}`;
  const isFirst = await approvals.settle(approval, choice === 'reject' ? 'rejected' : 'approved', by);
  const scope = STANDING[choice];
  if (!isFirst || scope === undefined) return;
  const { definitionHash } = tool;
  await allowAlways(ports, approval, { scope, by, asker: askerOf(caller), definitionHash });
}

/** Each number is larger than the last, as the protocol wants, and smaller than any that the tool itself will tell. */
function waitingTeller({ node, runId }: Approval, { onProgress }: Caller): () => void {
  let told = 0;
  const message = `${node} is waiting for a person: pml runs approve ${runId}`;
  return () => onProgress?.({ progress: ++told * 1e-9, message });
}

/** Names one exact call: this tool as it is defined now, with these arguments. */
export function exactCall(
  { crypto }: Pick<FlowPorts, 'crypto'>,
  tool: Pick<ToolDefinition, 'id' | 'definitionHash'>,
  args: JsonObject,
): string {
  return crypto.sha256(callFingerprint(tool.id, tool.definitionHash, args));
}

/** Names what a single run does: its tool, code or capability, with the arguments. */
export function workHash(
  { crypto }: Pick<FlowPorts, 'crypto'>,
  { tool, code, capability, arguments: args }: TaskBody & { readonly arguments: JsonObject },
): string {
  return crypto.sha256(canonicalJson([tool ?? null, code ?? null, capability ?? null, args]));
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

type Choice = 'approve' | 'reject' | 'always_arguments' | 'always_tool' | 'always_session';

const STANDING: Partial<Record<Choice, StandingScope>> = {
  always_arguments: 'arguments',
  always_tool: 'tool',
  always_session: 'session',
};

const CHOICES: Readonly<Record<Choice, string>> = {
  approve: 'Allow once',
  reject: 'Do not allow',
  always_arguments: 'Always allow with these arguments',
  always_tool: 'Always allow this tool',
  always_session: 'Allow this tool for the whole session',
};

async function elicit(
  client: UpstreamClient,
  question: Question,
  { sessionId }: Asker,
  signal: AbortSignal,
): Promise<Choice | null> {
  // What may have run before is asked about each time.
  const isOnce = question.program !== undefined || question.mustAskAgain === true;
  const offered = Object.entries(CHOICES).filter(
    ([name]) => !name.startsWith('always') || !(isOnce || (name === 'always_session' && sessionId === null)),
  );
  const reply = await client.ask(
    'elicitation/create',
    {
      mode: 'form',
      message: messageFor(question),
      requestedSchema: {
        type: 'object',
        properties: {
          decision: {
            type: 'string',
            title: 'Your decision',
            enum: offered.map(([name]) => name),
            enumNames: offered.map(([, title]) => title),
          },
        },
        required: ['decision'],
      },
    },
    signal,
  );
  if (reply.action === 'decline') return 'reject';
  if (reply.action !== 'accept') return null;
  const { decision } = (reply.content ?? {}) as JsonObject;
  // What was not offered allows nothing.
  return offered.some(([name]) => name === decision) ? (decision as Choice) : 'reject';
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
  return [`Its ${printable(field)} changed:`, ...diffLines(before, after).map(printable)];
}

/** JSON in which no character can hide, move or reverse what a person reads. */
function exactText(value: unknown): string {
  return printable(JSON.stringify(value));
}
