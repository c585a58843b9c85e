import { z } from 'zod';
import { toolWarning } from '../engine/catalogue/catalogue.ts';
import { type SearchHit, scoreShares as sharesOf } from '../engine/catalogue/search.ts';
import type { Caller, Gateway } from '../engine/gateway.ts';
import { count } from './input-fields.ts';
import { operation } from './operation.ts';
import { capabilityHit, capabilityHitToWire } from './search-capabilities.ts';

const DEFAULTS = {
  limit: 10,
  maxLimit: 100,
  /** Default for a model, which reads every hit. */
  modelLimit: 5,
  maxModelLimit: 50,
  /** Servers named in a note, and characters of the reason for each. */
  absentShown: 5,
  reasonLength: 160,
};

const asked = z.object({
  query: z.string().min(1).describe('What you want to do, in plain words'),
  limit: z.int().min(1).max(DEFAULTS.maxModelLimit).default(DEFAULTS.modelLimit),
  include_related: z.boolean().default(false).describe('Add tools often used with each'),
  schemas: z.boolean().default(false).describe('Add full descriptions and JSON Schemas'),
  context_tools: z.array(z.string()).optional().describe('Tool ids used so far; default: the last 5'),
  /** For programs; a model reads short signatures anyway. */
  signatures: z.boolean().default(false).meta({ deprecated: true }),
});

/** Input of the MCP tool. */
export type SearchToolsArguments = z.output<typeof asked>;

export const relation = z.enum(['often_before', 'often_after', 'used_together']);

/** Contributions to a final score, which is their sum. */
const scoreShares = z.object({
  semantic: z.number(),
  clause: z.number(),
  lexical: z.number(),
  server: z.number(),
  name: z.number(),
  graph: z.number(),
  /** Replaces the five text scores. */
  learned: z.number(),
});

const toolHit = z
  .object({
    tool_id: z.string(),
    server_id: z.string(),
    description: z.string(),
    input_schema: z.unknown(),
    signature: z.string().optional(),
    brief: z.string().optional(),
    /** Why its own words should not be trusted. */
    warning: z.string().optional(),
    semantic_score: z.number(),
    graph_score: z.number(),
    final_score: z.number(),
    parts: z.object({
      whole: z.number(),
      clause: z.number(),
      lexical: z.number(),
      server: z.number().optional(),
      name: z.number(),
      alpha: z.number(),
      learned: z.number().optional(),
      learned_share: z.number().optional(),
    }),
    reasons: z
      .object({
        parts: z.array(z.object({ name: z.string(), moved: z.number() })),
        runs: z.array(z.object({ intent: z.string(), similarity: z.number() })),
      })
      .optional(),
    /** False where no tool fits and this is one of the nearest. */
    fits: z.boolean().optional(),
    shares: scoreShares.optional(),
    related_tools: z.array(z.object({ tool_id: z.string(), relation, score: z.number() })),
  })
  .meta({ id: 'ToolHit' });

export const searchTools = operation({
  name: 'search_tools',
  right: 'read',
  scoped: true,
  summary: 'Tools for a job, best first, with the parts of their scores',
  input: z.strictObject({
    query: z.string({ error: 'The query is missing' }).min(1),
    limit: count(DEFAULTS.limit, DEFAULTS.maxLimit),
    /** Only tools of this server. */
    server: z.string().optional(),
    /** Tools used so far. */
    context_tools: z.array(z.string()).optional(),
    /** Adds tools often used before, after or with each. */
    include_related: z.boolean().default(true),
    /** Adds TypeScript signatures, for code. */
    signatures: z.boolean().default(false),
    /** Adds what each takes and gives, in one short line. */
    brief: z.boolean().default(false),
    /** Adds an explanation of each rank. */
    explain: z.boolean().default(false),
    /** Adds matching capabilities. */
    capabilities: z.boolean().default(false),
  }),
  output: z.object({
    tools: z.array(toolHit),
    capabilities: z.array(capabilityHit).optional(),
    /** Which servers were not searched, and why. */
    note: z.string().optional(),
  }),
  http: { method: 'GET', path: '/search', query: { query: 'q', context_tools: 'context' } },
  mcp: {
    tool: 'pml_search_tools',
    place: 1,
    title: 'Search tools',
    description:
      'Find tools for a job among all servers, with their arguments. Start here, then run one with pml_execute.',
    annotations: { readOnlyHint: true, openWorldHint: false },
    input: asked,
  },
  async run({ gateway }, input, caller) {
    const { query, limit, server, context_tools: contextTools, signatures, brief, explain } = input;
    const hits = await gateway.searchTools(
      {
        query,
        limit,
        includeRelated: input.include_related,
        ...(signatures && { signatures }),
        ...(brief && { brief }),
        ...(explain && { explain }),
        ...(server !== undefined && { server }),
        ...(contextTools && { contextTools }),
      },
      caller,
    );
    const tools = hits.map((hit) => ({ ...hitToWire(hit), ...(explain && { shares: sharesOf(hit) }) }));
    const missing = await notSearched(gateway, server, caller);
    const note = missing === '' ? {} : { note: missing };
    if (!input.capabilities) return { tools, ...note };
    const found = await gateway.searchCapabilities(query, limit, caller);
    // Capabilities have no server: returns those that call tools of the requested one.
    const wanted = found.filter(
      ({ toolsUsed }) => server === undefined || toolsUsed.some((tool) => tool.startsWith(`${server}:`)),
    );
    return { tools, capabilities: wanted.map(capabilityHitToWire), ...note };
  },
});

/** An empty text where every server that was asked for has been searched. */
async function notSearched(
  gateway: Pick<Gateway, 'absentServers'>,
  server: string | undefined,
  caller: Caller,
) {
  const absent = await gateway.absentServers(caller);
  const wanted = absent.filter(({ name }) => server === undefined || name === server);
  if (wanted.length === 0) return '';
  const shown = wanted.slice(0, DEFAULTS.absentShown).map(({ name, reason }) => `${name} (${cut(reason)})`);
  const more = wanted.length > shown.length ? [`${wanted.length - shown.length} more`] : [];
  return `Not searched: ${[...shown, ...more].join('; ')}. "pml doctor" says how to fix a server.`;
}

/** What a server wrote last may be long. */
function cut(reason: string): string {
  const line = reason.replace(/\s+/g, ' ');
  return line.length <= DEFAULTS.reasonLength ? line : `${line.slice(0, DEFAULTS.reasonLength)}…`;
}

function hitToWire({ tool, signature, brief, related, ...scores }: SearchHit) {
  const { learnedShare, ...parts } = scores.parts;
  const warning = toolWarning(tool);
  return {
    tool_id: tool.id,
    server_id: tool.server,
    description: tool.description,
    input_schema: tool.inputSchema,
    ...(signature !== undefined && { signature }),
    ...(brief !== undefined && { brief }),
    ...(warning !== null && { warning }),
    semantic_score: scores.semanticScore,
    graph_score: scores.graphScore,
    final_score: scores.finalScore,
    parts: { ...parts, ...(learnedShare !== undefined && { learned_share: learnedShare }) },
    ...(scores.reasons && { reasons: scores.reasons }),
    ...(scores.fits === false && { fits: false }),
    related_tools: related.map(({ toolId, relation: how, score }) => ({
      tool_id: toolId,
      relation: how,
      score,
    })),
  };
}
