import { LRUCache } from 'lru-cache';
import { inferSchema, mergeSchemas } from '../../core/capabilities/infer-schema.ts';
import { admission, isWorthKeeping } from '../../core/capabilities/lifecycle.ts';
import { nameRoutine } from '../../core/capabilities/name-routine.ts';
import {
  type LearnedSlot,
  learnSlots,
  mergeObservation,
  parameterise,
  parametersSchema,
} from '../../core/capabilities/parameters.ts';
import { publicWords } from '../../core/capabilities/public-words.ts';
import { describeCapability, isWellNamed, phraseOf, slugFor } from '../../core/capabilities/slug.ts';
import { identityOf, inOrderOf, type Template } from '../../core/capabilities/template.ts';
import type { StaticStructure } from '../../core/structure/emit/static-structure.ts';
import {
  type ExecutionTrace,
  invocationToWire,
  isEvidence,
  toolsUsedIn,
} from '../../core/vocabulary/execution-trace.ts';
import { kindOf, splitToolId, type ToolId } from '../../core/vocabulary/ids.ts';
import { isEnd } from '../../core/vocabulary/trace-event.ts';
import type { Background } from '../background.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { ProgramCache } from '../code/program.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { Capability, CapabilityProof, JsonObject } from '../ports.ts';
import type { CodeCall } from '../runs/run-requests.ts';
import {
  type CapabilityRegistry,
  countUses,
  currentDefinition,
  wasHalted,
  withOutcome,
} from './capability-registry.ts';
import { hashFor } from './capability-sharing.ts';
import { readmitted } from './quarantine-changed.ts';

const DEFAULTS = {
  /** Intents remembered, the latest. */
  intents: 10,
  /** Successful runs remembered by id. */
  runIds: 10,
  /** What a replay may cost: calls, and milliseconds of the first run. */
  replayCalls: 20,
  replayMs: 15_000,
  /** Programs whose identity is remembered, and their characters in all. */
  identities: 100,
  identityLength: 256 * 1024,
};

export interface CapabilityLessons {
  readonly ports: FlowPorts;
  readonly background: Background;
  readonly capabilities: CapabilityRegistry;
  readonly programs: ProgramCache;
  readonly catalogue: () => Catalogue;
  /** Runs a capability on recordings of its own past. */
  readonly prove: (capability: Capability) => Promise<CapabilityProof>;
  /** Runs a program once more, with these tools alone. */
  readonly run: (call: CodeCall, tools: ReadonlySet<string>, signal: AbortSignal) => Promise<unknown>;
}

/** A run of code as a lesson: which program it was, and whether it is worth a name. */
export async function learnCapability(lessons: CapabilityLessons, trace: ExecutionTrace): Promise<void> {
  const { capabilities } = lessons;
  await countUses(capabilities, trace);
  const { code } = trace;
  // A run of a capability is counted above; one that was kept from its end says nothing about its code.
  if (code === null || trace.capabilityId !== null || wasHalted(trace)) return;
  // A capability is code, and words, for all to read and run, or for one: nobody's cannot be private.
  if (trace.visibility === 'private' && trace.owner === null) return;
  const own = identityIn(lessons, trace, code);
  if (!own) return;
  const learned = await capabilities.change(async () => {
    const { template, codeHash } = capabilities.byCodeHash(own.codeHash)
      ? own
      : arranged(lessons, trace, own);
    const known = capabilities.byCodeHash(codeHash);
    if (!trace.success) {
      if (known) await capabilities.put(withOutcome(known, false, trace.executedAt));
      return null;
    }
    // It worked again when PML tried: that admits it, and does not count as a use.
    if (!isEvidence(trace)) return known && trace.origin === 'replay' ? known : null;
    if (!known && !isWorthKeeping({ code, structure: structureOf(lessons, code), trace })) return null;
    const next = known
      ? seenAgain(lessons, known, template, trace)
      : firstSeen(lessons, codeHash, template, trace);
    return await capabilities.put(next);
  });
  if (!learned || learned.state === 'quarantined') return;
  const isDue = learned.state === 'active' ? !isProven(lessons, learned) : isAdmissible(learned, trace);
  if (isDue) await admitProven(lessons, learned);
  // What PML runs again by itself is nobody's.
  else if (learned.state === 'candidate' && isEvidence(trace) && learned.visibility === 'shared')
    replayIfHarmless(lessons, learned, trace);
}

/** Whether what it is now is what was proven. */
function isProven({ ports }: CapabilityLessons, { code, evidence }: Capability): boolean {
  return evidence.proof?.codeHash === ports.crypto.sha256(code);
}

/**
 * Active once it does again what its own runs recorded. One that does not stays a candidate, with the reason; one of
 * which no run was recorded in full has nothing to be held against.
 */
export async function admitProven(
  { capabilities, prove, ports }: CapabilityLessons,
  capability: Capability,
): Promise<void> {
  const proof = await prove(capability);
  await capabilities.change(async () => {
    const now = capabilities.get(capability.id);
    // Another run changed it meanwhile, and proves what it is now.
    if (!now || now.state === 'quarantined' || now.code !== capability.code) return;
    const state = proof.failure === null ? 'active' : 'candidate';
    const evidence = { ...now.evidence, proof };
    await capabilities.put({ ...now, state, evidence, updatedAt: ports.clock.now() });
  });
}

interface Identity {
  readonly template: Template;
  readonly codeHash: string;
}

/** Of the programs that were run last: most come again, and reading one costs more than all else that a run teaches. */
const IDENTITIES = new LRUCache<string, ReturnType<typeof identityOf>>({
  max: DEFAULTS.identities,
  maxSize: DEFAULTS.identityLength,
  sizeCalculation: (_, code) => code.length + 1,
});

function identityIn({ ports }: CapabilityLessons, trace: ExecutionTrace, code: string): Identity | null {
  const identity = IDENTITIES.get(code) ?? identityOf(code, ports.crypto.sha256);
  IDENTITIES.set(code, identity);
  if (!identity.ok) return null;
  const { template, codeHash } = identity.value;
  return { template, codeHash: hashFor(codeHash, trace, ports.crypto) };
}

/** As a known program whose calls at once are these in another order, if there is one: they are one job. */
function arranged(lessons: CapabilityLessons, trace: ExecutionTrace, own: Identity): Identity {
  const used = new Set<string>(toolsUsedIn(trace));
  for (const { toolsUsed, template, codeHash } of lessons.capabilities.all()) {
    if (toolsUsed.length !== used.size || !toolsUsed.every((node) => used.has(node))) continue;
    const code = inOrderOf(trace.code ?? '', template.source);
    const same = code === null ? null : identityIn(lessons, trace, code);
    if (same?.codeHash === codeHash) return same;
  }
  return own;
}

function structureOf({ programs }: CapabilityLessons, code: string) {
  const prepared = programs.prepare(code);
  return prepared.ok ? prepared.value.structure : null;
}

/** A candidate, as the first run of a program makes it. */
export function firstSeen(
  lessons: CapabilityLessons,
  codeHash: string,
  template: Template,
  trace: ExecutionTrace,
): Capability {
  const { ports, capabilities, catalogue } = lessons;
  const toolsUsed = toolsUsedIn(trace);
  const tools = toolsUsed.filter((node): node is ToolId => kindOf(node) === 'tool');
  const code = trace.code ?? '';
  const first = withTemplate(
    {
      id: ports.crypto.randomUuid(),
      slug: '',
      aliases: [],
      description: '',
      codeHash,
      code,
      parametersSchema: {},
      outputSchema: outputOf(trace),
      toolsUsed,
      toolInvocations: trace.toolInvocations.map(invocationToWire),
      staticStructure: structureOf(lessons, code),
      template: { source: code, slots: [] },
      evidence: {
        recent: [true],
        runIds: [trace.runId],
        definitionHashes: definitionsOf(tools, catalogue()),
        intents: trace.intentText === null ? [] : [trace.intentText],
        quarantinedBecause: null,
      },
      intentText: '',
      owner: trace.owner,
      visibility: trace.visibility,
      state: 'candidate',
      uses: 1,
      successes: 1,
      revision: 1,
      createdAt: trace.executedAt,
      updatedAt: trace.executedAt,
    },
    learnSlots(template),
    template,
    trace,
  );
  return named(first, capabilities, catalogue());
}

/** The tools as they are now, by id. */
export function definitionsOf(tools: readonly string[], catalogue: Catalogue): Record<string, string> {
  return Object.fromEntries(
    tools.flatMap((id) => {
      const hash = currentDefinition(catalogue, id);
      return hash === undefined ? [] : [[id, hash]];
    }),
  );
}

/** Another run of the same program, perhaps with other literals. */
function seenAgain(
  { capabilities, catalogue }: CapabilityLessons,
  known: Capability,
  template: Template,
  trace: ExecutionTrace,
): Capability {
  const counted = withOutcome(known, true, trace.executedAt);
  const runIds = [...new Set([...counted.evidence.runIds, trace.runId])].slice(0, DEFAULTS.runIds);
  const slots = mergeObservation(known.template.slots as LearnedSlot[], template);
  const seen = {
    ...counted,
    outputSchema: mergeSchemas(counted.outputSchema, outputOf(trace)),
    // What was known as a part is a whole job as well.
    evidence: { ...wholeJob(counted.evidence), runIds, intents: withIntent(counted, trace.intentText) },
  };
  const taught = withTemplate(seen, slots, template, trace);
  const titled = mayBeRenamed(known) ? named(taught, capabilities, catalogue()) : taught;
  return titled.state === 'candidate' ? titled : readmitted(titled);
}

function wholeJob({ part: _, ...evidence }: Capability['evidence']): Capability['evidence'] {
  return evidence;
}

function isAdmissible({ evidence, outputSchema }: Capability, { origin }: ExecutionTrace): boolean {
  const state = admission({
    successfulRuns: evidence.runIds.length,
    successfulReplays: origin === 'replay' ? 1 : 0,
    hasIntent: evidence.intents.length > 0,
    hasResult: (outputSchema as { type?: unknown } | null)?.type !== 'null',
  });
  return state === 'active';
}

/** The intents it served so far, this one included. */
function withIntent({ evidence }: Capability, intent: string | null): readonly string[] {
  if (intent === null || evidence.intents.includes(intent)) return evidence.intents;
  return [...evidence.intents, intent].slice(-DEFAULTS.intents);
}

/** Code and parameters as the literals seen so far make them. */
export function withTemplate(
  capability: Capability,
  slots: readonly LearnedSlot[],
  { used }: Template,
  { guest }: ExecutionTrace,
): Capability {
  const { source } = capability.template;
  const observed = inferSchema(guest?.args ?? {});
  return {
    ...capability,
    code: parameterise(source, slots),
    parametersSchema: parametersSchema({ slots, used, observed }),
    template: { source, slots },
  };
}

function outputOf({ taskResults }: ExecutionTrace): unknown {
  const [only] = taskResults as readonly { readonly result?: unknown }[];
  // What was not recorded may be anything.
  return only && 'result' in only ? inferSchema(only.result ?? null) : {};
}

/**
 * One success may be luck. Where every call only reads, and nothing outside is asked, running it once
 * more costs little and tells.
 */
function replayIfHarmless(lessons: CapabilityLessons, capability: Capability, trace: ExecutionTrace): void {
  const { background, catalogue, run } = lessons;
  const toolsUsed = toolsUsedIn(trace);
  const isHarmless = toolsUsed.every((node) => {
    if (kindOf(node) === 'operation') return true;
    const hints = catalogue().get(node as ToolId)?.tool.annotations;
    return hints?.readOnlyHint === true && hints.openWorldHint === false;
  });
  if (
    !isHarmless ||
    trace.toolInvocations.length > DEFAULTS.replayCalls ||
    trace.durationMs > DEFAULTS.replayMs
  )
    return;
  background.run(`Running ${capability.slug} once more`, async (signal) => {
    if (signal.aborted) return;
    const program = { code: trace.code ?? '', arguments: (trace.guest?.args ?? {}) as JsonObject };
    const intent = trace.intentText === null ? {} : { intent: trace.intentText };
    // What the run's own key was refused, its replay does not get either.
    const called = trace.events.filter((event) => isEnd(event) && event.success).map(({ node }) => node);
    await run({ ...program, ...intent }, new Set(called), signal);
  });
}

/** What a capability is called and described with, by all that is known of it now. */
function named(capability: Capability, registry: CapabilityRegistry, catalogue: Catalogue): Capability {
  const { id, slug, aliases, evidence, template, toolsUsed, staticStructure } = capability;
  const tools = toolsUsed.filter((node): node is ToolId => kindOf(node) === 'tool');
  const names = nameRoutine({
    intents: evidence.intents,
    tools: tools.map((id) => splitToolId(id).tool),
    results: resultsOf(staticStructure as StaticStructure | null, tools).map((id) => splitToolId(id).tool),
    isPublic: publicWords(template.source, toolTexts(tools, catalogue)),
    values: (template.slots as LearnedSlot[]).flatMap(valuesIn),
  });
  const others = registry.all().filter((other) => other.id !== id);
  const next = slugFor(
    names,
    others.flatMap((other) => [other.slug, ...other.aliases]),
  );
  const former = slug === '' || slug === next ? aliases : [...new Set([...aliases, slug])];
  return {
    ...capability,
    slug: next,
    aliases: former.filter((alias) => alias !== next),
    description: describeCapability(next, tools),
    intentText: phraseOf(next),
  };
}

/** While nobody was told of it, or where an earlier version named it badly and no person did it better. */
function mayBeRenamed({ state, slug, aliases }: Capability): boolean {
  return state === 'candidate' || (aliases.length === 0 && !isWellNamed(slug));
}

/** Tools whose results no other call takes; all where that cannot be told. */
function resultsOf(structure: StaticStructure | null, tools: readonly ToolId[]): readonly ToolId[] {
  const tasks = structure?.nodes.filter((node) => node.type === 'task') ?? [];
  const ids = new Set(tasks.map(({ id }) => id));
  const given = new Set(
    structure?.edges.filter(({ type, to }) => type === 'provides' && ids.has(to)).map(({ from }) => from),
  );
  const last = tasks.filter(({ id }) => !given.has(id)).map(({ tool }) => tool);
  return last.length > 0 ? [...new Set(last)] : tools;
}

/** What stays out of a name: a value that runs have changed, and one that is written like a name. */
function valuesIn({ value, seen, differs }: LearnedSlot): string[] {
  const all = [value, ...seen].flat().filter((one) => typeof one === 'string');
  return differs ? all : all.filter((text) => /^\p{Lu}/u.test(text) && !/[/.\\]/.test(text));
}

/** What the servers themselves say of the tools. */
function toolTexts(tools: readonly ToolId[], catalogue: Catalogue): string[] {
  return tools.flatMap((id) => {
    const tool = catalogue.get(id)?.tool;
    const names = Object.keys((tool?.inputSchema as { properties?: object } | undefined)?.properties ?? {});
    return [id, tool?.description ?? '', ...names];
  });
}
