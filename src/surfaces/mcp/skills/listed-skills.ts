import { type Skill, skillEntry } from '@modelcontextprotocol/server/ext/skills';
import type { Principal } from '../../../core/vocabulary/principal.ts';
import { isUnlisted } from '../../../engine/capabilities/capability-registry.ts';
import { skillFolder } from '../../../engine/capabilities/manage-capabilities.ts';
import type { Caller, Gateway } from '../../../engine/gateway.ts';
import { isRestricted } from '../../../engine/people/roles.ts';
import type { Capability, Logger } from '../../../engine/ports.ts';

/** A capability as a skill: its entry in the extension, and its files by URI. */
export interface ListedSkill {
  readonly skill: Skill;
  readonly files: ReadonlyMap<string, string>;
}

interface Kept {
  readonly madeFrom: Date;
  readonly listed: ListedSkill | null;
}

const MANIFEST = 'SKILL.md';

/** The active capabilities as Agent Skills, ordered by slug. */
export class ListedSkills {
  readonly #capabilities: () => Gateway['capabilities'];
  readonly #logger: Logger;
  #kept: ReadonlyMap<string, Kept> = new Map();

  constructor(gateway: Gateway, logger: Logger) {
    this.#capabilities = () => gateway.capabilities;
    this.#logger = logger;
  }

  /** All clients get the same ones, but for those that may use only some tools. */
  async all({ who }: Pick<Caller, 'who'>): Promise<readonly ListedSkill[]> {
    const active = (await this.#capabilities().list()).filter(
      (one) => one.state === 'active' && one.visibility === 'shared' && !isUnlisted(one),
    );
    const kept = await Promise.all(active.map(async (one) => [one.id, await this.#keep(one)] as const));
    this.#kept = new Map(kept);
    const isHidden = who && isRestricted(who) ? await this.#hiddenFrom(who) : () => false;
    const all = kept.flatMap(([id, { listed }]) => (isHidden(id) ? [] : (listed ?? [])));
    // Two slugs may yield the same name, and thus the same URI: the first wins.
    const seen = new Set<string>();
    return all.filter(({ skill: { uri } }) => !seen.has(uri) && seen.add(uri));
  }

  async #hiddenFrom(who: Principal): Promise<(id: string) => boolean> {
    const seen = new Set((await this.#capabilities().list({ who })).map(({ id }) => id));
    return (id) => !seen.has(id);
  }

  /** By the URI of its manifest. */
  async find(uri: string, caller: Pick<Caller, 'who'>): Promise<ListedSkill | null> {
    return (await this.all(caller)).find(({ skill }) => skill.uri === uri) ?? null;
  }

  /** A file of any skill; undefined if the URI is unknown. */
  async file(uri: string, caller: Pick<Caller, 'who'>): Promise<string | undefined> {
    const owner = (await this.all(caller)).find(({ files }) => files.has(uri));
    return owner?.files.get(uri);
  }

  /** Rebuilt only when its capability has changed. */
  async #keep(capability: Capability): Promise<Kept> {
    const { id, updatedAt } = capability;
    const known = this.#kept.get(id);
    if (known?.madeFrom.getTime() === updatedAt.getTime()) return known;
    return { madeFrom: updatedAt, listed: await this.#list(capability) };
  }

  /** Null for a capability that is not a valid skill; the others are unaffected. */
  async #list({ slug }: Capability): Promise<ListedSkill | null> {
    try {
      const files = await this.#capabilities().export(slug);
      const skill = await skillEntry(skillFolder(files), files);
      const root = skill.uri.slice(0, -MANIFEST.length);
      const byUri = Object.entries(files).map(([name, text]) => [root + name, text] as const);
      return { skill, files: new Map(byUri) };
    } catch (error) {
      this.#logger.log('warn', `Capability ${slug} is not served as a skill`, { error: String(error) });
      return null;
    }
  }
}
