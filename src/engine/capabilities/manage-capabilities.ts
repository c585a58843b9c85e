import {
  brokenSeals,
  fromSkillFiles,
  type ImportedCapability,
  type SkillEvidence,
  sealSkill,
  toSkillFiles,
} from '../../core/capabilities/skill-document.ts';
import { isReserved, slugFor } from '../../core/capabilities/slug.ts';
import { identityOf } from '../../core/capabilities/template.ts';
import { isSlug } from '../../core/vocabulary/ids.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Caller } from '../caller.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { ProgramCache } from '../code/program.ts';
import type { FlowPorts } from '../flow-ports.ts';
import { recordSharing } from '../people/audit-trail.ts';
import type { Capability } from '../ports.ts';
import { type CapabilityRegistry, quarantined, seenBy } from './capability-registry.ts';
import { keptPrivate, shared } from './capability-sharing.ts';
import { definitionsOf } from './learn-capability.ts';
import type { CapabilityTest, Prover } from './prove-capability.ts';
import { admitting } from './quarantine-changed.ts';

/** What people and programs do with capabilities besides running them. */
export interface CapabilityService {
  /** In order of slug; those that this caller may see. */
  list(caller?: Pick<Caller, 'who'>): Promise<readonly Capability[]>;
  /** By slug or alias; an unknown one is an error that names the nearest. */
  show(slug: string, caller?: Pick<Caller, 'who'>): Promise<Capability>;
  /** What was one user's is everybody's. */
  share(slug: string, caller?: Pick<Caller, 'who'>): Promise<Capability>;
  /** What was everybody's is one user's: this one's, or the user's whose run it was first learned from. */
  keepPrivate(slug: string, user?: string, caller?: Pick<Caller, 'who'>): Promise<Capability>;
  /** The old name still calls it. */
  rename(slug: string, to: string): Promise<Capability>;
  /** By a person: it can no longer be called, or, with null, it can again. */
  quarantine(slug: string, reason: string | null): Promise<Capability>;
  forget(slug: string): Promise<boolean>;
  /** Runs its past again on cassettes; with null, that of all that this caller may see. */
  test(slug: string | null, caller?: Pick<Caller, 'who'>): Promise<readonly CapabilityTest[]>;
  /** The files of an Agent Skill, by name. */
  export(slug: string, caller?: Pick<Caller, 'who'>): Promise<Readonly<Record<string, string>>>;
  import(files: Readonly<Record<string, string>>): Promise<Capability>;
}

export interface ServiceParts {
  readonly ports: Pick<FlowPorts, 'clock' | 'crypto' | 'store'>;
  readonly capabilities: CapabilityRegistry;
  readonly programs: ProgramCache;
  readonly catalogue: () => Catalogue;
  readonly prover: Pick<Prover, 'test'>;
}

/** The owner of the data dir, at a terminal. */
const ANYBODY: Pick<Caller, 'who'> = {};

/** What people do with capabilities besides running them. */
export function manageCapabilities(parts: ServiceParts): CapabilityService {
  const { ports, capabilities: registry, catalogue } = parts;
  const change = (slug: string, work: (capability: Capability) => Capability, caller = ANYBODY) =>
    registry.change(async () => {
      const next = { ...work(seenBy(registry, caller).known(slug)), updatedAt: ports.clock.now() };
      return await registry.put(next);
    });

  const recorded = async (changing: Promise<Capability>, caller: Pick<Caller, 'who'>) => {
    const changed = await changing;
    await recordSharing(ports, changed, caller);
    return changed;
  };

  return {
    list: async (caller = ANYBODY) => seenBy(registry, caller).all(),
    show: async (slug, caller = ANYBODY) => seenBy(registry, caller).known(slug),
    share: (slug, caller = ANYBODY) =>
      recorded(
        change(slug, (capability) => shared(capability, registry, ports.crypto, caller), caller),
        caller,
      ),
    keepPrivate: (slug, user, caller = ANYBODY) =>
      recorded(
        change(slug, (capability) => keptPrivate(capability, user, registry, ports.crypto)),
        caller,
      ),
    rename: (slug, to) => change(slug, (capability) => renamed(capability, to, registry)),
    quarantine: (slug, reason) =>
      change(slug, (capability) =>
        reason === null ? released(capability, catalogue()) : quarantined(capability, reason),
      ),
    forget: (slug) => registry.change(async () => await registry.remove(registry.known(slug).id)),
    async test(slug, caller = ANYBODY) {
      const seen = seenBy(registry, caller);
      const tests: CapabilityTest[] = [];
      for (const capability of slug === null ? seen.all() : [seen.known(slug)])
        tests.push(await parts.prover.test(capability));
      return tests;
    },
    async export(slug, caller = ANYBODY) {
      const capability = seenBy(registry, caller).known(slug);
      return sealSkill(
        toSkillFiles(capability),
        skillEvidence(capability, ports.crypto),
        ports.crypto.sha256,
      );
    },
    import: (files) =>
      registry.change(async () => {
        const broken = brokenSeals(files, ports.crypto.sha256);
        if (broken.length > 0) {
          throw new PmlError('invalid_argument', `This capability cannot be imported: ${broken.join('; ')}`, {
            hint: 'Export it again with "pml capability export".',
          });
        }
        const read = fromSkillFiles(files);
        if (!read.ok) {
          const { code, message, hint } = read.error;
          throw new PmlError(code, message, hint === undefined ? {} : { hint });
        }
        return await registry.put(taken(parts, read.value));
      }),
  };
}

/** Null where what it is now was not proven. */
function skillEvidence(
  { code, evidence }: Capability,
  { sha256 }: FlowPorts['crypto'],
): SkillEvidence | null {
  const { proof, definitionHashes } = evidence;
  if (!proof || proof.failure !== null || proof.codeHash !== sha256(code)) return null;
  const { codeHash, cases, effects } = proof;
  return {
    code_hash: codeHash,
    definitions: definitionHashes,
    cases: cases.map(({ hash }) => hash),
    effects,
  };
}

/** The old name still calls it. */
function renamed(capability: Capability, to: string, registry: CapabilityRegistry): Capability {
  if (!isSlug(to) || isReserved(to)) {
    throw new PmlError('invalid_argument', `"${to}" is not a valid name for a capability`, {
      hint: 'Use lower-case letters, digits and "_", beginning with a letter; reserved words of the language cannot be used.',
    });
  }
  const holder = registry.find(to);
  if (holder && holder.id !== capability.id) {
    throw new PmlError('store_conflict', `${to} is the name of another capability`, {
      hint: holder.slug === to ? 'Choose another name.' : `It is a former name of ${holder.slug}.`,
    });
  }
  const aliases = new Set([...capability.aliases, capability.slug]);
  aliases.delete(to);
  return { ...capability, slug: to, aliases: [...aliases] };
}

/** A person has looked at it: it starts over, with its tools as they are now. */
function released(capability: Capability, catalogue: Catalogue): Capability {
  const { heals: _, ...known } = admitting(capability).evidence;
  const definitionHashes = definitionsOf(Object.keys(known.definitionHashes), catalogue);
  const evidence = { ...known, recent: [], definitionHashes, quarantinedBecause: null };
  return { ...capability, state: 'active', evidence };
}

/** From another PML: may be called at once, but has to earn its reliability here. */
function taken(
  { ports, capabilities: registry, programs, catalogue }: ServiceParts,
  read: ImportedCapability,
): Capability {
  const identity = identityOf(read.template.source, ports.crypto.sha256);
  if (!identity.ok) throw new PmlError(identity.error.code, identity.error.message);
  const { codeHash } = identity.value;
  const known = registry.byCodeHash(codeHash);
  if (known) {
    throw new PmlError('store_conflict', `This capability already exists as ${known.slug}`, {
      hint: `See it with "pml capability show ${known.slug}".`,
    });
  }
  const prepared = programs.prepare(read.code);
  if (!prepared.ok) throw new PmlError('invalid_argument', `Its code cannot run: ${prepared.error.message}`);
  const { structure } = prepared.value;
  const names = registry.all().flatMap(({ slug, aliases }) => [slug, ...aliases]);
  const tools = structure.nodes.flatMap((node) => (node.type === 'task' ? [node.tool] : []));
  const slug = names.includes(read.slug) ? slugFor([read.slug.split('_')], names) : read.slug;
  const now = ports.clock.now();
  return {
    ...read,
    id: ports.crypto.randomUuid(),
    slug,
    aliases: read.aliases.filter((alias) => !names.includes(alias)),
    codeHash,
    toolsUsed: [...new Set(tools)],
    toolInvocations: [],
    staticStructure: structure,
    evidence: {
      recent: [],
      runIds: [],
      definitionHashes: definitionsOf(tools, catalogue()),
      intents: [],
      quarantinedBecause: null,
    },
    owner: null,
    visibility: 'shared',
    state: 'active',
    uses: 0,
    successes: 0,
    revision: 1,
    createdAt: now,
    updatedAt: now,
  };
}

export { SKILL_FILES, verifySkill } from '../../core/capabilities/skill-document.ts';

/** What the folder of an exported capability is to be called: Agent Skills want the name its manifest gives. */
export function skillFolder(files: Awaited<ReturnType<CapabilityService['export']>>): string {
  return /^name: *([a-z0-9-]+)/m.exec(files['SKILL.md'] ?? '')?.[1] ?? 'skill';
}
