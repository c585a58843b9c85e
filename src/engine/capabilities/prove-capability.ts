import { jobProgram } from '../../core/capabilities/job-program.ts';
import type { LearnedSlot } from '../../core/capabilities/parameters.ts';
import { identityOf, inOrderOf } from '../../core/capabilities/template.ts';
import { checkArguments } from '../../core/capabilities/validate-arguments.ts';
import {
  givenIn,
  occurrenceOf,
  partsEnding,
  readCall,
  type SessionCall,
} from '../../core/planning/parts/part-occurrences.ts';
import { partPrograms } from '../../core/planning/parts/part-program.ts';
import { canonicalJson } from '../../core/policy/call-hash.ts';
import { isStep, jobEvents } from '../../core/tracing/jobs.ts';
import { recordedValue } from '../../core/tracing/read-values.ts';
import { isWhole } from '../../core/tracing/redact.ts';
import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import { kindOf, type ToolId } from '../../core/vocabulary/ids.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { isJsonObject } from '../../core/vocabulary/read-wire.ts';
import type { Caller } from '../caller.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { type Difference, type TapedCall, tapeOf } from '../code/cassette.ts';
import { rememberedCall } from '../learning/remembered-run.ts';
import type { Capability, CapabilityProof, JsonObject, Settings } from '../ports.ts';
import { play, type Recording, recordingOf } from '../runs/replay-run.ts';
import { ofOneRun } from '../runs/run.ts';
import type { RunScope } from '../runs/run-scope.ts';
import { hashFor } from './capability-sharing.ts';
import { innerRoutines, requiredArguments } from './learn-parts.ts';

const DEFAULTS = {
  /** Cases that are run, of those that are looked at. */
  cases: 4,
  lookedAt: 10,
  /** Calls of a session that a part is looked for in, before its last one: as many as its miner looks at. */
  session: 11,
  /** Traces of a session that are looked through. */
  traces: 60,
};

/** A past run of a capability, or of the program it was learned from, as it would run now. */
export interface Case {
  readonly recording: Recording;
  readonly traceIds: readonly string[];
  /** Milliseconds since 1970. */
  readonly at: number;
  /** It made calls at once in another order, in which its result lists what they gave: only the calls are compared. */
  readonly isArranged?: boolean;
}

/** The result as a whole. */
const RESULT = new Set(['']);

export interface CaseReport {
  /** Of its arguments, calls and result: tells cases apart without telling what was in them. */
  readonly hash: string;
  readonly traceIds: readonly string[];
  /** Null where it gave the same again. */
  readonly difference: Difference | null;
}

export interface CapabilityTest {
  readonly capability: Capability;
  /** `no_cases`: none of its runs was recorded in full, or all are gone. */
  readonly status: 'passed' | 'failed' | 'no_cases';
  readonly cases: readonly CaseReport[];
  /** What its recorded calls would break on, with its tools as they are defined now. */
  readonly problems: readonly string[];
}

export interface Prover {
  /** Up to four of its recorded runs, the newest and the most different, as it would run them now. */
  cases(capability: Capability): Promise<readonly Case[]>;
  /** Runs its own past again, on cassettes: nothing is called. */
  test(capability: Capability): Promise<CapabilityTest>;
  /** The same, as it is kept. */
  prove(capability: Capability): Promise<CapabilityProof>;
}

/** Nobody sees it: what differs is told to who may see the capability. */
const PROVER: Caller = { sessionId: null, origin: 'replay' };

export function createProver(scopeNow: () => RunScope, catalogue: () => Catalogue): Prover {
  const casesNow = async (capability: Capability) =>
    mostDifferent(await casesOf(scopeNow(), capability, catalogue()));
  const test = async (capability: Capability): Promise<CapabilityTest> => {
    const scope = scopeNow();
    const cases = await casesNow(capability);
    const reports: CaseReport[] = [];
    for (const { recording, traceIds, isArranged } of cases) {
      const ignored = isArranged ? RESULT : undefined;
      const { made, difference } = await play(ofOneRun(scope), recording, PROVER, ignored);
      // What was hidden or cut may be why; a sandbox that could not run it says nothing of the code.
      const isTold = difference === null || (recording.notWhole.length === 0 && !isOutOfReach(made));
      if (isTold) reports.push({ hash: hashOf(scope, recording), traceIds, difference });
    }
    const problems = [
      ...new Set(cases.flatMap(({ recording }) => definitionProblems(recording, catalogue()))),
    ];
    const isFailed = problems.length > 0 || reports.some(({ difference }) => difference !== null);
    const status = isFailed ? 'failed' : reports.length > 0 ? 'passed' : 'no_cases';
    return { capability, status, cases: reports, problems };
  };
  return {
    cases: casesNow,
    test,
    async prove(capability) {
      const { ports, settings } = scopeNow();
      const { cases, problems } = await test(capability);
      const failed = cases.find(({ difference }) => difference !== null);
      return {
        codeHash: ports.crypto.sha256(capability.code),
        cases: cases
          .filter(({ difference }) => !difference)
          .map(({ hash, traceIds }) => ({ hash, traceIds })),
        effects: effectsOf(capability, catalogue(), settings),
        failure: failed ? failureText(failed) : (problems[0] ?? null),
        provenAt: ports.clock.now().toISOString(),
      };
    },
  };
}

/** The sandbox, or who asked, ended it: that says nothing of its code. */
export function isOutOfReach(made: Awaited<ReturnType<typeof play>>['made']): boolean {
  return made.kind === 'failed' && ['internal', 'code_limit', 'cancelled'].includes(made.error.code);
}

/** In one line, for people. */
export function failureText({ difference, traceIds }: CaseReport): string {
  const { what, call, path } = difference!;
  const place = `${call ?? 'its result'}${path === '' ? '' : ` at ${path}`}`;
  return `it does not reproduce trace ${traceIds[0]}: ${place} differs (${what})`;
}

/** Tools it calls, those that may change something, and the hosts of servers that are reached over the network. */
function effectsOf(
  { toolsUsed }: Capability,
  catalogue: Catalogue,
  { servers }: Settings,
): CapabilityProof['effects'] {
  const tools = toolsUsed.filter((node) => kindOf(node) === 'tool').toSorted();
  const named = new Set(tools.map((id) => id.slice(0, id.indexOf(':'))));
  const hosts = servers
    .filter((server) => named.has(server.name))
    .flatMap((server) => {
      if (server.transport === 'stdio') return [];
      return server.transport === 'openapi' ? server.origins : [server.url];
    })
    .map((url) => new URL(url).host);
  const reads = (id: string) => catalogue.get(id as ToolId)?.tool.annotations?.readOnlyHint === true;
  return { tools, writes: tools.filter((id) => !reads(id)), hosts: [...new Set(hosts)].sort() };
}

function hashOf({ ports }: RunScope, { program, calls, result }: Recording): string {
  const told = calls.map(({ node, args, outcome }) => [node, args ?? {}, outcome?.success, outcome?.result]);
  return ports.crypto.sha256(canonicalJson([program.args, told, result]));
}

/** What the tools, as they are defined now, would say to the recorded calls, and what else they promise. */
function definitionProblems({ calls }: Recording, catalogue: Catalogue): string[] {
  return calls.flatMap(({ node, args, outcome }) => {
    const entry = catalogue.get(node as ToolId);
    const tool = entry?.proposed ?? entry?.tool;
    if (!tool) return [];
    const taken = checkArguments(tool.inputSchema, args ?? {});
    const gave = tool.outputSchema && outcome?.success ? recordedValue(outcome.result) : undefined;
    const given = isJsonObject(gave) ? checkArguments(tool.outputSchema, gave) : [];
    return [
      ...taken.map((problem) => `${node} no longer accepts what it was given: ${problem}`),
      ...given.map((problem) => `${node} no longer declares what it returned: ${problem}`),
    ];
  });
}

/** The newest, and then always the one that has least in common with those that were chosen. */
function mostDifferent(cases: readonly Case[]): Case[] {
  const left = cases.toSorted((a, b) => b.at - a.at);
  const chosen = left.splice(0, 1);
  while (chosen.length < DEFAULTS.cases && left.length > 0) {
    const distances = left.map((one) => Math.min(...chosen.map((other) => distance(one, other))));
    const most = distances.indexOf(Math.max(...distances));
    const [next] = left.splice(most, 1);
    if (distances[most]! > 0) chosen.push(next!);
  }
  return chosen;
}

/** Arguments that differ, and one more where other calls were made. */
function distance({ recording: a }: Case, { recording: b }: Case): number {
  const names = new Set([...Object.keys(a.program.args), ...Object.keys(b.program.args)]);
  const differing = [...names].filter(
    (name) => canonicalJson(a.program.args[name]) !== canonicalJson(b.program.args[name]),
  );
  const pathOf = ({ calls }: Recording) => calls.map(({ node }) => node).join(' ');
  return differing.length + Number(pathOf(a) !== pathOf(b));
}

async function casesOf(scope: RunScope, capability: Capability, catalogue: Catalogue): Promise<Case[]> {
  const { traces } = scope.ports.store;
  const { id, evidence } = capability;
  // Of a shared one, what is private to somebody is not told to others.
  const isOwn = ({ visibility, owner }: ExecutionTrace) =>
    visibility === 'shared' || (capability.visibility === 'private' && owner === capability.owner);
  const found: Case[] = [];
  const add = (one: Case | null) => one && found.push(one);
  for (const runId of evidence.runIds.slice(-DEFAULTS.lookedAt)) {
    const learnedFrom = (await traces.list({ runId, limit: DEFAULTS.lookedAt })).filter(isOwn);
    const trace = learnedFrom.find(({ success }) => success);
    if (!trace) continue;
    if (evidence.part) for (const one of await partCases(scope, capability, trace, catalogue)) add(one);
    else if (trace.code !== null) add(programCase(scope, capability, trace));
    else add(await jobCase(scope, capability, trace));
  }
  const uses = await traces.list({ capabilityId: id, success: true, limit: DEFAULTS.lookedAt });
  for (const trace of uses.filter(isOwn)) add(useCase(capability, trace));
  return found;
}

/** A run of the capability itself. */
function useCase(capability: Capability, trace: ExecutionTrace): Case | null {
  const recording = recordingIn(trace);
  if (!recording) return null;
  const program = { ...recording.program, source: capability.code, capability };
  return { recording: { ...recording, program }, traceIds: [trace.id], at: trace.executedAt.getTime() };
}

/** A run of the program that it was made of: its literals are the arguments now. */
function programCase(scope: RunScope, capability: Capability, trace: ExecutionTrace): Case | null {
  const recording = recordingIn(trace);
  const code = trace.code ?? '';
  const given = recording?.program.args ?? {};
  const same = argumentsIn(scope, capability, code, given);
  const arranged =
    same ?? argumentsIn(scope, capability, inOrderOf(code, capability.template.source) ?? '', given);
  if (!recording || !arranged) return null;
  const program = { source: capability.code, args: arranged };
  const at = trace.executedAt.getTime();
  return { recording: { ...recording, program }, traceIds: [trace.id], at, isArranged: same === null };
}

/** Null where it was not recorded in full. */
function recordingIn(trace: ExecutionTrace): Recording | null {
  try {
    return recordingOf(trace);
  } catch (error) {
    if (PmlError.from(error).code === 'not_available') return null;
    throw error;
  }
}

/** What the capability has to be given to be this program; null where it is another. */
function argumentsIn(
  { ports }: RunScope,
  capability: Capability,
  code: string,
  given: JsonObject,
): JsonObject | null {
  const identity = identityOf(code, ports.crypto.sha256);
  if (!identity.ok || hashFor(identity.value.codeHash, capability, ports.crypto) !== capability.codeHash)
    return null;
  const { template } = identity.value;
  const slots = capability.template.slots as readonly LearnedSlot[];
  const literals = slots.flatMap(({ parameter }, i) =>
    parameter === null ? [] : [[parameter, template.slots[i]?.value] as const],
  );
  return { ...given, ...Object.fromEntries(literals) };
}

/** A job of single calls, by its first one: as many of the calls that followed as make up the program. */
async function jobCase(scope: RunScope, capability: Capability, first: ExecutionTrace): Promise<Case | null> {
  const { traces } = scope.ports.store;
  const { sessionId, executedAt } = first;
  if (sessionId === null || !isStep(first)) return null;
  const all = await traces.list({ sessionId, since: executedAt, limit: DEFAULTS.traces, byTime: true });
  const steps = all.reverse();
  const from = steps.findIndex(({ id }) => id === first.id);
  for (let to = from + 2; from >= 0 && to <= steps.length; to++) {
    const job = steps.slice(from, to);
    if (!isStep(job.at(-1)!)) return null;
    const code = jobProgram(job);
    const args = code === null ? null : argumentsIn(scope, capability, code, {});
    const calls = tapeOf(jobEvents(job)).filter(({ outcome, parent }) => outcome?.success && parent === null);
    if (args) return joinedCase(capability, args, calls, job);
  }
  return null;
}

/** Calls of several runs as those of one program, whose result is that of the last. */
function joinedCase(
  { code }: Capability,
  args: JsonObject,
  calls: readonly TapedCall[],
  from: readonly ExecutionTrace[],
): Case | null {
  const last = from.at(-1)!;
  if (!calls.every(({ args: given, outcome }) => isJsonObject(given) && outcome?.result !== undefined))
    return null;
  const startedAt = last.executedAt.getTime();
  return {
    recording: {
      program: { source: code, args },
      node: null,
      guest: { seed: last.runId, startedAt },
      calls,
      success: true,
      result: recordedValue(calls.at(-1)?.outcome?.result),
      error: null,
      notWhole: calls.filter(({ outcome }) => !isWhole(outcome?.result)).map(({ id }) => id),
      isFlat: true,
    },
    traceIds: [...new Set(from.map(({ id }) => id))],
    at: startedAt,
  };
}

/** The calls of runs that came one after the other. Each trace has a clock of its own, and an order of its own answers. */
function inOneTime(runs: readonly ExecutionTrace[]): { call: TapedCall; trace: ExecutionTrace }[] {
  let [now, answers] = [0, 0];
  return runs.flatMap((trace) => {
    const [from, before] = [now, answers];
    const calls = tapeOf(trace.events).map((call) => {
      const { startTs, endTs, outcome } = call;
      now = Math.max(now, from + endTs + 1);
      answers = Math.max(answers, before + (outcome?.order ?? 0) + 1);
      return {
        ...{ ...call, startTs: from + startTs, endTs: from + endTs },
        outcome: outcome && { ...outcome, order: before + outcome.order },
      };
    });
    return calls.map((call) => ({ call, trace }));
  });
}

/** Occurrences of a part of jobs that ended in this run. */
async function partCases(
  scope: RunScope,
  capability: Capability,
  trace: ExecutionTrace,
  catalogue: Catalogue,
): Promise<Case[]> {
  const { part } = capability.evidence;
  if (!part) return [];
  const { sessionId, id: before } = trace;
  const { traces } = scope.ports.store;
  const earlier = sessionId === null ? [] : await traces.list({ sessionId, before, limit: DEFAULTS.traces });
  const session = inOneTime([...earlier.reverse(), trace]).filter(
    ({ call: { node, args, outcome } }) => kindOf(node) === 'tool' && outcome?.success && isJsonObject(args),
  );
  const ends = session.flatMap((one, i) =>
    one.trace === trace && one.call.node === part.tools.at(-1) ? [i] : [],
  );
  const wiring = part.wiring.map((wired) => new Map(Object.entries(wired)));
  const { owner, visibility } = capability;
  const inner = innerRoutines(scope.capabilities, { ...part, owner, visibility }).filter(({ slug }) =>
    capability.code.includes(`capabilities.${slug}(`),
  );
  return ends.flatMap((end) => {
    const near = session.slice(Math.max(0, end - DEFAULTS.session), end + 1);
    const read: SessionCall[] = [];
    for (const { call, trace: of } of near) {
      const { node: tool, args, outcome } = call;
      const told = rememberedCall(tool, args as JsonObject, outcome?.result);
      read.push(readCall(told, read, of.intentText ?? '', 0));
    }
    return partsEnding(read).flatMap((steps) => {
      if (steps.map(({ call }) => call.tool).join(' ') !== part.tools.join(' ')) return [];
      const { origins } = occurrenceOf(steps);
      const example = { ...givenIn(steps), result: null, origins };
      const whole = { ...part, wiring, owner, visibility, intents: [], examples: [example] };
      const [code] = partPrograms(whole, { required: requiredArguments(catalogue), inner });
      const taken = steps.map(({ place }) => near[place]!);
      const args = code === undefined ? null : argumentsIn(scope, capability, code, hiddenIn(steps, taken));
      const one =
        args &&
        joinedCase(
          capability,
          args,
          taken.map(({ call }) => call),
          taken.map((each) => each.trace),
        );
      return one ? [one] : [];
    });
  });
}

/** What was hidden stands for itself: the routine must hand it on to where it was given. */
function hiddenIn(steps: readonly SessionCall[], taken: readonly { readonly call: TapedCall }[]): JsonObject {
  const given = steps.flatMap(({ call: { hidden = [] } }, i) =>
    hidden.map((name) => [name, (taken[i]!.call.args as JsonObject)[name]] as const),
  );
  return Object.fromEntries(given);
}
