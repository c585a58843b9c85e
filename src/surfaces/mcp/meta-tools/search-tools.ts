import { NOTHING_LEARNED_APPLIES } from '../../../core/vocabulary/ranking-words.ts';
import { weighJson } from '../../../core/vocabulary/read-wire.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import { type SearchToolsArguments, searchTools } from '../../../operations/search-tools.ts';
import { suggest } from '../../../operations/suggest.ts';
import { answer, type Present } from './meta-tool.ts';

const DEFAULTS = {
  maxHits: 50,
  /** Characters of an answer; from there on only so much of a definition is shown as all could have had. */
  characters: 256 * 1024,
};

/** Without what a score is made of, which is for people who look into a ranking; definitions as far as they fit. */
export const presentSearch: Present<SearchToolsArguments> = async (args, toolContext, { caller }) => {
  const { context, recent, shrink } = toolContext;
  const asked = { ...args, context_tools: args.context_tools ?? [...recent.of(caller.sessionId)] };
  const found = await searchTools.run(context, { ...asked, explain: false, capabilities: false }, caller);
  const links: JsonObject[] = [];
  let characters = 0;
  const tools = found.tools.map(({ parts: _, ...hit }) => {
    const room = characters > DEFAULTS.characters ? shrink.shared(DEFAULTS.maxHits) : shrink;
    const shown = Object.entries(hit).map(([part, whole]) => {
      const { value, links: more } = room.value(whole);
      links.push(...more);
      return [part, value] as const;
    });
    characters += weighJson(shown).characters;
    return Object.fromEntries(shown);
  });
  const isForeign = found.tools[0]?.parts.learned_share === 0;
  return answer({ tools, ...(isForeign && { note: NOTHING_LEARNED_APPLIES }) }, links);
};

/** Without what people look at: why tasks wait for others, and what else would do. */
export const presentSuggestion: Present<{ intent: string; executed: string[] }> = async (
  args,
  { context },
  { caller },
) => {
  const { edges: _, alternatives: __, ...told } = (await suggest.run(context, args, caller)) as JsonObject;
  return answer(told);
};
