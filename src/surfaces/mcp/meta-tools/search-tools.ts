import { z } from 'zod';
import { NOTHING_LEARNED_APPLIES } from '../../../core/vocabulary/ranking-words.ts';
import { weighJson } from '../../../core/vocabulary/weigh-json.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import { answer } from './answer.ts';
import { metaTool } from './meta-tool.ts';
import { toolHitToWire } from './wire.ts';

const DEFAULTS = {
  limit: 5,
  maxLimit: 50,
  /** Characters of an answer; from there on only so much of a definition is shown as all could have had. */
  characters: 256 * 1024,
};

export const searchTools = metaTool(
  {
    name: 'pml_search_tools',
    title: 'Search tools',
    description:
      'Find the tool for a job among all attached servers: say in plain words what is to be done, get tool ids with their input schemas. Start here, then run one with pml_execute.',
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  z.object({
    query: z.string().min(1).describe('What is to be done, e.g. "read a file"'),
    limit: z.int().min(1).max(DEFAULTS.maxLimit).default(DEFAULTS.limit),
    include_related: z.boolean().default(false).describe('Also tools often used before, after or with each'),
    signatures: z.boolean().default(false).describe('Also TypeScript signatures, for code'),
    context_tools: z.array(z.string()).optional().describe('Tool ids used so far; default: the last 5'),
  }),
  async (args, { gateway, recent, shrink }, { caller }) => {
    const { query, limit, signatures, include_related: includeRelated, context_tools } = args;
    const contextTools = context_tools ?? recent.of(caller.sessionId);
    const hits = await gateway.searchTools({ query, limit, includeRelated, contextTools, signatures });
    const links: JsonObject[] = [];
    let characters = 0;
    const tools = hits.map((hit) => {
      const room = characters > DEFAULTS.characters ? shrink.shared(DEFAULTS.maxLimit) : shrink;
      const shown = Object.entries(toolHitToWire(hit)).map(([part, whole]) => {
        const { value, links: more } = room.value(whole);
        links.push(...more);
        return [part, value] as const;
      });
      characters += weighJson(shown).characters;
      return Object.fromEntries(shown);
    });
    const isForeign = hits[0]?.parts.learnedShare === 0;
    return answer({ tools, ...(isForeign && { note: NOTHING_LEARNED_APPLIES }) }, links);
  },
);
