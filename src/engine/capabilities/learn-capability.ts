import { inferSchema, mergeSchemas } from '../../core/capabilities/infer-schema.ts';
import { admission, isWorthKeeping } from '../../core/capabilities/lifecycle.ts';
import {
  type LearnedSlot,
  learnSlots,
  mergeObservation,
  parameterise,
  parametersSchema,
} from '../../core/capabilities/parameters.ts';
import { describeCapability, publicIntent, publicWords, slugFor } from '../../core/capabilities/slug.ts';
import { identityOf, type Template } from '../../core/capabilities/template.ts';
import { deriveTrace } from '../../core/tracing/derive-trace.ts';
import { type ExecutionTrace, invocationToWire, isEvidence } from '../../core/vocabulary/execution-trace.ts';
import { kindOf, type ToolId } from '../../core/vocabulary/ids.ts';
import type { Background } from '../background.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Program, ProgramCache, ResumePoint } from '../code/program.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { CodeRun } from '../gateway.ts';
import type { Capability } from '../ports.ts';
import type { CapabilityRegistry } from './capability-registry.ts';
import { countUses, currentDefinition, wasHalted, withOutcome } from './capability-registry.ts';
import { hashFor } from './capability-sharing.ts';

const DEFAULTS = {
  /** Intents remembered, the latest. */
  intents: 10,
  /** Successful runs remembered by id. */
  runIds: 10,
  /** What a replay may cost: calls, and milliseconds of the first run. */
  replayCalls: 20,
  replayMs: 5_000,
};

export interface CapabilityLessons {
  readonly ports: FlowPorts;
  readonly background: Background;
  readonly capabilities: CapabilityRegistry;
  readonly programs: ProgramCache;
  readonly catalogue: () => Catalogue;
  /** Runs a program once more. */
  readonly run: (program: Program, standing: ResumePoint, signal: AbortSignal) => Promise<CodeRun>;
}

/** A run of code as a lesson: which program it was, and whether it is worth a name. */
export async function learnCapability(lessons: CapabilityLessons, trace: ExecutionTrace): Promise<void> {
  const { capabilities, ports } = lessons;
  await countUses(capabilities, trace);
  const { code } = trace;
  // A run of a capability is counted above; one that was kept from its end says nothing about its code.
  if (code === null || trace.capabilityId !== null || wasHalted(trace)) return;
  // A capability is code, and words, for all to read and run, or for one: nobody's cannot be private.
  if (trace.visibility === 'private' && trace.owner === null) return;
  const identity = identityOf(code, ports.crypto.sha256);
  if (!identity.ok) return;
  const { template } = identity.value;
  const codeHash = hashFor(identity.value.codeHash, trace, ports.crypto);
  const learned = await capabilities.change(async () => {
    const known = capabilities.byCodeHash(codeHash);
    if (!trace.success) {
      if (known) await capabilities.put(withOutcome(known, false, trace.executedAt));
      return null;
    }
    if (!isEvidence(trace)) {
      if (known && trace.origin === 'replay') await capabilities.put(confirmed(known, trace));
      return null;
    }
    if (
      !known &&
      !isWorthKeeping({ code, structure: structureOf(lessons, code), trace: deriveTrace(trace.events) })
    )
      return null;
    const next = known ? seenAgain(known, template, trace) : firstSeen(lessons, codeHash, template, trace);
    return await capabilities.put(next);
  });
  // What PML runs again by itself is nobody's.
  if (learned?.state === 'candidate' && learned.visibility === 'shared')
    replayIfHarmless(lessons, learned, trace);
}

function structureOf({ programs }: CapabilityLessons, code: string) {
  const prepared = programs.prepare(code);
  return prepared.ok ? prepared.value.structure : null;
}

function firstSeen(
  lessons: CapabilityLessons,
  codeHash: string,
  template: Template,
  trace: ExecutionTrace,
): Capability {
  const { ports, capabilities, catalogue } = lessons;
  const { toolsUsed } = deriveTrace(trace.events);
  const tools = toolsUsed.filter((node): node is ToolId => kindOf(node) === 'tool');
  const code = trace.code ?? '';
  const intent = publicIntent(trace.intentText, publicWords(code, toolTexts(tools, catalogue())));
  const taken = capabilities.all().flatMap(({ slug, aliases }) => [slug, ...aliases]);
  return withTemplate(
    {
      id: ports.crypto.randomUuid(),
      slug: slugFor({ intent, tools, taken }),
      aliases: [],
      description: describeCapability({ intent, tools }),
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
      intentText: intent,
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
}

/** What the servers themselves say of the tools. */
function toolTexts(tools: readonly ToolId[], catalogue: Catalogue): string[] {
  return tools.flatMap((id) => {
    const tool = catalogue.get(id)?.tool;
    const names = Object.keys((tool?.inputSchema as { properties?: object } | undefined)?.properties ?? {});
    return [id, tool?.description ?? '', ...names];
  });
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
function seenAgain(known: Capability, template: Template, trace: ExecutionTrace): Capability {
  const counted = withOutcome(known, true, trace.executedAt);
  const runIds = [...new Set([...counted.evidence.runIds, trace.runId])].slice(0, DEFAULTS.runIds);
  const slots = mergeObservation(known.template.slots as LearnedSlot[], template);
  const seen = {
    ...counted,
    outputSchema: mergeSchemas(counted.outputSchema, outputOf(trace)),
    evidence: { ...counted.evidence, runIds, intents: withIntent(counted, trace.intentText) },
  };
  const admitted =
    seen.state === 'candidate' ? { ...seen, state: admission({ successfulRuns: runIds.length }) } : seen;
  return withTemplate(admitted, slots, template, trace);
}

/** It worked again when PML tried: that admits it, and does not count as a use. */
function confirmed(known: Capability, { executedAt }: ExecutionTrace): Capability {
  if (known.state !== 'candidate') return known;
  const state = admission({ successfulRuns: known.evidence.runIds.length, successfulReplays: 1 });
  return { ...known, state, updatedAt: executedAt };
}

/** The intents it served so far, this one included. */
function withIntent({ evidence }: Capability, intent: string | null): readonly string[] {
  if (intent === null || evidence.intents.includes(intent)) return evidence.intents;
  return [...evidence.intents, intent].slice(-DEFAULTS.intents);
}

/** Code and parameters as the literals seen so far make them. */
function withTemplate(
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
  return inferSchema(only?.result ?? null);
}

/**
 * One success may be luck. Where every call only reads, and nothing outside is asked, running it once
 * more costs little and tells.
 */
function replayIfHarmless(lessons: CapabilityLessons, capability: Capability, trace: ExecutionTrace): void {
  const { ports, background, catalogue, run } = lessons;
  const { toolsUsed } = deriveTrace(trace.events);
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
    const standing: ResumePoint = {
      runId: ports.crypto.randomUuid(),
      seed: ports.crypto.randomUuid(),
      startedAt: ports.clock.now().getTime(),
      grants: [],
      calls: [],
    };
    const program = { source: trace.code ?? '', args: (trace.guest?.args ?? {}) as Program['args'] };
    const intent = trace.intentText === null ? {} : { intent: trace.intentText };
    await run({ ...program, ...intent }, standing, signal);
  });
}
