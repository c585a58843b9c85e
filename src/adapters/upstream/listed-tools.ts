import { weighJson } from '../../core/vocabulary/weigh-json.ts';
import type { JsonObject } from '../../engine/ports.ts';

const DEFAULTS = {
  /** Tools of one server, and characters of all their definitions: more than any agent could choose from. */
  maxTools: 20_000,
  maxCharacters: 32 * 1024 * 1024,
  /** Of a name: longer ones are not names, and too long for an index. */
  maxName: 512,
  /** Of one definition, and how deep it may be nested. */
  maxDefinition: 256 * 1024,
  maxDepth: 100,
  /** What is left out is told one by one so often. */
  maxNotes: 10,
};

/** What a server lists, as far as it is sound and there is room; what is left out is told, and why. */
export class ListedTools {
  readonly tools: JsonObject[] = [];
  readonly #names = new Set<string>();
  readonly #notes: string[] = [];
  #leftOut = 0;
  #characters = 0;

  /** False when there is room for no more. */
  add(page: readonly unknown[]): boolean {
    for (const tool of page) {
      const { characters, depth } = weighJson(tool);
      this.#characters += characters;
      const isFull = this.tools.length >= DEFAULTS.maxTools || this.#characters > DEFAULTS.maxCharacters;
      if (isFull) {
        this.#notes.unshift(
          `Only the first ${this.tools.length} tools are used: it lists more than ${DEFAULTS.maxTools}, or more than ${DEFAULTS.maxCharacters} characters`,
        );
        return false;
      }
      const fault = this.#fault(tool, characters, depth);
      if (fault === null) this.tools.push(tool as JsonObject);
      else if (++this.#leftOut <= DEFAULTS.maxNotes) this.#notes.push(`A tool is left out: ${fault}`);
    }
    return true;
  }

  get notes(): readonly string[] {
    const more = this.#leftOut - DEFAULTS.maxNotes;
    return more > 0 ? [...this.#notes, `${more} more tools are left out`] : this.#notes;
  }

  /** Why it cannot be taken; null when it can. */
  #fault(tool: unknown, characters: number, depth: number): string | null {
    if (typeof tool !== 'object' || tool === null || Array.isArray(tool)) return 'it is not an object';
    const { name, inputSchema = {} } = tool as JsonObject;
    if (typeof name !== 'string' || name.trim() === '') return 'it has no name';
    if (name.length > DEFAULTS.maxName) return `its name has ${name.length} characters`;
    if (/\p{Cc}/u.test(name)) return `its name ${JSON.stringify(name)} has control characters`;
    if (this.#names.has(name)) return `${name} is listed twice`;
    if (typeof inputSchema !== 'object' || inputSchema === null)
      return `the schema of ${name} is not an object`;
    if (characters > DEFAULTS.maxDefinition) return `the definition of ${name} has ${characters} characters`;
    if (depth > DEFAULTS.maxDepth) return `the definition of ${name} is nested ${depth} levels deep`;
    this.#names.add(name);
    return null;
  }
}
