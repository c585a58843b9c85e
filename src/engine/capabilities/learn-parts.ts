import { isWorthKeeping } from '../../core/capabilities/lifecycle.ts';
import { type LearnedSlot, learnSlots, mergeObservation } from '../../core/capabilities/parameters.ts';
import { identityOf } from '../../core/capabilities/template.ts';
import { type Part, PartMiner } from '../../core/planning/parts/part-miner.ts';
import { type InnerRoutine, partPrograms } from '../../core/planning/parts/part-program.ts';
import { canonicalJson } from '../../core/policy/call-hash.ts';
import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import type { NodeId, ToolId } from '../../core/vocabulary/ids.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { rememberedRun } from '../learning/remembered-run.ts';
import type { Capability } from '../ports.ts';
import { type CapabilityRegistry, isUnlisted } from './capability-registry.ts';
import { hashFor } from './capability-sharing.ts';
import { admitProven, type CapabilityLessons, firstSeen, withTemplate } from './learn-capability.ts';

const DEFAULTS = {
  /** Traces that are looked through at the start, the newest. */
  recalled: 500,
  /** Parts that are there at the most: those that save most. */
  parts: 200,
  /** How much its support must grow before it is written again. */
  growth: 1.25,
  /** Runs it was seen in that are remembered, the newest. */
  runIds: 4,
};

/** Parts of jobs that recur, as capabilities. */
export interface PartLearner {
  /** Of a run, after what it teaches as a whole. Runs of a session must come in order. */
  learn(trace: ExecutionTrace): Promise<void>;
}

export function createPartLearner(lessons: CapabilityLessons): PartLearner {
  const { ports, capabilities } = lessons;
  const miner = new PartMiner();
  const add = (trace: ExecutionTrace) => {
    const run = rememberedRun(trace);
    return run && miner.add(run);
  };
  let recalling: Promise<void> | null = null;
  const recall = async ({ id }: ExecutionTrace) => {
    const earlier = await ports.store.traces.list({ before: id, limit: DEFAULTS.recalled });
    for (const trace of earlier.reverse()) add(trace);
  };

  return {
    async learn(trace) {
      recalling ??= recall(trace);
      await recalling;
      const mined = add(trace);
      if (!mined) return;
      const parts = new Map(capabilities.all().map((one) => [one.evidence.part?.key, one]));
      for (const { key, support } of mined.covered) {
        const known = parts.get(key);
        // Earlier lives of the gateway may have seen it in more jobs, by itself.
        const isAll = known && support >= (known.evidence.part?.support ?? 0);
        if (isAll && isUntouched(known, capabilities)) await capabilities.change(() => forget(known));
      }
      for (const part of mined.found) {
        const before = parts.get(part.key)?.evidence.part;
        if (before && part.support < before.support * DEFAULTS.growth) continue;
        if (!before && isJunk(lessons, part)) continue;
        const learned = await capabilities.change(() => learnPart(lessons, part, trace));
        if (learned?.state === 'candidate') await admitProven(lessons, learned);
      }
    },
  };

  async function forget({ id }: Capability): Promise<void> {
    await capabilities.remove(id);
  }
}

/** Neither called, nor named or halted by a person, nor called by a larger one: it may go again. */
function isUntouched(part: Capability, registry: CapabilityRegistry): boolean {
  const { slug, aliases, state } = part;
  const call = `capabilities.${slug}(`;
  return (
    isUnlisted(part) &&
    aliases.length === 0 &&
    state !== 'quarantined' &&
    !registry.all().some(({ code }) => code.includes(call))
  );
}

async function learnPart(
  lessons: CapabilityLessons,
  part: Part,
  trace: ExecutionTrace,
): Promise<Capability | null> {
  const { capabilities } = lessons;
  const known = capabilities.all().find(({ evidence }) => evidence.part?.key === part.key);
  if (known)
    return await capabilities.put(rewired(lessons, known, part, trace) ?? seenMore(known, part, trace));
  const made = madeOf(lessons, part, trace);
  const isNew = made && !capabilities.byCodeHash(made.codeHash) && (await hasRoom(capabilities, part));
  return isNew ? await capabilities.put(made) : null;
}

/**
 * What nobody would call: tools that are gone, reads that have nothing to do with one another, and what is only ever done
 * as part of one and the same job, which has a name itself.
 */
function isJunk({ capabilities, catalogue }: CapabilityLessons, part: Part): boolean {
  const tools = part.tools.map((id) => catalogue().get(id as ToolId)?.tool);
  if (tools.includes(undefined)) return true;
  const hasFlow = part.wiring.some((wired) => wired.values().some((origin) => origin.startsWith('#')));
  if (!hasFlow && tools.every((tool) => tool?.annotations?.readOnlyHint === true)) return true;
  const jobs = capabilities.all().filter(({ evidence, state }) => !evidence.part && state !== 'quarantined');
  return jobs.some(
    ({ toolInvocations, uses }) =>
      uses >= part.support &&
      containsRun(
        toolInvocations.map((call) => (call as { tool: string }).tool),
        part.tools,
      ),
  );
}

/** Whether one list has the other in it, in order. */
function containsRun(whole: readonly string[], part: readonly string[]): boolean {
  let next = 0;
  for (const tool of whole) if (tool === part[next]) next++;
  return next === part.length;
}

/** Seen in more jobs; written down now and then, since every run sees some. */
function seenMore(known: Capability, part: Part, { runId }: ExecutionTrace): Capability {
  const { evidence } = known;
  const runIds = [...new Set([...evidence.runIds, runId])].slice(-DEFAULTS.runIds);
  const { support, gain, intents } = part;
  const before = evidence.part!;
  const more = support - before.support;
  return {
    ...known,
    uses: known.uses + more,
    successes: known.successes + more,
    evidence: { ...evidence, runIds, intents: [...intents], part: { ...before, support, gain } },
  };
}

/**
 * The same part, written again, once more jobs show that its steps take their values from elsewhere than its first two had
 * it; to be proven again. Null where nothing changed, or where somebody calls it as it is.
 */
function rewired(
  lessons: CapabilityLessons,
  known: Capability,
  part: Part,
  trace: ExecutionTrace,
): Capability | null {
  const before = canonicalJson(known.evidence.part?.wiring);
  const wiring = canonicalJson(part.wiring.map((wired) => Object.fromEntries(wired)));
  if (wiring === before || !isUntouched(known, lessons.capabilities)) return null;
  const made = madeOf(lessons, part, trace);
  const same = made && lessons.capabilities.byCodeHash(made.codeHash);
  if (!made || (same && same.id !== known.id)) return null;
  const { id, slug, description, intentText, createdAt, revision } = known;
  const { runIds } = seenMore(known, part, trace).evidence;
  return {
    ...made,
    ...{ id, slug, description, intentText, createdAt, revision },
    evidence: { ...made.evidence, runIds },
  };
}

/** Of too many, the one that saves least goes. */
async function hasRoom(registry: CapabilityRegistry, { gain }: Part): Promise<boolean> {
  const gainOf = ({ evidence }: Capability) => evidence.part?.gain ?? 0;
  const parts = registry.all().filter(({ evidence }) => evidence.part);
  if (parts.length < DEFAULTS.parts) return true;
  const least = parts
    .sort((a, b) => gainOf(a) - gainOf(b))
    .find((one) => gainOf(one) < gain && isUntouched(one, registry));
  if (least) await registry.remove(least.id);
  return least !== undefined;
}

/** Null where it cannot be written as a program that would do it again. */
function madeOf(lessons: CapabilityLessons, part: Part, trace: ExecutionTrace): Capability | null {
  const { ports, catalogue, capabilities, programs } = lessons;
  const inner = innerRoutines(capabilities, part);
  const [code, ...others] = partPrograms(part, { required: requiredArguments(catalogue()), inner });
  if (code === undefined) return null;
  const identity = identityOf(code, ports.crypto.sha256);
  const prepared = programs.prepare(code);
  const executedPath = part.tools as readonly NodeId[];
  const structure = prepared.ok ? prepared.value.structure : null;
  if (!identity.ok || !isWorthKeeping({ code, structure, trace: { executedPath } })) return null;
  const { template } = identity.value;
  const codeHash = hashFor(identity.value.codeHash, part, ports.crypto);
  const first = firstSeen(lessons, codeHash, template, asTrace(part, code, trace));
  const slots = others.reduce<readonly LearnedSlot[]>((learned, program) => {
    const other = identityOf(program, ports.crypto.sha256);
    const isSame = other.ok && other.value.codeHash === identity.value.codeHash;
    return isSame ? mergeObservation(learned, other.value.template) : learned;
  }, learnSlots(template));
  const taught = withTemplate(first, slots, template, { ...trace, guest: null });
  return { ...taught, ...evidenceOf(taught, part) };
}

/** By tool: the arguments that it cannot do without. */
export function requiredArguments(catalogue: Catalogue): (tool: string) => readonly string[] {
  return (id) => {
    const schema = catalogue.get(id as ToolId)?.tool.inputSchema as { required?: unknown } | undefined;
    return Array.isArray(schema?.required) ? schema.required.filter((name) => typeof name === 'string') : [];
  };
}

function evidenceOf({ evidence }: Capability, part: Part): Partial<Capability> {
  const { key, tools, support, gain, intents } = part;
  const wiring = part.wiring.map((wired) => Object.fromEntries(wired));
  return {
    uses: support,
    successes: support,
    evidence: {
      ...evidence,
      recent: [],
      intents: [...intents],
      part: { key, tools, wiring, support, gain },
    },
  };
}

/** The part as if its newest occurrence had been a run of its own. */
function asTrace(part: Part, code: string, trace: ExecutionTrace): ExecutionTrace {
  const nth = new Map<string, number>();
  const toolInvocations = part.tools.map((tool, sequenceIndex) => {
    const count = nth.get(tool) ?? 0;
    nth.set(tool, count + 1);
    return {
      id: `${tool}#${count}`,
      tool: tool as ToolId,
      ts: sequenceIndex,
      durationMs: 0,
      sequenceIndex,
      success: true,
      parallelWith: [],
    };
  });
  const result = part.examples[0]?.result;
  return {
    ...trace,
    owner: part.owner,
    visibility: part.visibility,
    intentText: part.intents.at(-1) ?? null,
    code,
    toolInvocations,
    taskResults: [result === undefined ? {} : { result }],
    guest: null,
  };
}

/** Smaller parts that this one may call, the largest first. */
export function innerRoutines(
  registry: Pick<CapabilityRegistry, 'all'>,
  { tools, owner, visibility }: Pick<Part, 'tools' | 'owner' | 'visibility'>,
): InnerRoutine[] {
  const smaller = registry.all().flatMap((one): InnerRoutine[] => {
    const { part } = one.evidence;
    // What is shared calls nothing that only its owner may.
    const isSeen = one.visibility === 'shared' || (visibility === 'private' && one.owner === owner);
    if (!part || one.state !== 'active' || !isSeen || part.tools.length >= tools.length) return [];
    const wiring = part.wiring.map((wired) => new Map(Object.entries(wired)));
    const slots = one.template.slots as readonly LearnedSlot[];
    const parameterOf = (tool: string, name: string) =>
      slots.find(({ argument }) => argument?.tool === tool && argument.name === name)?.parameter ?? undefined;
    return [{ slug: one.slug, tools: part.tools, wiring, parameterOf }];
  });
  return smaller.sort((a, b) => b.tools.length - a.tools.length);
}
