import { decide, matchesAnyCase, type Verdict, whyNotCalled } from '../../core/policy/decide.ts';
import type { StaticStructure } from '../../core/structure/emit/static-structure.ts';
import { addLeaves } from '../../core/tracing/found-secrets.ts';
import { blockText, blockValue } from '../../core/tracing/read-values.ts';
import { classifyError, type Recorder } from '../../core/tracing/recorder.ts';
import type { ErrorShape } from '../../core/vocabulary/pml-error.ts';
import { isJsonObject, weighJson } from '../../core/vocabulary/read-wire.ts';
import { mayBeCalledTwice, type ToolDefinition } from '../../core/vocabulary/tool-definition.ts';
import { contextOfCall, type TraceContext } from '../../core/vocabulary/trace-context.ts';
import type { ErrorType } from '../../core/vocabulary/trace-event.ts';
import type { Caller } from '../caller.ts';
import type { CatalogueEntry } from '../catalogue/catalogue.ts';
import { ownName } from '../catalogue/refresh-catalogue.ts';
import type { ResumePoint } from '../code/program.ts';
import type { FlowPorts } from '../flow-ports.ts';
import { outOfScope } from '../people/roles.ts';
import type { Approval, JsonObject, Settings, ToolResult, UpstreamReply } from '../ports.ts';
import type { RunError } from '../runs/run.ts';
import type { ToolCall } from '../runs/run-requests.ts';
import type { Admissions, Pass } from './admissions.ts';
import type { Approvals, Grants } from './approvals.ts';
import { askPerson, exactCall } from './ask-person.ts';

const DEFAULTS = {
  /** Levels of a result: what reads, redacts and stores it goes down by recursion. */
  maxDepth: 500,
  /** Tools whose record level is remembered. */
  levels: 10_000,
};

export interface CallScope {
  readonly ports: FlowPorts;
  readonly approvals: Approvals;
  readonly admissions: Admissions;
  readonly settings: Settings;
  readonly runId: string;
  readonly recorder: Recorder;
  /** Trace id of the capability or task that calls; null at the root of the run. */
  readonly parent: string | null;
  readonly caller: Caller;
  /** When the program made the call; absent: now. */
  readonly madeAt?: number;
  /** Names what the whole run does, of a single run. */
  readonly work?: () => string;
  /** What a person has allowed this run before it began. */
  readonly grants?: Grants;
  /** On the monotonic clock: a person is not waited for any longer. */
  readonly askUntil?: number;
  /** Told when a person is being asked; the answer is called when that is over. */
  readonly whileAsking?: () => () => void;
  /** Done when the call may be made and before it is; what fails here keeps it from being made. */
  readonly beforeCall?: () => Promise<void>;
  /** What the very same call gave that was made ahead of its turn; null: it has to be made. */
  readonly madeAhead?: Promise<ToolResult | null> | null;
}

/** How one attempt at a call, or at a program, ended. */
export type Attempt = Done | Failed | Waiting;

interface Done {
  readonly kind: 'done';
  readonly value: unknown;
  /** Of a tool: the server's own, untouched. */
  readonly toolResult?: ToolResult;
  /** Of a program: pictures and sounds that its tools gave. */
  readonly media?: readonly JsonObject[];
}

interface Failed {
  readonly kind: 'failed';
  readonly error: RunError;
  /** Null: that of the call which failed last. */
  readonly errorType: ErrorType | null;
  /** Of a tool that ran and failed by its own account. */
  readonly toolResult?: ToolResult;
}

/** A person has not decided yet. */
interface Waiting {
  readonly kind: 'waiting';
  readonly approval: Approval;
  /** Of a program: where it stood. */
  readonly standing?: ResumePoint;
}

/** The one place where scope, policy, timeout, retry and trace surround an upstream call; every call comes here. */
export async function callTool(
  scope: CallScope,
  entry: CatalogueEntry,
  call: ToolCall,
): Promise<Done | Failed | Waiting> {
  const { caller, admissions, ports } = scope;
  const { id } = entry.tool;
  const outside = outOfScope(caller.who, id);
  if (outside) return refused(outside);
  if (caller.onlyTools && !caller.onlyTools.has(id)) return refused(notAgain(id));
  const madeAt = scope.madeAt ?? ports.clock.monotonic();
  // What was made ahead was admitted then.
  const made = (await scope.madeAhead) ?? null;
  const pass = made ? null : await admissions.admit(caller, id, call.arguments);
  if (pass && 'code' in pass) return refused(pass);
  try {
    const madeAhead = Promise.resolve(made);
    return await makeCall({ ...scope, ...(made && { madeAt }), madeAhead }, entry, call, pass);
  } finally {
    await pass?.end();
  }
}

async function makeCall(
  scope: CallScope,
  entry: CatalogueEntry,
  call: ToolCall,
  pass: Pass | null,
): Promise<Done | Failed | Waiting> {
  const refusal = await passPolicy(scope, entry, call);
  if (refusal) return refusal;
  await scope.beforeCall?.();
  const { tool } = entry;
  const keep = recordLevel(scope.settings, tool.id);
  if (keep !== 'full') conceal(scope, call.arguments);
  const span =
    keep === 'none'
      ? null
      : scope.recorder.start(
          tool.id,
          scope.parent,
          keep === 'full' ? call.arguments : undefined,
          scope.madeAt,
        );
  const sentAt = scope.ports.clock.monotonic();
  const meta = { ...call.meta, ...contextFor(scope, span?.traceId ?? null) };
  const reply = await callUpstream(scope, entry, { ...call, meta });
  pass?.answered(reply, scope.ports.clock.monotonic() - sentAt);
  if (!reply.ok) {
    const { message, errorType } = reply.error;
    span?.end({ success: false, ...(keep === 'full' && { error: message }), errorType });
    const { errorType: _, ...error } = reply.error;
    return { kind: 'failed', error, errorType };
  }
  const toolResult = reply.value;
  const value = toolValue(toolResult);
  const complaint = toolResult.isError === true ? toolText(toolResult) : null;
  if (keep !== 'full') conceal(scope, value);
  span?.end({
    success: complaint === null,
    ...(keep === 'full' && { result: valueToKeep(toolResult, value) }),
    ...(complaint !== null && keep === 'full' && { error: complaint }),
    ...(complaint !== null && { errorType: classifyError(complaint) }),
  });
  if (complaint === null) return { kind: 'done', value, toolResult };
  const message = complaint || 'The tool failed without saying why';
  const error = { code: 'tool_failed', message } as const;
  return { kind: 'failed', error, errorType: classifyError(complaint), toolResult };
}

/** What goes into such a call and what comes out is hidden wherever the run has it, and so is what is made of it. */
function conceal({ ports, recorder }: CallScope, value: unknown): void {
  recorder.conceal();
  if (ports.found) addLeaves(ports.found, value);
}

/** Null: go ahead. */
async function passPolicy(
  scope: CallScope,
  entry: CatalogueEntry,
  call: ToolCall,
): Promise<Failed | Waiting | null> {
  const { ports, approvals, settings, runId, caller } = scope;
  const { tool, proposed } = entry;
  // Once more for each call: what was looked at before the run may be another tool by now, or another call.
  const isOwn = caller.origin === 'self' || caller.origin === 'replay';
  const own = isOwn ? whyNotCalled(settings.permissions, tool) : null;
  if (own !== null) return refused(notByItself(own));
  const verdict = judge(settings, entry);
  if (verdict.action === 'allow') return null;
  if (verdict.action === 'deny') return refused(notAllowed(tool, verdict));
  const question = {
    runId,
    tool: proposed ?? tool,
    ...(proposed && { accepted: tool }),
    arguments: call.arguments,
    reason: verdict.reason,
    waitMs: waitFor(settings, call.timeoutMs ?? timeLeft(scope)),
    mayClientDecide: settings.permissions.clientsDecide,
    ...(scope.work && { work: scope.work() }),
  };
  if (scope.grants?.take(exactCall(ports, question.tool, call.arguments))) return null;
  const goOn = scope.whileAsking?.();
  const answer = await askPerson(ports, approvals, question, caller).finally(goOn);
  if (answer.kind === 'open') return { kind: 'waiting', approval: answer.approval };
  return answer.kind === 'rejected' ? refused(rejected(tool)) : null;
}

function refused(error: ErrorShape): Failed {
  return { kind: 'failed', error, errorType: 'PERMISSION' };
}

function timeLeft({ askUntil, ports }: CallScope): number | undefined {
  return askUntil === undefined ? undefined : Math.max(0, askUntil - ports.clock.monotonic());
}

/** How long a person may take: a call with a time limit does not wait longer than that. */
export function waitFor({ permissions }: Settings, timeoutMs = Number.POSITIVE_INFINITY): number {
  return Math.min(permissions.approvalWaitMs, timeoutMs);
}

/** By settings and entry, neither of which ever changes: the words of rules and names are read once, not with each call. */
const JUDGED = new WeakMap<Settings, WeakMap<CatalogueEntry, Verdict>>();

/** What the policy says about a tool, regardless of its arguments. */
export function judge(settings: Settings, entry: CatalogueEntry): Verdict {
  const verdicts = JUDGED.get(settings) ?? new WeakMap<CatalogueEntry, Verdict>();
  const known = verdicts.get(entry);
  if (known) return known;
  const verdict = readVerdict(settings, entry);
  verdicts.set(entry, verdict);
  JUDGED.set(settings, verdicts);
  return verdict;
}

function readVerdict({ permissions, servers }: Settings, { tool, proposed }: CatalogueEntry): Verdict {
  const isLocal = servers.some(({ name, transport }) => name === tool.server && transport === 'stdio');
  const verdict = decide(permissions, tool, isLocal);
  return proposed ? askAboutChange(verdict) : verdict;
}

function askAboutChange(verdict: Verdict): Verdict {
  if (verdict.action === 'deny') return verdict;
  return { action: 'ask', reason: 'its server changed the definition of this tool after it was accepted' };
}

export function notAllowed({ id }: ToolDefinition, { reason }: Verdict): ErrorShape {
  return {
    code: 'forbidden',
    message: `${id} is not allowed: ${reason}`,
    hint: 'Change "permissions" in the configuration.',
  };
}

function notAgain(id: string): ErrorShape {
  return { code: 'forbidden', message: `The run that this one repeats did not call ${id}` };
}

function notByItself(why: string): ErrorShape {
  return {
    code: 'forbidden',
    message: `A run that PML started on its own must not call it: ${why}`,
    hint: 'Run the plan with pml_execute_workflow, or name the tool in permissions.auto.',
  };
}

export function rejected({ id }: ToolDefinition): ErrorShape {
  return { code: 'forbidden', message: `A person rejected ${id} with these arguments` };
}

/** Without spans of its own, PML is not part of the trace, and only passes it on. */
function contextFor({ ports, caller, runId }: CallScope, callId: string | null): TraceContext | null {
  return ports.exporter ? contextOfCall(runId, callId, caller.trace) : (caller.trace ?? null);
}

/** Once more after a lost connection, where the tool says that repeating changes nothing. */
async function callUpstream(
  { ports, caller, madeAhead, settings }: CallScope,
  { tool }: CatalogueEntry,
  call: ToolCall,
): Promise<UpstreamReply<ToolResult>> {
  const made = await madeAhead;
  if (made) return { ok: true, value: made };
  const options = {
    ...(call.timeoutMs !== undefined && { timeoutMs: call.timeoutMs, isFirm: true }),
    ...(Object.keys(call.meta ?? {}).length > 0 && { meta: call.meta }),
    ...(call.extraParams && { extraParams: call.extraParams }),
    ...(needsTask(tool) && { asTask: true }),
    ...(call.passInputRequired && { passInputRequired: true }),
    ...(call.passTask && { passTask: true }),
    ...(caller.signal && { signal: caller.signal }),
    ...(caller.onProgress && { onProgress: caller.onProgress }),
    ...(caller.client && { client: caller.client }),
    ...(caller.who && { user: caller.who.user }),
    ...(caller.sessionId !== null && { session: caller.sessionId }),
  };
  const server = settings.servers.find(({ name }) => name === tool.server);
  const own = server?.rename ? ownName(server, tool.name) : tool.name;
  const send = async () => {
    const reply = await ports.upstream.callTool(tool.server, own, call.arguments, options);
    ports.loop?.begin(`the result of ${tool.id}`);
    return soundReply(tool, reply);
  };
  const reply = await send();
  if (reply.ok || reply.error.errorType !== 'NETWORK' || !mayBeCalledTwice(tool) || caller.signal?.aborted)
    return reply;
  return await send();
}

/** The server runs the tool as a task of revision 2025-11-25, and refuses a plain call. */
function needsTask({ otherFields }: Pick<ToolDefinition, 'otherFields'>): boolean {
  const { taskSupport } = (otherFields?.execution ?? {}) as { readonly taskSupport?: unknown };
  return taskSupport === 'required';
}

/** Anything other than a tool result is a failure of the server. */
function soundReply(tool: ToolDefinition, reply: UpstreamReply<ToolResult>): UpstreamReply<ToolResult> {
  const fault = reply.ok ? faultOf(reply.value) : null;
  if (fault === null) return reply;
  const message = `Server "${tool.server}" returned an unreadable result for "${tool.name}": ${fault}`;
  return { ok: false, error: { code: 'upstream_error', errorType: 'UNKNOWN', message } };
}

function faultOf(result: ToolResult): string | null {
  if (!isJsonObject(result)) return 'it is not an object';
  const { content = [] } = result;
  if (!Array.isArray(content)) return '"content" is not a list';
  if (!content.every(isJsonObject)) return 'a block of "content" is not an object';
  const { depth } = weighJson(result);
  return depth > DEFAULTS.maxDepth ? `it is nested ${depth} levels deep` : null;
}

type RecordLevel = 'none' | 'metadata' | 'full';

type RecordRules = Settings['record'];

/** By rules and tool: they are asked about several times with each call. */
const LEVELS = new WeakMap<RecordRules, Map<string, RecordLevel>>();

/** How much of a tool's calls is kept. */
export function recordLevel({ record }: { readonly record: RecordRules }, toolId: string): RecordLevel {
  const levels = LEVELS.get(record) ?? new Map<string, RecordLevel>();
  LEVELS.set(record, levels);
  const known = levels.get(toolId);
  if (known) return known;
  const level = record.find((rule) => matchesAnyCase(rule.tools, toolId))?.keep ?? 'full';
  // Programs may name tools that do not exist.
  if (levels.size >= DEFAULTS.levels) levels.clear();
  levels.set(toolId, level);
  return level;
}

/** The strictest record setting among the calls that a program may make, as far as its text shows. */
export function levelOfProgram(settings: Pick<Settings, 'record'>, { nodes }: StaticStructure): RecordLevel {
  const levels = nodes.map((node) => (node.type === 'task' ? recordLevel(settings, node.tool) : 'full'));
  return levels.includes('none') ? 'none' : levels.includes('metadata') ? 'metadata' : 'full';
}

/** Literals passed to calls whose arguments are not stored appear in the program's text, too. */
export function concealLiterals(
  { found }: Pick<FlowPorts, 'found'>,
  settings: Pick<Settings, 'record'>,
  { nodes }: StaticStructure,
): void {
  for (const node of nodes) {
    if (node.type !== 'task' || recordLevel(settings, node.tool) === 'full') continue;
    for (const binding of Object.values(node.arguments.bindings))
      if (binding.kind === 'literal' && found) addLeaves(found, binding.value);
  }
}

/** What a tool returned, as code and plans see it: its structured content, else parsed JSON text, else text. */
export function toolValue(result: ToolResult): unknown {
  return result.structuredContent !== undefined ? result.structuredContent : blockValue(result.content ?? []);
}

function toolText(result: ToolResult): string {
  return blockText(result.content ?? []);
}

/** What is kept of a result with a trace: the value code sees, or the blocks when they are more than text. */
function valueToKeep({ content = [], structuredContent }: ToolResult, value: unknown): unknown {
  const isText = content.every((block) => block.type === 'text');
  return structuredContent !== undefined || isText ? value : content;
}
