import { type DefinitionDrift, definitionDrift } from '../../core/capabilities/definition-drift.ts';
import { worksAllTheSame } from '../../core/capabilities/lifecycle.ts';
import {
  type DriftMark,
  driftReason,
  quarantineReason,
  readsField,
} from '../../core/capabilities/quarantine.ts';
import type { ToolId } from '../../core/vocabulary/ids.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { ObservedOutputs, ToolDrift } from '../catalogue/observed-outputs.ts';
import type { Capability } from '../ports.ts';
import {
  type CapabilityRegistry,
  currentDefinition,
  quarantined,
  type ReadableRegistry,
} from './capability-registry.ts';

/** The capabilities that rest on a tool: those that called it, also within others. */
function routinesOn(registry: ReadableRegistry, tool: string): Capability[] {
  return registry.all().filter(({ toolsUsed }) => (toolsUsed as readonly string[]).includes(tool));
}

/** A capability whose tools are not as they were, and in which way. */
export interface ChangedRoutine {
  readonly capability: Capability;
  /** Definitions of its tools changed, and not only their answers. */
  readonly isRedefined: boolean;
  /** The same text for the same changes. */
  readonly changes: string;
}

/**
 * A capability was proven with its tools as they were. When a definition changes, or answers do that its program reads, it
 * is quarantined until a person has looked at it, it was shown to work all the same, or everything is as it was. Answers
 * those that were not run again yet since their tools changed, or since a person accepted the change.
 */
export async function quarantineChanged(
  registry: CapabilityRegistry,
  catalogue: Catalogue,
  drifts: readonly ToolDrift[],
): Promise<readonly ChangedRoutine[]> {
  const changed: ChangedRoutine[] = [];
  const currentHash = (tool: string) => currentDefinition(catalogue, tool);
  const breaks = (tool: string) => brokenDefinition(catalogue, tool).map(({ words }) => words);
  for (const { id } of registry.all()) {
    await registry.change(async () => {
      const found = registry.get(id);
      if (!found || found.state === 'candidate') return;
      let capability = found;
      const { definitionHashes, drift: marked = [] } = capability.evidence;
      const drift = drifts.flatMap((one) => markOf(found, one) ?? []);
      const isSame = JSON.stringify(drift) === JSON.stringify(marked);
      const { drift: _, ...evidence } = capability.evidence;
      const known = drift.length > 0 ? { ...evidence, drift } : evidence;
      const definition = quarantineReason({ recent: [], definitionHashes, currentHash, breaks });
      const reason = definition ?? driftReason(drift);
      if (capability.state === 'active') {
        if (reason !== null) {
          // Outcomes from now on show whether the change matters.
          const since = { ...capability, evidence: { ...known, recent: [] } };
          capability = await registry.put(quarantined(since, reason, true));
        } else if (!isSame) capability = await registry.put({ ...capability, evidence: known });
      } else if (reason === null && evidence.heals) {
        capability = await registry.put(healed({ ...capability, evidence: known }));
      }
      // What a person quarantined, or its own failures, is not for a change to decide.
      if (capability.state === 'quarantined' && !capability.evidence.heals) return;
      const changes = changesOf(catalogue, definitionHashes, drift);
      if (changes === '' || capability.evidence.retestedFor === changes) return;
      changed.push({ capability, isRedefined: definition !== null, changes });
    });
  }
  return changed;
}

/** Of definitions, with whether a person has accepted them, and of answers; empty where there are none. */
function changesOf(
  catalogue: Catalogue,
  learned: Readonly<Record<string, string>>,
  drift: readonly DriftMark[],
): string {
  const definitions = Object.entries(learned).flatMap(([tool, hash]) => {
    const now = currentDefinition(catalogue, tool);
    if (now === undefined || now === hash) return [];
    return [`${tool} ${now}${catalogue.get(tool as ToolId)?.proposed ? ', proposed' : ''}`];
  });
  const answers = drift
    .filter(({ state }) => state !== 'admitted')
    .map(({ tool, since }) => `${tool} since ${since}`);
  return [...definitions, ...answers].join('; ');
}

/** What a change in the answers of a tool is to a capability; null where it does not call that tool. */
function markOf({ toolsUsed, code, evidence }: Capability, drift: ToolDrift): DriftMark | null {
  const { tool, since, changes } = drift;
  if (!(toolsUsed as readonly string[]).includes(tool)) return null;
  const known = evidence.drift?.find((mark) => mark.tool === tool && mark.since === since);
  const isRead = readsField(
    code,
    changes.map(({ field }) => field),
  );
  // What running it again has shown says more than the names in its program.
  const shown = known && known.state !== 'marked' ? known.state : null;
  const state = shown ?? (isRead ? 'broken' : 'marked');
  return { tool, since, words: changes.map(({ words }) => words), state };
}

/** It may be called again; what went wrong meanwhile does not count. */
export function healed(capability: Capability): Capability {
  const { heals: _, ...evidence } = capability.evidence;
  return { ...capability, state: 'active', evidence: { ...evidence, recent: [], quarantinedBecause: null } };
}

/** Quarantined because answers changed, and run successfully since by who brought its program along: it may be called. */
export function readmitted(capability: Capability): Capability {
  const { heals, drift, recent } = capability.evidence;
  if (capability.state !== 'quarantined' || !heals || !drift || !worksAllTheSame(recent)) return capability;
  if (capability.evidence.quarantinedBecause !== driftReason(drift)) return capability;
  return healed(admitting(capability));
}

/** The changes of its tools that are known so far no longer count against it. */
export function admitting(capability: Capability): Capability {
  const { drift, ...evidence } = capability.evidence;
  if (!drift) return capability;
  const admitted = drift.map((mark) => ({ ...mark, state: 'admitted' as const }));
  return { ...capability, evidence: { ...evidence, drift: admitted } };
}

/** What of a definition that nobody has accepted yet breaks calls and programs. */
function brokenDefinition(catalogue: Catalogue, tool: string): DefinitionDrift[] {
  const entry = catalogue.get(tool as ToolId);
  return entry?.proposed ? definitionDrift(entry.tool, entry.proposed) : [];
}

/** A tool that changed, and what that means for what rests on it. */
export interface DriftReport {
  readonly tool: string;
  readonly of: 'answers' | 'definition';
  /** Null where that was not recorded. */
  readonly since: Date | null;
  /** Answers that the shape before was told from, and those since; null for a definition. */
  readonly answers: { readonly before: number; readonly since: number } | null;
  readonly changes: readonly {
    readonly kind: string;
    readonly field: string;
    readonly words: string;
    readonly confidence: number;
  }[];
  readonly routines: readonly {
    readonly slug: string;
    readonly state: 'quarantined' | 'marked' | 'admitted';
    /** What running it again has shown, as a sentence; null where it was not run again. */
    readonly retested: string | null;
  }[];
}

/** Definitions that nobody has accepted and that break something, then answers; those of the registry that rest on them. */
export function driftOf(
  catalogue: Catalogue,
  outputs: Pick<ObservedOutputs, 'drifts'>,
  registry: ReadableRegistry,
): DriftReport[] {
  const definitions = catalogue.entries.flatMap(({ tool: { id } }): DriftReport[] => {
    const changes = brokenDefinition(catalogue, id).map((change) => ({ ...change, confidence: 1 }));
    if (changes.length === 0) return [];
    const routines = routinesOn(registry, id).filter(({ state }) => state === 'quarantined');
    return [
      {
        tool: id,
        of: 'definition',
        since: null,
        answers: null,
        changes,
        routines: routines.map(({ slug, evidence }) => ({
          slug,
          state: 'quarantined',
          retested: evidence.retested ?? null,
        })),
      },
    ];
  });
  const answers = outputs
    .drifts()
    .map(({ tool, since, answers: before, answersSince, changes }): DriftReport => {
      const routines = routinesOn(registry, tool).flatMap(({ slug, state, evidence }) => {
        const mark = evidence.drift?.find((one) => one.tool === tool && one.since === since);
        if (!mark) return [];
        const isOut = state === 'quarantined' && mark.state === 'broken';
        return [
          {
            slug,
            state: isOut
              ? ('quarantined' as const)
              : mark.state === 'admitted'
                ? ('admitted' as const)
                : ('marked' as const),
            retested: evidence.retested ?? null,
          },
        ];
      });
      return {
        tool,
        of: 'answers',
        since: new Date(since),
        answers: { before, since: answersSince },
        changes,
        routines,
      };
    });
  return [...definitions, ...answers];
}
